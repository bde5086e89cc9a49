import { createPublicKey, generateKeyPairSync, hash, type KeyObject } from 'node:crypto';

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
