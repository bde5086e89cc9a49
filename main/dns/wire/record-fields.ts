import type { NamedType } from '../../contract/record-types.ts';
import { canonicalAddress, ipv4Octets, ipv6Groups } from '../../model/address.ts';
import { quoteOctets, type DomainName } from '../../model/dns-name.ts';
import { type Field, type FieldWriter, STRING_OCTETS_MAX, LOCATION } from './field.ts';
import { BASE64_TEXT, PARAMETERS } from './service-parameters.ts';

/** Character-strings (RFC 1035 §3.3), as many as the text needs. */
function writeStrings(to: FieldWriter, text: string): void {
  for (let at = 0; at === 0 || at < text.length; at += STRING_OCTETS_MAX) {
    const part = text.slice(at, at + STRING_OCTETS_MAX);
    to.octet(part.length);
    to.text(part);
  }
}

const integer = (octets: 1 | 2 | 4): Field<number> => ({
  parse: (words, what) => words.integer(what, 2 ** (8 * octets) - 1),
  format: String,
  read: (from) => (octets === 1 ? from.uint8() : octets === 2 ? from.uint16() : from.uint32()),
  write(to, value) {
    if (octets === 1) to.octet(value);
    else if (octets === 2) to.uint16(value);
    else to.uint32(value);
  },
});

const UINT8 = integer(1);
const UINT16 = integer(2);
const UINT32 = integer(4);
const SECONDS: Field<number> = { ...UINT32, parse: (words, what) => words.duration(what) };

const IPV4: Field<string> = {
  parse: (words) => words.address(4),
  format: (address) => address,
  read: (from) => [...from.octets(4)].join('.'),
  write(to, address) {
    for (const octet of ipv4Octets(address)) to.octet(octet);
  },
};

const IPV6: Field<string> = {
  parse: (words) => words.address(6),
  format: (address) => address,
  read(from) {
    const groups = [...from.octets(16).toString('hex').matchAll(/.{4}/g)].map(([group]) => group);
    return canonicalAddress(groups.join(':'));
  },
  write(to, address) {
    for (const group of ipv6Groups(address)) to.uint16(group);
  },
};

const name = (compress: boolean): Field<DomainName> => ({
  parse: (words) => words.name(),
  format: (value, shown) => shown(value),
  read: (from) => from.name(),
  write: (to, value) => to.name(value, compress),
});

/** RFC 3597 §4: names are compressed in the types of RFC 1035 only. */
const COMPRESSED = name(true);
const NAME = name(false);

const STRING: Field<string> = {
  parse: (words) => words.string(),
  format: quoteOctets,
  read: (from) => from.string(),
  write: writeStrings,
};

const STRINGS: Field<readonly string[]> = {
  parse: (words) => words.strings(),
  format: (strings) => strings.map(quoteOctets).join(' '),
  read(from, end) {
    const strings: string[] = [];
    while (from.isBefore(end)) strings.push(from.string());
    return strings;
  },
  write(to, strings) {
    for (const text of strings) writeStrings(to, text);
  },
};

/** RFC 8659 §4.1. */
const TAG: Field<string> = {
  parse: (words) => words.string(),
  format: (tag) => tag,
  read(from) {
    const tag = from.string();
    return tag === '' ? from.malformed() : tag;
  },
  write: writeStrings,
};

const TEXT: Field<string> = {
  parse: (words) => words.text(),
  format: quoteOctets,
  read: (from, end) => from.until(end).toString('latin1'),
  write: (to, value) => to.text(value),
};

/** The rest of the data, in words that may be split anywhere. */
const encoded = (as: 'hex' | 'base64', form: RegExp, how: string): Field<string> => ({
  parse(words, what) {
    const digits = words
      .rest(what)
      .map(({ text }) => text)
      .join('');
    return form.test(digits) ? Buffer.from(digits, as).toString('latin1') : words.fail(`the ${what} is in ${how}`);
  },
  format(octets) {
    const text = Buffer.from(octets, 'latin1').toString(as);
    return as === 'hex' ? text.toUpperCase() : text;
  },
  read: (from, end) => from.until(end).toString('latin1'),
  write: (to, octets) => to.text(octets),
});

const HEX = encoded('hex', /^(?:[0-9a-f]{2})+$/i, 'hexadecimal, two digits for each octet');
const BASE64 = encoded('base64', BASE64_TEXT, 'base64, padded to a multiple of four characters');

