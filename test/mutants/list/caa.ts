import { mutantsOf } from '../mutant.ts';

const TESTS = ['unit/model/caa/rfc-examples', 'unit/model/caa/value', 'unit/model/caa/verdict', 'unit/model/caa/walk'];

export const CAA = [
  ...mutantsOf('main/model/caa/set.ts', TESTS, {
    'an issuer in capitals is refused':
      'value.issuer[-.toLowerCase() !== issuer.issuer.toLowerCase()-]{+ !== issuer.issuer+}',
    'a name without a wildcard is refused because of issuewild': '[-wildcard && -]records.some(',
    'a wildcard is issued although issue forbids it':
      "wildcard [-&& records.some((record) => propertyOf(record) === 'issuewild') -]?",
    'a record with two accounts authorises the first': 'if (uris.length > [-1-]{+2+}) {',
    'a method in capitals authorises (RFC 8657 §4)':
      'if (labels.[-includes(method)-]{+some((label) => label.toLowerCase() === method)+}) return null;',
  }),
  ...mutantsOf('main/model/caa/value.ts', TESTS, {
    'an unknown critical property is ignored': 'export const FLAG_CRITICAL = [-128-]{+1+};',
    'a value with a tab is malformed': "text.charAt(index) === ' '[- || text.charAt(index) === '\\t'-]",
    'a malformed value with two semicolons authorises':
      "[-(tails.length === 1 && tails[0] === '')-]{+tails.every((tail) => tail === '')+}",
    'a critical issue property forbids what it authorises': 'isCritical(record)[- && !isSupported(record)-]',
  }),
  ...mutantsOf('main/model/caa/walk.ts', TESTS, {
    'CAA records of a top-level domain are not seen': "name[- !== ROOT-]{+.includes('.')+}; name = parentOf(name)",
    'an answer without records hides the restriction of the parent':
      "lookup.kind === 'records'[- && lookup.records.length > 0-]",
    'a CA issues although the question about CAA was not answered':
      "if (lookup.kind === 'error'{+ && lookup.reason !== 'timeout'+}) {",
  }),
];
