import { createECDH, createPrivateKey, hkdfSync, type KeyObject, X509Certificate } from 'node:crypto';
import {
  distinguishedName,
  type Extension,
  keyIdentifier,
  type KeyPair,
  keyPairOf,
  randomSerial,
  readCertificate,
  signCertificate,
} from './certificate.ts';
import { intermediateExtensions } from './extensions.ts';
import { type Root } from './root.ts';
import { readSigner, type Signer } from './signer.ts';

/** The order of P-256 (NIST SP 800-186 §3.2.1.3). */
const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
/** 64 bits more than the order, so the remainder is not biased (FIPS 186-5 §A.2.1). */
const SEED_BYTES = 40;
const COORDINATE_BYTES = 32;
/** Distinguishes this use of the root's key (RFC 5869 §3.2). */
const PURPOSE = 'Vivarium intermediate 1';

/**
 * The intermediate of `root`: `pem` if it is up to date, else a new certificate. Its key is derived from the root's, so
 * it survives every replacement of either certificate, and there is no second secret to keep or lose.
 */
export function intermediateOf(root: Root, filesUrl: string | null, pem: string | null): Signer {
  const { privateKey, point } = deriveKeys(root.privateKey);
  const known = pem === null ? null : parse(pem);
  const wanted = signIntermediate(root, { privateKey, point }, filesUrl);
  const certificate = known !== null && isSame(known, wanted, root) ? known : wanted;
  return { ...readSigner(certificate), role: 'intermediate', privateKey };
}

/** Lasts as long as the root, within its constraints. */
function signIntermediate(root: Root, { point }: KeyPair, filesUrl: string | null): X509Certificate {
  const subjectKey = keyIdentifier(point);
  const id = root.keyIdentifier.toString('hex').slice(0, 6);
  const der = signCertificate(
    {
      serial: randomSerial(),
      issuer: root.subject,
      subject: distinguishedName({ organization: 'Vivarium', commonName: `Vivarium intermediate (${id})` }),
      notBeforeMs: root.notBeforeMs,
      notAfterMs: root.notAfterMs,
      point,
      extensions: intermediateExtensions(subjectKey, root.constraints, { issuer: root, filesUrl }),
    },
    root.privateKey,
  );
  return new X509Certificate(der);
}

function parse(pem: string): X509Certificate | null {
  try {
    return new X509Certificate(pem);
  } catch {
    return null;
  }
}

/** Whether everything except the serial number and the signature is equal. */
function isSame(known: X509Certificate, wanted: X509Certificate, root: Root): boolean {
  return (
    known.checkIssued(root.certificate) &&
    known.verify(root.certificate.publicKey) &&
    known.subject === wanted.subject &&
    known.validFrom === wanted.validFrom &&
    known.validTo === wanted.validTo &&
    known.publicKey.equals(wanted.publicKey) &&
    extensionsOf(known) === extensionsOf(wanted)
  );
}

const extensionsOf = (certificate: X509Certificate): string =>
  [...readCertificate(certificate.raw).extensions].map(([id, extension]) => `${id} ${textOf(extension)}`).join('\n');

const textOf = ({ critical, value }: Extension): string => `${critical ? '!' : ''}${value.toString('hex')}`;

/** A key pair by HKDF from a P-256 key (RFC 5869). */
function deriveKeys(from: KeyObject): KeyPair {
  const { d = '' } = from.export({ format: 'jwk' });
  const seed = hkdfSync('sha256', Buffer.from(d, 'base64url'), Buffer.alloc(0), PURPOSE, SEED_BYTES);
  const scalar = (BigInt(`0x${Buffer.from(seed).toString('hex')}`) % (ORDER - 1n)) + 1n;
  const secret = Buffer.from(scalar.toString(16).padStart(2 * COORDINATE_BYTES, '0'), 'hex');
  const curve = createECDH('prime256v1');
  curve.setPrivateKey(secret);
  // The uncompressed point: 0x04, x, y.
  const point = curve.getPublicKey();
  const text = (start: number) => point.subarray(start, start + COORDINATE_BYTES).toString('base64url');
  const key = { kty: 'EC', crv: 'P-256', d: secret.toString('base64url'), x: text(1), y: text(1 + COORDINATE_BYTES) };
  return keyPairOf(createPrivateKey({ format: 'jwk', key }));
}
