import type { Mutant } from '../mutant.ts';

const EXTERNAL = ['test/integration/acme/external-accounts.test.ts'];
const METHODS = ['test/unit/acme/dns-methods.test.ts'];
const ENDPOINT = ['test/integration/acme/endpoint.test.ts'];

export const ACME: readonly Mutant[] = [
  {
    id: 'acme.binding-for-any-key',
    file: 'main/acme/accounts.ts',
    find: '(await thumbprintOf(bound)) !== (await thumbprintOf(jwk))',
    replace: 'false',
    breaks: 'a binding that was made for another account key opens an account',
    tests: EXTERNAL,
  },
  {
    id: 'acme.binding-for-any-url',
    file: 'main/acme/accounts.ts',
    find: 'if (signed !== url)',
    replace: 'if (signed === undefined)',
    breaks: 'a binding that was made for another request opens an account',
    tests: EXTERNAL,
  },
  {
    id: 'acme.external-key-used-twice',
    file: 'main/acme/accounts.ts',
    find: 'rows.externalKey(binding.key.id) ?? binding.key',
    replace: 'binding.key',
    breaks: 'two requests at once open two accounts with one external key',
    tests: EXTERNAL,
  },
  {
    id: 'acme.persistent-record-without-policy',
    file: 'main/acme/validation.ts',
    find: "if (wildcard && parameters.get('policy')",
    replace: "if (!wildcard && parameters.get('policy')",
    breaks: 'a record for the name alone proves a wildcard',
    tests: METHODS,
  },
  {
    id: 'acme.persistent-record-until-the-day-after',
    file: 'main/acme/validation.ts',
    find: 'nowMs > untilMs ?',
    replace: 'nowMs - 86_400_000 > untilMs ?',
    breaks: 'a record counts after its end',
    tests: METHODS,
  },
  {
    id: 'acme.quorum-of-five',
    file: 'main/acme/perspectives.ts',
    find: 'remotes < 6 ? 1 : 2',
    replace: 'remotes < 5 ? 1 : 2',
    breaks: 'two of five perspectives may disagree',
    tests: ['test/unit/acme/perspectives.test.ts'],
  },
  {
    id: 'acme.reuse-beyond-the-record',
    file: 'main/acme/authorizations.ts',
    find: 'Math.min(last.expiresAtMs, last.reusableUntilMs ?? Infinity)',
    replace: 'last.expiresAtMs',
    breaks: 'other orders use the validation of a record longer than its TTL says',
    tests: ENDPOINT,
  },
  {
    id: 'acme.success-does-not-lift-the-pause',
    file: 'main/acme/authorizations.ts',
    find: "if (result.error === null) rates.forget([{ limit: 'consecutiveFailures', of }]);\n    else",
    replace: 'if (error !== null)',
    breaks: 'failures count as in a row though a success was between them',
    tests: ENDPOINT,
  },
  {
    id: 'acme.counts-beyond-the-limit',
    file: 'main/acme/rates.ts',
    find: 'if (waitMs === 0) used.set(',
    replace: 'if (waitMs >= 0) used.set(',
    breaks: 'attempts that were refused anyway put off the end of a limit',
    tests: ENDPOINT,
  },
];
