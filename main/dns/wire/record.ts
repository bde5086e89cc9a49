import { NAMED_TYPES, RECORD_TYPES, type NamedType, type NumberedType } from '../../contract/record-types.ts';
import type { DomainName } from '../../model/dns-name.ts';
import type { NamedData } from './record-fields.ts';

/** ALIAS and ANAME are synonyms: the server replaces such a record by its target's addresses. */
type AliasType = 'ALIAS' | 'ANAME';

/** Types that exist on the wire and have their own format here. */
export type WireType = Exclude<NamedType, AliasType>;

export type RecordType = NamedType | NumberedType;

/** The codes of the types that exist on the wire. */
export const TYPE_CODES = Object.fromEntries(
  NAMED_TYPES.flatMap((name) => (RECORD_TYPES[name].code === null ? [] : [[name, RECORD_TYPES[name].code]])),
) as Record<WireType, number>;

/** Codes of types that can be queried but not stored here by name; the server generates those of DNSSEC itself. */
export const QUESTION_TYPES = {
  OPT: 41,
  RRSIG: 46,
  NSEC: 47,
  DNSKEY: 48,
  NSEC3: 50,
  NSEC3PARAM: 51,
  CDS: 59,
  CDNSKEY: 60,
  TKEY: 249,
  TSIG: 250,
  IXFR: 251,
  AXFR: 252,
  ANY: 255,
} as const;

/** The record types that signing generates; their data is in octets. */
export const RRSIG = `TYPE${QUESTION_TYPES.RRSIG}` as const;
export const NSEC = `TYPE${QUESTION_TYPES.NSEC}` as const;
export const DNSKEY = `TYPE${QUESTION_TYPES.DNSKEY}` as const;

export const CLASS_IN = 1;
/** Classes of RFC 2136 §2.4 and §2.5, without data of their own. */
export const CLASS_NONE = 254;
export const CLASS_ANY = 255;

/** RFC 2181 §8: a TTL is an unsigned number of 31 bits. */
export const TTL_SECONDS_MAX = 2 ** 31 - 1;

/** A record's data by type. Texts and hexadecimal data hold octets, one character (U+0000 to U+00FF) each. */
export type RecordData = NamedData | UnknownData;

export type Soa = Extract<NamedData, { type: 'SOA' }>;

/** Data of any other type (RFC 3597). */
export interface UnknownData {
  readonly type: NumberedType;
  readonly octets: string;
}

export interface ResourceRecord {
  name: DomainName;
  ttlSeconds: number;
  data: RecordData;
}

/** All records of one name and type; they share one TTL (RFC 2181 §5.2). */
export interface RRset {
  readonly name: DomainName;
  readonly type: RecordType;
  readonly ttlSeconds: number;
  readonly data: readonly RecordData[];
}

const WIRE_NAMES = new Map(Object.entries(TYPE_CODES).map(([name, code]) => [code, name as WireType]));
const QUESTION_NAMES = new Map<number, string>(Object.entries(QUESTION_TYPES).map(([name, code]) => [code, name]));

export const recordTypeOf = (code: number): RecordType => WIRE_NAMES.get(code) ?? `TYPE${code}`;

/** The code of a record's type; 0 for ALIAS, which has none. */
export const codeOfType = (type: RecordType): number =>
  TYPE_CODES[type as WireType] ?? (type.startsWith('TYPE') ? Number(type.slice('TYPE'.length)) : 0);

/** The mnemonic of a type, or `TYPE65280` for types without one here (RFC 3597 §5). */
export const typeName = (code: number): string => QUESTION_NAMES.get(code) ?? recordTypeOf(code);

/** The code of a mnemonic or `TYPE65`; null for other texts. ALIAS has no code: clients query A or AAAA. */
export function typeCode(name: string): number | null {
  const upper = name.toUpperCase();
  for (const [code, mnemonic] of [...WIRE_NAMES, ...QUESTION_NAMES]) if (mnemonic === upper) return code;
  const match = /^TYPE([0-9]{1,5})$/.exec(upper);
  return match !== null && Number(match[1]) <= 0xffff ? Number(match[1]) : null;
}

/** RFC 6895 §3.1: 0, OPT, and 128 to 255 are not data types. */
export const isDataType = (code: number): boolean =>
  code > 0 && code !== QUESTION_TYPES.OPT && (code < 128 || code > 255);

/** The type that a text names, in any case or by number; null unless it is a type for records. */
export function readRecordType(text: string): RecordType | null {
  const upper = text.toUpperCase();
  if (upper === 'ALIAS' || upper === 'ANAME') return upper;
  const code = typeCode(upper);
  return code !== null && isDataType(code) ? recordTypeOf(code) : null;
}

/** Whether the server replaces the record by its target's addresses. */
export const isAlias = (type: RecordType): boolean => type === 'ALIAS' || type === 'ANAME';

/** Response codes used here (RFC 1035 §4.1.1, RFC 2136 §2.2, RFC 6891 §9). */
export const RCODES = {
  NOERROR: 0,
  FORMERR: 1,
  SERVFAIL: 2,
  NXDOMAIN: 3,
  NOTIMP: 4,
  REFUSED: 5,
  YXDOMAIN: 6,
  YXRRSET: 7,
  NXRRSET: 8,
  NOTAUTH: 9,
  NOTZONE: 10,
  BADVERS: 16,
} as const;
export type Rcode = keyof typeof RCODES;

export interface Question {
  name: DomainName;
  /** The wire code; `typeCode('CAA')` returns it. */
  type: number;
  class: number;
}

/** The reason in text: an Extended DNS Error (RFC 8914), which `dig` shows. */
export interface ErrorDetail {
  code: number;
  /** ASCII, at most 200 characters. */
  text: string;
}

/** RFC 8914 §4.1, §4.21, §4.22. */
export const DETAIL_CODES = { other: 0, notAuthoritative: 20, notSupported: 21 } as const;

export interface DnsAnswer {
  rcode: Rcode;
  /** The AA bit: the question's name is in one of Vivarium's zones. */
  authoritative: boolean;
  answer: readonly RRset[];
  authority: readonly RRset[];
  additional: readonly RRset[];
  /** The additional section contains a referral's glue, which the client needs (RFC 9471). */
  additionalRequired: boolean;
  detail?: ErrorDetail;
}

export const emptyAnswer = (rcode: Rcode, authoritative: boolean, detail?: ErrorDetail): DnsAnswer => ({
  rcode,
  authoritative,
  answer: [],
  authority: [],
  additional: [],
  additionalRequired: false,
  detail,
});
