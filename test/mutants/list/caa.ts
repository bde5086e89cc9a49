import { mutantsOf } from '../mutant.ts';

export const CAA = [
  ...mutantsOf(
    'main/model/caa/set.ts',
    [
      'test/unit/model/caa/rfc-examples.test.ts',
      'test/unit/model/caa/value.test.ts',
      'test/unit/model/caa/verdict.test.ts',
      'test/unit/model/caa/walk.test.ts',
    ],
    {
      'caa.issuer-compared-with-case': {
        find: 'value.issuer.toLowerCase() !== issuer.issuer.toLowerCase()',
        replace: 'value.issuer !== issuer.issuer',
        breaks: 'an issuer in capitals is refused',
      },
      'caa.issuewild-counts-for-plain-names': {
        find: 'wildcard && records.some(',
        replace: 'records.some(',
        breaks: 'a name without a wildcard is refused because of issuewild',
      },
      'caa.wildcard-ignores-issue': {
        find: "wildcard && records.some((record) => propertyOf(record) === 'issuewild') ?",
        replace: 'wildcard ?',
        breaks: 'a wildcard is issued although issue forbids it',
      },
      'caa.two-accounts-are-taken': {
        find: 'if (uris.length > 1) {',
        replace: 'if (uris.length > 2) {',
        breaks: 'a record with two accounts authorises the first',
      },
      'caa.method-compared-without-case': {
        find: 'if (labels.includes(method)) return null;',
        replace: 'if (labels.some((label) => label.toLowerCase() === method)) return null;',
        breaks: 'a method in capitals authorises (RFC 8657 §4)',
      },
    },
  ),
  ...mutantsOf(
    'main/model/caa/value.ts',
    [
      'test/unit/model/caa/rfc-examples.test.ts',
      'test/unit/model/caa/value.test.ts',
      'test/unit/model/caa/verdict.test.ts',
      'test/unit/model/caa/walk.test.ts',
    ],
    {
      'caa.critical-flag-is-the-lowest-bit': {
        find: 'export const FLAG_CRITICAL = 128;',
        replace: 'export const FLAG_CRITICAL = 1;',
        breaks: 'an unknown critical property is ignored',
      },
      'caa.tab-is-no-blank': {
        find: "text.charAt(index) === ' ' || text.charAt(index) === '\\t'",
        replace: "text.charAt(index) === ' '",
        breaks: 'a value with a tab is malformed',
      },
      'caa.empty-parameters-are-taken': {
        find: "(tails.length === 1 && tails[0] === '')",
        replace: "tails.every((tail) => tail === '')",
        breaks: 'a malformed value with two semicolons authorises',
      },
      'caa.critical-issue-forbids': {
        find: 'isCritical(record) && !isSupported(record)',
        replace: 'isCritical(record)',
        breaks: 'a critical issue property forbids what it authorises',
      },
    },
  ),
  ...mutantsOf(
    'main/model/caa/walk.ts',
    [
      'test/unit/model/caa/rfc-examples.test.ts',
      'test/unit/model/caa/value.test.ts',
      'test/unit/model/caa/verdict.test.ts',
      'test/unit/model/caa/walk.test.ts',
    ],
    {
      'caa.top-level-domain-is-not-asked': {
        find: 'name !== ROOT; name = parentOf(name)',
        replace: "name.includes('.'); name = parentOf(name)",
        breaks: 'CAA records of a top-level domain are not seen',
      },
      'caa.empty-set-ends-the-walk': {
        find: "lookup.kind === 'records' && lookup.records.length > 0",
        replace: "lookup.kind === 'records'",
        breaks: 'an answer without records hides the restriction of the parent',
      },
      'caa.lookup-error-counts-as-empty': {
        find: "if (lookup.kind === 'error') {",
        replace: "if (lookup.kind === 'error' && lookup.reason !== 'timeout') {",
        breaks: 'a CA issues although the question about CAA was not answered',
      },
    },
  ),
];
