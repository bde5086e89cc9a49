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
import { encodeConstraints, type NameConstraints, generalName, type LeafName } from './names.ts';

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

/** The name of an authority, and the base name of its files on the HTTP port: `/root.crt`, `/intermediate.crl`. */
export type Role = 'root' | 'intermediate';

/** Paths on the HTTP port and the control port: an authority's revocation list, and its certificate in DER. */
export const listPath = (role: Role): string => `/${role}.crl`;
export const certificatePath = (role: Role): string => `/${role}.crt`;

/** Extended key usages (RFC 5280 §4.2.1.12). */
const PURPOSE = { serverAuth: '1.3.6.1.5.5.7.3.1', clientAuth: '1.3.6.1.5.5.7.3.2' } as const;

/** Bits of KeyUsage (RFC 5280 §4.2.1.3), counted from the left: digitalSignature 0, keyCertSign 5, cRLSign 6. */
const LEAF_KEY_USAGE = { bytes: Buffer.of(0b1000_0000), unusedBits: 7 };
const AUTHORITY_KEY_USAGE = { bytes: Buffer.of(0b0000_0110), unusedBits: 1 };

const extension = (id: string, critical: boolean, value: Uint8Array): Node =>
  sequence(oid(id), ...(critical ? [yes()] : []), octetString(value));

/**
 * Signs for TLS servers only, and only within `constraints`. Verifiers apply an authority's key purposes to the
 * certificates below it: without them, a thief of the key could sign programs. `pathLength`: how many may follow.
 */
export function rootExtensions(subjectKey: Buffer, constraints: NameConstraints, pathLength: 0 | 1): Node[] {
  return [
    extension(EXTENSION.basicConstraints, true, encode(sequence(yes(), integer(Buffer.of(pathLength))))),
    extension(EXTENSION.keyUsage, true, encode(bitString(AUTHORITY_KEY_USAGE.bytes, AUTHORITY_KEY_USAGE.unusedBits))),
    extension(EXTENSION.subjectKeyIdentifier, false, encode(octetString(subjectKey))),
    extension(EXTENSION.nameConstraints, true, encodeConstraints(constraints)),
    onlyFor(),
  ];
}

/** The extensions that identify the signing authority. */
export interface SignedByInput {
  issuer: { role: Role; keyIdentifier: Buffer };
  /** The base of the addresses of the issuer's revocation list and certificate; null omits both. */
  filesUrl: string | null;
}

/** Signs leaves only, within the constraints of its root. */
export const intermediateExtensions = (
  subjectKey: Buffer,
  constraints: NameConstraints,
  signedByRoot: SignedByInput,
): Node[] => [...rootExtensions(subjectKey, constraints, 0), ...signedBy(signedByRoot)];

export interface LeafExtensionsInput extends SignedByInput {
  names: readonly LeafName[];
  subjectKey: Buffer;
  /** RFC 5280 §4.2.1.6: the alternative names must be critical when the subject is empty. */
  namesCritical: boolean;
  /** For servers, except with a break. */
  purpose?: keyof typeof PURPOSE | undefined;
}

export function leafExtensions(input: LeafExtensionsInput): Node[] {
  const { names, subjectKey, namesCritical } = input;
  return [
    extension(EXTENSION.subjectAltName, namesCritical, encode(sequence(...names.map(generalName)))),
    // cA defaults to FALSE, and DER omits defaults: an empty sequence.
    extension(EXTENSION.basicConstraints, true, encode(sequence())),
    extension(EXTENSION.keyUsage, true, encode(bitString(LEAF_KEY_USAGE.bytes, LEAF_KEY_USAGE.unusedBits))),
    onlyFor(input.purpose),
    extension(EXTENSION.subjectKeyIdentifier, false, encode(octetString(subjectKey))),
    ...signedBy(input),
  ];
}

const signedBy = ({ issuer, filesUrl }: SignedByInput): Node[] => [
  authorityKeyIdentifier(issuer.keyIdentifier),
  extension(EXTENSION.certificatePolicies, false, encode(sequence(sequence(oid(DOMAIN_VALIDATED))))),
  ...(filesUrl === null
    ? []
    : [
        extension(EXTENSION.crlDistributionPoints, false, distributionPoint(filesUrl + listPath(issuer.role))),
        extension(EXTENSION.authorityInfoAccess, false, issuerAt(filesUrl + certificatePath(issuer.role))),
      ]),
];

const onlyFor = (purpose: keyof typeof PURPOSE = 'serverAuth'): Node =>
  extension(EXTENSION.extKeyUsage, false, encode(sequence(oid(PURPOSE[purpose]))));

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
