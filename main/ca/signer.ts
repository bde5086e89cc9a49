import { iso } from '../contract/values.ts';
import type { KeyObject, X509Certificate } from 'node:crypto';
import { certificatePem, fingerprint, readCertificate } from './certificate.ts';
import { decodeConstraints, type NameConstraints } from './constraints.ts';
import { content, decode, type Node } from './der.ts';
import { EXTENSION, type Role } from './extensions.ts';

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