/** A number that zone files may also name. */
const named = (field: Field<number>, names: Readonly<Record<string, number>>): Field<number> => ({
  ...field,
  parse: (words, what) => words.named(names) ?? field.parse(words, what),
  format: (value, shown) => Object.keys(names).find((name) => names[name] === value) ?? field.format(value, shown),
});

/** RFC 4398 §2.1. */
const CERTIFICATE_TYPES = {
  ...{ PKIX: 1, SPKI: 2, PGP: 3, IPKIX: 4, ISPKI: 5, IPGP: 6, ACPKIX: 7, IACPKIX: 8, URI: 253, OID: 254 },
};
/** RFC 4034 §A.1 and its successors (IANA, DNS Security Algorithm Numbers). */
const ALGORITHMS = {
  ...{ RSAMD5: 1, DH: 2, DSA: 3, RSASHA1: 5, NSEC3DSA: 6, NSEC3RSASHA1: 7, RSASHA256: 8, RSASHA512: 10 },
  ...{ ECCGOST: 12, ECDSAP256SHA256: 13, ECDSAP384SHA384: 14, ED25519: 15, ED448: 16 },
  ...{ INDIRECT: 252, PRIVATEDNS: 253, PRIVATEOID: 254 },
};

const HOST = { target: COMPRESSED };
const ASSOCIATION = { usage: UINT8, selector: UINT8, matching: UINT8, association: HEX };
const SERVICE = { priority: UINT16, server: NAME, parameters: PARAMETERS };

/** The data of every type, its fields in the order of the wire and of zone files. */
const TYPES = {
  A: { address: IPV4 },
  AAAA: { address: IPV6 },
  CNAME: HOST,
  NS: HOST,
  PTR: HOST,
  DNAME: { target: NAME },
  ALIAS: HOST,
  ANAME: HOST,
  MX: { preference: UINT16, exchange: COMPRESSED },
  SRV: { priority: UINT16, weight: UINT16, port: UINT16, target: NAME },
  TXT: { strings: STRINGS },
  HINFO: { cpu: STRING, os: STRING },
  CAA: { flags: UINT8, tag: TAG, value: TEXT },
  DS: { keyTag: UINT16, algorithm: UINT8, digestType: UINT8, digest: HEX },
  TLSA: ASSOCIATION,
  SMIMEA: ASSOCIATION,
  OPENPGPKEY: { key: BASE64 },
  CERT: {
    certificateType: named(UINT16, CERTIFICATE_TYPES),
    keyTag: UINT16,
    algorithm: named(UINT8, ALGORITHMS),
    certificate: BASE64,
  },
  URI: { priority: UINT16, weight: UINT16, uri: TEXT },
  RP: { mailbox: NAME, text: NAME },
  SSHFP: { algorithm: UINT8, fingerprintType: UINT8, fingerprint: HEX },
  NAPTR: { order: UINT16, preference: UINT16, actions: STRING, services: STRING, regexp: STRING, replacement: NAME },
  LOC: { location: LOCATION },
  SVCB: SERVICE,
  HTTPS: SERVICE,
  SOA: {
    primary: COMPRESSED,
    /** Of the person responsible, with its `@` as a dot (RFC 1035 §3.3.13). */
    mailbox: COMPRESSED,
    serial: UINT32,
    refreshSeconds: SECONDS,
    retrySeconds: SECONDS,
    expireSeconds: SECONDS,
    /** How long negative answers may be cached (RFC 2308 §4). */
    minimumSeconds: SECONDS,
  },
} satisfies Record<NamedType, Record<string, Field<unknown>>>;

type ValueOf<Data> = Data extends Field<infer Value> ? Value : never;
type DataOf<Type extends NamedType> = { type: Type } & {
  [Name in keyof (typeof TYPES)[Type]]: ValueOf<(typeof TYPES)[Type][Name]>;
};

/** The data of a type with its own format: the values of its fields. */
export type NamedData = { [Type in NamedType]: DataOf<Type> }[NamedType];

export type Fields = readonly (readonly [name: string, field: Field<unknown>])[];

const FIELDS = new Map<string, Fields>(Object.entries(TYPES).map(([type, fields]) => [type, Object.entries(fields)]));

/** The fields of a type; undefined for one without its own format (RFC 3597). */
export const fieldsOf = (type: string): Fields | undefined => FIELDS.get(type);

/** A record's data from the values of its fields, which the table above types. */
export const dataOf = (type: string, values: readonly (readonly [string, unknown])[]): NamedData =>
  ({ type, ...Object.fromEntries(values) }) as unknown as NamedData;

export const valueIn = (data: { type: string }, name: string): unknown =>
  (data as unknown as Record<string, unknown>)[name];
