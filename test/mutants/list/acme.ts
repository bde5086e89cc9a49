import { mutantsOf } from '../mutant.ts';

export const ACME = [
  ...mutantsOf('main/acme/accounts.ts', ['test/integration/acme/external-accounts.test.ts'], {
    'acme.binding-for-any-key': {
      find: '(await thumbprintOf(bound)) !== (await thumbprintOf(jwk))',
      replace: 'false',
      breaks: 'a binding that was made for another account key opens an account',
    },
    'acme.binding-for-any-url': {
      find: 'if (signed !== url)',
      replace: 'if (signed === undefined)',
      breaks: 'a binding that was made for another request opens an account',
    },
    'acme.external-key-used-twice': {
      find: 'rows.externalKey(binding.key.id) ?? binding.key',
      replace: 'binding.key',
      breaks: 'two requests at once open two accounts with one external key',
    },
  }),
  ...mutantsOf('main/acme/validation.ts', ['test/unit/acme/dns-methods.test.ts'], {
    'acme.persistent-record-without-policy': {
      find: "if (wildcard && parameters.get('policy')",
      replace: "if (!wildcard && parameters.get('policy')",
      breaks: 'a record for the name alone proves a wildcard',
    },
    'acme.persistent-record-until-the-day-after': {
      find: 'nowMs > untilMs ?',
      replace: 'nowMs - 86_400_000 > untilMs ?',
      breaks: 'a record counts after its end',
    },
  }),
  ...mutantsOf('main/acme/outcome.ts', ['test/unit/acme/perspectives.test.ts'], {
    'acme.quorum-of-five': {
      find: 'remotes < 6 ? 1 : 2',
      replace: 'remotes < 5 ? 1 : 2',
      breaks: 'two of five perspectives may disagree',
    },
  }),
  ...mutantsOf('main/acme/authorizations.ts', ['test/integration/acme/endpoint.test.ts'], {
    'acme.reuse-beyond-the-record': {
      find: 'Math.min(last.expiresAtMs, last.reusableUntilMs ?? Infinity)',
      replace: 'last.expiresAtMs',
      breaks: 'other orders use the validation of a record longer than its TTL says',
    },
    'acme.success-does-not-lift-the-pause': {
      find: "if (result.error === null) rates.forget([{ limit: 'consecutiveFailures', of }]);\n    else",
      replace: 'if (error !== null)',
      breaks: 'failures count as in a row though a success was between them',
    },
  }),
  ...mutantsOf('main/acme/rates.ts', ['test/integration/acme/endpoint.test.ts'], {
    'acme.counts-beyond-the-limit': {
      find: 'if (waitMs === 0) used.set(',
      replace: 'if (waitMs >= 0) used.set(',
      breaks: 'attempts that were refused anyway put off the end of a limit',
    },
  }),
];
