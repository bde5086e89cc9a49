import { mutantsOf } from '../mutant.ts';

export const ACME = [
  ...mutantsOf('main/acme/accounts.ts', ['integration/acme/external-accounts'], {
    'a binding that was made for another account key opens an account':
      '[-(await thumbprintOf(bound)) !== (await thumbprintOf(jwk))-]{+false+}',
    'a binding that was made for another request opens an account': 'if (signed [-!== url-]{+=== undefined+})',
    'two requests at once open two accounts with one external key':
      '[-rows.externalKey(binding.key.id) ?? -]binding.key',
  }),
  ...mutantsOf('main/acme/validation.ts', ['unit/acme/dns-methods'], {
    'a record for the name alone proves a wildcard': "if ({+!+}wildcard && parameters.get('policy')",
    'a record counts after its end': 'nowMs {+- 86_400_000 +}> untilMs ?',
  }),
  ...mutantsOf('main/acme/outcome.ts', ['unit/acme/perspectives'], {
    'two of five perspectives may disagree': 'remotes < [-6-]{+5+} ? 1 : 2',
  }),
  ...mutantsOf('main/acme/authorizations.ts', ['integration/acme/endpoint'], {
    'other orders use the validation of a record longer than its TTL says':
      '[-Math.min(last.expiresAtMs, last.reusableUntilMs ?? Infinity)-]{+last.expiresAtMs+}',
    'failures count as in a row though a success was between them':
      "if [-(result.error === null) rates.forget([{ limit: 'consecutiveFailures', of }]);\n    else-]{+(error !== null)+}",
  }),
  ...mutantsOf('main/acme/rates.ts', ['integration/acme/endpoint'], {
    'attempts that were refused anyway put off the end of a limit': 'if (waitMs [-==-]{+>+}= 0) used.set(',
  }),
];
