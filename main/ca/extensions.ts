import {
  bitString,
  encode,
  enumerated,
  integer,
  octetString,
  oid,
  sequence,
  tagged,
  taggedOctets,
  yes,
  type Node,
} from './der.ts';
import type { RevocationReason } from '../contract/certificates.ts';
import { encodeConstraints, type NameConstraints } from './constraints.ts';
import { generalName, type LeafName } from './names.ts';

/** Object identifiers of the extensions, RFC 5280 §4.2.1 and §5.2. */
export const EXTENSION = {
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  crlNumber: '2.5.29.20',
  reasonCode: '2.5.29.21',
  nameConstraints: '2.5.29.30',
  crlDistributionPoints: '2.5.29.31',
  certificatePolicies: '2.5.29.32',
  authorityKeyIdentifier: '2.5.29.35',
  extKeyUsage: '2.5.29.37',
  authorityInfoAccess: '1.3.6.1.5.5.7.1.1',
} as const;

/** The certificate of the issuer, by URL (RFC 5280 §4.2.2.1). */
const CA_ISSUERS = '1.3.6.1.5.5.7.48.2';
/** Domain validated (CA/Browser Forum, Baseline Requirements 7.1.6.1). */
const DOMAIN_VALIDATED = '2.23.140.1.2.1';

/** Paths on the HTTP port and the control port: the revocation list, and the root's certificate in DER. */
export const CRL_PATH = '/root.crl';
export const CERTIFICATE_PATH = '/root.crt';

const SERVER_AUTH = '1.3.6.1.5.5.7.3.1';

/** Bits of KeyUsage (RFC 5280 §4.2.1.3), counted from the left: digitalSignature 0, keyCertSign 5, cRLSign 6. */
const LEAF_KEY_USAGE = { bytes: Buffer.of(0b1000_0000), unusedBits: 7 };
const ROOT_KEY_USAGE = { bytes: Buffer.of(0b0000_0110), unusedBits: 1 };

const extension = (id: string, critical: boolean, value: Uint8Array): Node =>
  sequence(oid(id), ...(critical ? [yes()] : []), octetString(value));

/**
 * Signs leaves only, no intermediates (path length 0), for TLS servers only, and only within `constraints`. Verifiers
 * apply the key purposes of an authority to what it signs: without them, a thief of the key could sign programs.
 */
export function rootExtensions(subjectKey: Buffer, constraints: NameConstraints): Node[] {
  return [
    extension(EXTENSION.basicConstraints, true, encode(sequence(yes(), integer(Buffer.of(0))))),
    extension(EXTENSION.keyUsage, true, encode(bitString(ROOT_KEY_USAGE.bytes, ROOT_KEY_USAGE.unusedBits))),
    extension(EXTENSION.subjectKeyIdentifier, false, encode(octetString(subjectKey))),
    extension(EXTENSION.nameConstraints, true, encodeConstraints(constraints)),
    serversOnly(),
  ];
}

export interface LeafExtensionsInput {
  names: readonly LeafName[];
  subjectKey: Buffer;
  /** The root's subject key identifier, octet for octet. */
  authorityKey: Buffer;
  /** RFC 5280 §4.2.1.6: the alternative names must be critical when the subject is empty. */
  namesCritical: boolean;
  /** The base of the addresses of the revocation list and the root's certificate; null omits both. */
  filesUrl: string | null;
}

export function leafExtensions(input: LeafExtensionsInput): Node[] {
  const { names, subjectKey, authorityKey, namesCritical, filesUrl } = input;
  return [
    extension(EXTENSION.subjectAltName, namesCritical, encode(sequence(...names.map(generalName)))),
    // cA defaults to FALSE, and DER omits defaults: an empty sequence.
    extension(EXTENSION.basicConstraints, true, encode(sequence())),
    extension(EXTENSION.keyUsage, true, encode(bitString(LEAF_KEY_USAGE.bytes, LEAF_KEY_USAGE.unusedBits))),
    serversOnly(),
    extension(EXTENSION.subjectKeyIdentifier, false, encode(octetString(subjectKey))),
    authorityKeyIdentifier(authorityKey),
    extension(EXTENSION.certificatePolicies, false, encode(sequence(sequence(oid(DOMAIN_VALIDATED))))),
    ...(filesUrl === null
      ? []
      : [
          extension(EXTENSION.crlDistributionPoints, false, distributionPoint(filesUrl + CRL_PATH)),
          extension(EXTENSION.authorityInfoAccess, false, issuerAt(filesUrl + CERTIFICATE_PATH)),
        ]),
  ];
}

const serversOnly = (): Node => extension(EXTENSION.extKeyUsage, false, encode(sequence(oid(SERVER_AUTH))));

const authorityKeyIdentifier = (authorityKey: Buffer): Node =>
  extension(EXTENSION.authorityKeyIdentifier, false, encode(sequence(taggedOctets(0, authorityKey))));

/** One distribution point by its full name, a URI (RFC 5280 §4.2.1.13). */
const distributionPoint = (url: string): Buffer =>
  encode(sequence(sequence(tagged(0, tagged(0, taggedOctets(6, Buffer.from(url, 'latin1')))))));

const issuerAt = (url: string): Buffer =>
  encode(sequence(sequence(oid(CA_ISSUERS), taggedOctets(6, Buffer.from(url, 'latin1')))));

/** RFC 5280 §5.3.1. */
const REASON_CODES: Record<RevocationReason, number> = {
  unspecified: 0,
  keyCompromise: 1,
  affiliationChanged: 3,
  superseded: 4,
  cessationOfOperation: 5,
  privilegeWithdrawn: 9,
};

/** The extensions of an entry of a revocation list; `unspecified` should be left out (RFC 5280 §5.3.1). */
export const entryExtensions = (reason: RevocationReason): Node[] =>
  reason === 'unspecified'
    ? []
    : [sequence(extension(EXTENSION.reasonCode, false, encode(enumerated(REASON_CODES[reason]))))];

/** Extensions of a revocation list; its number must increase from list to list (RFC 5280 §5.2.3). */
export function listExtensions(authorityKey: Buffer, number: number): Node[] {
  const octets = Buffer.alloc(8);
  octets.writeBigInt64BE(BigInt(number));
  // DER omits leading zeros, except one that keeps the number positive.
  const start = octets.findIndex((octet) => octet !== 0);
  const from = start < 0 ? 7 : (octets[start] ?? 0) & 0x80 ? start - 1 : start;
  return [
    authorityKeyIdentifier(authorityKey),
    extension(EXTENSION.crlNumber, false, encode(integer(octets.subarray(from)))),
  ];
}
