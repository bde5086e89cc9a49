import { hash, randomBytes, sign, createPublicKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { orElse } from '../contract/errors.ts';
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
import { iso } from '../contract/values.ts';
import { decodeConstraints, type NameConstraints } from './names.ts';
import { EXTENSION, type Role } from './extensions.ts';

/** The curve's name in `node:crypto` key details; NIST P-256 (FIPS 186-5), which all clients support. */
const CURVE = 'prime256v1';

/** The uncompressed point at the end of a public key's DER: 0x04, x, y (RFC 5480 §2.2). */
const POINT_BYTES = 65;

export interface KeyPair {
  readonly privateKey: KeyObject;
  /** The public key in certificate form (SubjectPublicKeyInfo, DER). */
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

/** The key identifier in certificates: 160 bits of the SHA-256 of its point (RFC 7093 §2, method 1). */
export const keyIdentifier = (point: Buffer): Buffer => hash('sha256', point, 'buffer').subarray(0, 20);

const EC_PUBLIC_KEY = '1.2.840.10045.2.1';
const PRIME256V1 = '1.2.840.10045.3.1.7';
/** Signature algorithms by digest (RFC 5758 §3.2; SHA-1 for a certificate broken on purpose: RFC 3279 §2.2.3). */
const ECDSA_WITH = { sha256: '1.2.840.10045.4.3.2', sha1: '1.2.840.10045.4.1' } as const;
export type Digest = keyof typeof ECDSA_WITH;
const ATTRIBUTE = { commonName: '2.5.4.3', organization: '2.5.4.10' } as const;

/** RFC 5280 appendix A, ub-common-name: maximum characters in a common name. */
export const COMMON_NAME_LENGTH_MAX = 64;

/** RFC 5280 §4.1.2.2 allows up to 20; 16 make collisions impossible in practice. */
const SERIAL_BYTES = 16;

/**
 * A random positive serial number of exactly 16 octets: the top bit is clear (positive), the next one set (no leading
 * zero octet).
 */
export function randomSerial(): Buffer {
  const serial = randomBytes(SERIAL_BYTES);
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40;
  return serial;
}

/** A distinguished name of the given attributes, in order; possibly empty. */
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
  /** The subject's public key: a P-256 point, or any key as SubjectPublicKeyInfo. */
  point: Buffer | Node;
  extensions: Node[];
}

/** Builds a version 3 certificate (RFC 5280 §4.1) and signs it with a P-256 key. The result is DER. */
export const signCertificate = (fields: CertificateFields, issuerKey: KeyObject, digest: Digest = 'sha256'): Buffer =>
  signed(issuerKey, digest, (algorithm) =>
    sequence(
      tagged(0, integer(Buffer.of(2))),
      integer(fields.serial),
      algorithm,
      fields.issuer,
      sequence(time(fields.notBeforeMs), time(fields.notAfterMs)),
      fields.subject,
      Buffer.isBuffer(fields.point) ? publicKeyOf(fields.point) : fields.point,
      tagged(3, sequence(...fields.extensions)),
    ),
  );

const publicKeyOf = (point: Buffer): Node => sequence(sequence(oid(EC_PUBLIC_KEY), oid(PRIME256V1)), bitString(point));

/** Signs with a P-256 key; the algorithm is named both inside and beside the signature (RFC 5280 §4.1.1, §5.1.1). */
export function signed(key: KeyObject, digest: Digest, build: (algorithm: Node) => Node): Buffer {
  const algorithm = sequence(oid(ECDSA_WITH[digest]));
  const unsigned = build(algorithm);
  const signature = sign(digest, encode(unsigned), key);
  return encode(sequence(unsigned, algorithm, bitString(signature)));
}

/** Null for a text or octets that are no certificate. */
export const parseCertificate = (content: string | Buffer): X509Certificate | null =>
  orElse(() => new X509Certificate(content), null);

export interface Extension {
  critical: boolean;
  /** The DER inside the extension's octet string. */
  value: Buffer;
}

/**
 * The fields that `node:crypto` does not expose: the encoded subject, and the extensions by identifier. Expects a
 * certificate that `node:crypto` has parsed. @throws Error when it deviates from RFC 5280 §4.1.
 */
export function readCertificate(der: Uint8Array): { subject: Node; extensions: Map<string, Extension> } {
  const fields = children(children(decode(der))[0]);
  // serial, signature, issuer, validity, subject; version 1 omits the version before them.
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

/**
 * Whether a certificate has a key identifier, as its own or its authority's. These octets of a hash occur nowhere else,
 * so a search suffices, which takes a twentieth of the time of a parser.
 */
export const namesKey = (pem: string, identifier: Buffer): boolean =>
  Buffer.from(pem.replace(/-----[^-]+-----|\s/g, ''), 'base64').includes(identifier);

/** SHA-256 of the certificate, in the notation of browsers and `openssl x509 -fingerprint -sha256`: `AB:CD:…`. */
export const fingerprint = (der: Uint8Array): string =>
  (hash('sha256', der, 'hex').toUpperCase().match(/../g) ?? []).join(':');

/** `ab12cd34`: the start of a fingerprint, for names of files and trust store entries. */
export const fingerprintStart = (text: string): string => text.replaceAll(':', '').slice(0, 8).toLowerCase();

/** The extension acmeIdentifier (RFC 8737 §3). */
const ACME_IDENTIFIER = '1.3.6.1.5.5.7.1.31';

/** The names and the digest of a certificate that answers tls-alpn-01; empty if it cannot be read. */
export function readChallengeCertificate(der: Buffer): { names: string; digest: string | null } {
  try {
    const certificate = new X509Certificate(der);
    const extension = readCertificate(der).extensions.get(ACME_IDENTIFIER);
    const digest = extension?.critical === true ? content(decode(extension.value)).toString('hex') : null;
    return { names: certificate.subjectAltName ?? '', digest };
  } catch {
    return { names: '', digest: null };
  }
}

/** A certificate authority: a certificate, and the key that signs others. */
export interface Signer {
  readonly role: Role;
  readonly certificate: X509Certificate;
  readonly certificatePem: string;
  /** Never sent anywhere. */
  readonly privateKey: KeyObject;
  /** `AB:CD:…`, SHA-256. */
  readonly fingerprint: string;
  /** The encoded subject; what it signs copies it as the issuer, octet for octet. */
  readonly subject: Node;
  readonly keyIdentifier: Buffer;
  /** Read from the certificate. */
  readonly constraints: NameConstraints;
  /** Validity in real time: real clients verify it, and the app's clock does not affect it. */
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
}

/** The public part of an authority. @throws Error when Vivarium did not make its certificate. */
export function readSigner(certificate: X509Certificate): Omit<Signer, 'privateKey' | 'role'> {
  const { subject, extensions } = readCertificate(certificate.raw);
  const constraints = extensions.get(EXTENSION.nameConstraints);
  const subjectKey = extensions.get(EXTENSION.subjectKeyIdentifier);
  if (constraints?.critical !== true || subjectKey === undefined) throw new Error('A required extension is missing.');
  return {
    certificate,
    certificatePem: certificatePem(certificate.raw),
    fingerprint: fingerprint(certificate.raw),
    subject,
    keyIdentifier: content(decode(subjectKey.value)),
    constraints: decodeConstraints(constraints.value),
    notBeforeMs: certificate.validFromDate.getTime(),
    notAfterMs: certificate.validToDate.getTime(),
  };
}

/** An authority in the contract's form, with real dates and without secrets. */
export interface SignerDescription {
  subject: string;
  serial: string;
  fingerprint: string;
  pem: string;
  notBefore: string;
  notAfter: string;
}

export const describeSigner = (signer: Signer): SignerDescription => ({
  subject: signer.certificate.subject.split('\n').join(', '),
  serial: signer.certificate.serialNumber,
  fingerprint: signer.fingerprint,
  pem: signer.certificatePem,
  notBefore: iso(signer.notBeforeMs),
  notAfter: iso(signer.notAfterMs),
});
