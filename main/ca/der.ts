import asn1, { type Asn1 } from 'node-forge/lib/asn1.js';

/** A node of an ASN.1 tree, in node-forge's representation. */
export type Node = Asn1;

/** Tag classes and numbers of X.690 §8.1.2 and X.680 §8.4. */
const UNIVERSAL = 0x00;
const CONTEXT = 0x80;
const TAG = {
  boolean: 1,
  integer: 2,
  bitString: 3,
  octetString: 4,
  oid: 6,
  enumerated: 10,
  utf8String: 12,
  sequence: 16,
  set: 17,
  utcTime: 23,
  generalizedTime: 24,
} as const;

const primitive = (tag: number, content: string): Node => asn1.create(UNIVERSAL, tag, false, content);
/** node-forge represents octets as a string of characters 0 to 255. */
const octets = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');

export const sequence = (...children: Node[]): Node => asn1.create(UNIVERSAL, TAG.sequence, true, children);
export const set = (...children: Node[]): Node => asn1.create(UNIVERSAL, TAG.set, true, children);
export const oid = (dotted: string): Node => primitive(TAG.oid, asn1.oidToDer(dotted).getBytes());
export const yes = (): Node => primitive(TAG.boolean, '\xff');
export const utf8String = (text: string): Node => primitive(TAG.utf8String, octets(Buffer.from(text, 'utf8')));
export const octetString = (bytes: Uint8Array): Node => primitive(TAG.octetString, octets(bytes));

/** An ENUMERATED of one octet. */
export const enumerated = (value: number): Node => primitive(TAG.enumerated, String.fromCharCode(value));

/** An INTEGER from its big-endian two's complement octets; the first one's top bit is the sign. */
export const integer = (bytes: Uint8Array): Node => primitive(TAG.integer, octets(bytes));

/** A BIT STRING whose last octet has `unusedBits` padding bits. */
export const bitString = (bytes: Uint8Array, unusedBits = 0): Node =>
  primitive(TAG.bitString, String.fromCharCode(unusedBits) + octets(bytes));

/** `[tag] EXPLICIT`, or an IMPLICIT constructed value. */
export const tagged = (tag: number, ...children: Node[]): Node => asn1.create(CONTEXT, tag, true, children);
/** `[tag] IMPLICIT` around content octets. */
export const taggedOctets = (tag: number, bytes: Uint8Array): Node => asn1.create(CONTEXT, tag, false, octets(bytes));

/**
 * A time in seconds: UTCTime until 2049, GeneralizedTime from 2050 (RFC 5280 §4.1.2.5). Truncates fractions of a
 * second.
 */
export function time(epochMs: number): Node {
  const date = new Date(epochMs);
  const digits = `${date.toISOString().slice(0, 19).replace(/\D/g, '')}Z`;
  return date.getUTCFullYear() < 2050
    ? primitive(TAG.utcTime, digits.slice(2))
    : primitive(TAG.generalizedTime, digits);
}

export const encode = (node: Node): Buffer => Buffer.from(asn1.toDer(node).getBytes(), 'latin1');

/** @throws Error unless `bytes` are exactly one DER value. */
export const decode = (bytes: Uint8Array): Node =>
  asn1.fromDer(octets(bytes), { strict: true, parseAllBytes: true, decodeBitStrings: false });

/** The children of a constructed node. @throws Error for a primitive one. */
export function children(node: Node | undefined): Node[] {
  if (node === undefined || !Array.isArray(node.value)) throw new Error('A constructed ASN.1 value was expected.');
  return node.value;
}

/** The content octets of a primitive node. @throws Error for a constructed one. */
export function content(node: Node | undefined): Buffer {
  if (node === undefined || typeof node.value !== 'string') throw new Error('A primitive ASN.1 value was expected.');
  return Buffer.from(node.value, 'latin1');
}

export const readOid = (node: Node | undefined): string => asn1.derToOid(content(node).toString('latin1'));
export const isBoolean = (node: Node | undefined): boolean =>
  node !== undefined && node.tagClass === UNIVERSAL && node.type === TAG.boolean;
export const isContext = (node: Node | undefined, tag: number): boolean =>
  node !== undefined && node.tagClass === CONTEXT && node.type === tag;
