import type { DomainName } from '../model/dns-name.ts';

/** Record types that exist on the wire, with their codes (IANA, DNS parameters). */
export const TYPE_CODES = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  PTR: 12,
  HINFO: 13,
  MX: 15,
  TXT: 16,
  AAAA: 28,
  SRV: 33,
  CAA: 257,
} as const;

export type WireType = keyof typeof TYPE_CODES;

/** ALIAS and ANAME are two names for one thing: the server replaces such a record by its target's addresses. */
export type RecordType = WireType | 'ALIAS' | 'ANAME';

export const RECORD_TYPES: readonly RecordType[] = [...(Object.keys(TYPE_CODES) as WireType[]), 'ALIAS', 'ANAME'];

/** Codes of types that can be queried but not stored here. */
export const QUESTION_TYPES = { OPT: 41, DS: 43, TKEY: 249, TSIG: 250, IXFR: 251, AXFR: 252, ANY: 255 } as const;

export const CLASS_IN = 1;
/** Classes of RFC 2136 §2.4 and §2.5, without data of their own. */
export const CLASS_NONE = 254;
export const CLASS_ANY = 255;

/** RFC 2181 §8: a TTL is an unsigned number of 31 bits. */
export const TTL_SECONDS_MAX = 2 ** 31 - 1;

export interface Soa {
  type: 'SOA';
  primary: DomainName;
  /** The mailbox of the person responsible, with its `@` as a dot (RFC 1035 §3.3.13). */
  mailbox: DomainName;
  serial: number;
  refreshSeconds: number;
  retrySeconds: number;
  expireSeconds: number;
  /** How long negative answers may be cached (RFC 2308 §4). */
  minimumSeconds: number;
}

/** A record's data by type. Texts hold octets, one character (U+0000 to U+00FF) each. */
export type RecordData =
  | { type: 'A' | 'AAAA'; address: string }
  | { type: 'CNAME' | 'NS' | 'PTR' | 'ALIAS' | 'ANAME'; target: DomainName }
  | { type: 'MX'; preference: number; exchange: DomainName }
  | { type: 'SRV'; priority: number; weight: number; port: number; target: DomainName }
  | { type: 'TXT'; strings: readonly string[] }
  | { type: 'HINFO'; cpu: string; os: string }
  | { type: 'CAA'; flags: number; tag: string; value: string }
  | Soa;

/** Data of a type that zones here cannot hold, as read from a message (RFC 3597). */
export interface UnknownData {
  /** A mnemonic or `TYPE65`, also for types that zones here cannot hold. */
  readonly type: string;
  /** The data in hexadecimal. */
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

const TYPE_NAMES = new Map<number, string>([
  ...Object.entries(TYPE_CODES).map(([name, code]) => [code, name] as const),
  ...Object.entries(QUESTION_TYPES).map(([name, code]) => [code, name] as const),
]);

/** The mnemonic of a type, or `TYPE65` for types without one here (RFC 3597 §5). */
export const typeName = (code: number): string => TYPE_NAMES.get(code) ?? `TYPE${code}`;

/** The code of a mnemonic or `TYPE65`; null for other texts. ALIAS has no code: clients query A or AAAA. */
export function typeCode(name: string): number | null {
  const upper = name.toUpperCase();
  for (const [code, mnemonic] of TYPE_NAMES) if (mnemonic === upper) return code;
  const match = /^TYPE([0-9]{1,5})$/.exec(upper);
  return match !== null && Number(match[1]) <= 0xffff ? Number(match[1]) : null;
}

export const isRecordType = (text: string): text is RecordType => (RECORD_TYPES as readonly string[]).includes(text);

/** Whether the server replaces the record by its target's addresses. */
export const isAlias = (type: RecordType): boolean => type === 'ALIAS' || type === 'ANAME';
