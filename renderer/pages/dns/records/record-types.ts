import { NAMED_TYPES } from '../../../../main/contract/record-types.ts';

/** Types allowed in a query, most common first. ALIAS is queried as A or AAAA. */
export const QUESTION_TYPES: readonly string[] = [
  ...NAMED_TYPES.filter((type) => type !== 'ALIAS' && type !== 'ANAME'),
  'DNSKEY',
  'RRSIG',
  'NSEC',
  'ANY',
];
