import { hash, randomBytes, sign, type KeyObject, createPublicKey, generateKeyPairSync } from 'node:crypto';
import {
  bitString,
  children,
  content,
  decode,
  encode,
  integer,
  isBoolean,
  isContext,
  oid,
  readOid,
  sequence,
  set,
  tagged,
  time,
  utf8String,
  type Node,
} from './der.ts';

/** The curve as `node:crypto` calls it in a key's details; NIST P-256 (FIPS 186-5), which every client takes. */
const CURVE = 'prime256v1';

/** The uncompressed point that ends a public key's DER: 0x04, x, y (RFC 5480 §2.2). */
const POINT_BYTES = 65;

export interface KeyPair {
  readonly privateKey: KeyObject;
  /** The public key as a certificate holds it. */
  readonly point: Buffer;
}

export function createKeyPair(): KeyPair {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: CURVE });
  return { privateKey, point: pointOf(publicKey) };
}

export const keyPairOf = (privateKey: KeyObject): KeyPair => ({
  privateKey,
  point: pointOf(createPublicKey(privateKey)),
});

const pointOf = (publicKey: KeyObject): Buffer =>
  publicKey.export({ type: 'spki', format: 'der' }).subarray(-POINT_BYTES);

export const isP256 = (key: KeyObject): boolean => key.asymmetricKeyDetails?.namedCurve === CURVE;

/** The key's name in certificates: 160 bits of the SHA-256 of its point (RFC 7093 §2, method 1). */
export const keyIdentifier = (point: Buffer): Buffer => hash('sha256', point, 'buffer').subarray(0, 20);

const EC_PUBLIC_KEY = '1.2.840.10045.2.1';
const PRIME256V1 = '1.2.840.10045.3.1.7';
const ECDSA_WITH_SHA256 = '1.2.840.10045.4.3.2';
const ATTRIBUTE = { commonName: '2.5.4.3', organization: '2.5.4.10' } as const;

/** RFC 5280 appendix A, ub-common-name: characters that a common name may have. */
export const COMMON_NAME_LENGTH_MAX = 64;

/** RFC 5280 §4.1.2.2 allows up to 20; 16 make collisions impossible in practice. */
const SERIAL_BYTES = 16;

/**
 * A random positive serial number of exactly 16 octets: without the top bit, which would make it negative, and with
 * the next one, so that no leading zero is dropped.
 */
export function randomSerial(): Buffer {
  const serial = randomBytes(SERIAL_BYTES);
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40;
  return serial;
}

/** A distinguished name of the given attributes, in order; empty when there are none. */
export function distinguishedName(attributes: Partial<Record<keyof typeof ATTRIBUTE, string>>): Node {
  const parts = Object.entries(attributes) as [keyof typeof ATTRIBUTE, string][];
  return sequence(...parts.map(([type, text]) => set(sequence(oid(ATTRIBUTE[type]), utf8String(text)))));
}

export interface CertificateFields {
  serial: Buffer;
  issuer: Node;
  subject: Node;
  notBeforeMs: number;
  notAfterMs: number;
  /** The subject's P-256 public key. */
  point: Buffer;
  extensions: Node[];
}

/** Builds a version 3 certificate (RFC 5280 §4.1) and signs it with a P-256 key. The result is DER. */
export const signCertificate = (fields: CertificateFields, issuerKey: KeyObject): Buffer =>
  signed(issuerKey, (algorithm) =>
    sequence(
      tagged(0, integer(Buffer.of(2))),
      integer(fields.serial),
      algorithm,
      fields.issuer,
      sequence(time(fields.notBeforeMs), time(fields.notAfterMs)),
      fields.subject,
      sequence(sequence(oid(EC_PUBLIC_KEY), oid(PRIME256V1)), bitString(fields.point)),
      tagged(3, sequence(...fields.extensions)),
    ),
  );

/** What a P-256 key signs, with the name of the algorithm inside and the signature beside it (RFC 5280 §4.1.1, §5.1.1). */
export function signed(key: KeyObject, build: (algorithm: Node) => Node): Buffer {
  const algorithm = sequence(oid(ECDSA_WITH_SHA256));
  const unsigned = build(algorithm);
  const signature = sign('sha256', encode(unsigned), key);
  return encode(sequence(unsigned, algorithm, bitString(signature)));
}

export interface Extension {
  critical: boolean;
  /** The DER inside the extension's octet string. */
  value: Buffer;
}

/**
 * What `node:crypto` does not tell of a certificate: its subject as it is encoded, and its extensions by identifier.
 * For certificates that `node:crypto` has read already.
 * @throws Error when the shape is not that of RFC 5280 §4.1.
 */
export function readCertificate(der: Uint8Array): { subject: Node; extensions: Map<string, Extension> } {
  const fields = children(children(decode(der))[0]);
  // serial, signature, issuer, validity, subject; the version before them is absent in version 1.
  const subject = fields[isContext(fields[0], 0) ? 5 : 4];
  if (subject === undefined) throw new Error('The certificate has no subject.');
  const list = fields.find((field) => isContext(field, 3));
  const extensions = list === undefined ? [] : children(children(list)[0]).map(readExtension);
  return { subject, extensions: new Map(extensions) };
}

function readExtension(node: Node): [string, Extension] {
  const parts = children(node);
  return [readOid(parts[0]), { critical: isBoolean(parts[1]), value: content(parts.at(-1)) }];
}

/** PEM as in RFC 7468 §5.1. */
export function certificatePem(der: Uint8Array): string {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

/** SHA-256 of the certificate, as browsers and `openssl x509 -fingerprint -sha256` show it: `AB:CD:…`. */
export function fingerprint(der: Uint8Array): string {
  return (hash('sha256', der, 'hex').toUpperCase().match(/../g) ?? []).join(':');
}

/** `ab12cd34`: the beginning of a fingerprint, as it is used in names of files and of trust store entries. */
export const fingerprintStart = (text: string): string => text.replaceAll(':', '').slice(0, 8).toLowerCase();
