import { randomBytes } from 'node:crypto';
import { calculateJwkThumbprint, flattenedVerify, importJWK, type FlattenedJWSInput, type JWK } from 'jose';
import { isRecord } from '../base/text/exact-json.ts';
import { AcmeError, malformed } from './problem.ts';

/** Accepted signature algorithms: those required by RFC 8555 §6.2, and others that Let’s Encrypt accepts. */
export const ALGORITHMS = ['ES256', 'ES384', 'ES512', 'RS256'] as const;
type Algorithm = (typeof ALGORITHMS)[number];

/** The members of a public key, and which of them are in a thumbprint (RFC 7638 §3.2). */
const MEMBERS = { EC: ['crv', 'kty', 'x', 'y'], RSA: ['e', 'kty', 'n'] } as const;
const CURVES: Partial<Record<Algorithm, string>> = { ES256: 'P-256', ES384: 'P-384', ES512: 'P-521' };
const RSA_BITS = { min: 2048, max: 4096 };

export type PublicJwk = Readonly<Record<string, string>>;

/** A well-formed request body whose signature is not yet verified. */
export interface ReadJws {
  alg: Algorithm;
  url: string;
  nonce: string | null;
  /** The new account's key, or the URL of an account. */
  by: { jwk: PublicJwk } | { kid: string };
  flattened: FlattenedJWSInput;
}

/** Reads a JWS in flattened JSON serialisation without unsigned members (RFC 8555 §6.2). */
export function readJws(text: string): ReadJws {
  const { header, flattened } = readFlattened(parseObject(text, 'The body'), 'The JWS');
  const { alg, url, nonce = null } = header;
  if (typeof url !== 'string') throw malformed('The protected header must have the "url" of the request.');
  if (nonce !== null && !isBase64url(nonce)) throw new AcmeError('badNonce', 'The nonce is not base64url.');
  return { alg: readAlgorithm(alg), url, nonce, by: readSigner(header), flattened };
}

/** Reads the parts of a JWS and its protected header. `what` names the JWS in errors. @throws AcmeError malformed */
export function readFlattened(
  body: Readonly<Record<string, unknown>>,
  what: string,
): { header: Record<string, unknown>; flattened: FlattenedJWSInput } {
  if ('signatures' in body)
    throw malformed(`${what} must use the flattened serialisation: "signatures" belongs to the general one.`);
  if ('header' in body) throw malformed(`${what} must not have an unprotected "header".`);
  const { protected: head, payload, signature } = body;
  if (!isBase64url(head) || !isBase64url(payload) || !isBase64url(signature)) {
    throw malformed(`${what} must have "protected", "payload" and "signature", each in base64url without padding.`);
  }
  const header = parseObject(Buffer.from(head, 'base64url').toString(), 'The protected header');
  for (const name of ['crit', 'b64', 'zip']) {
    if (name in header) throw malformed(`The protected header may not have "${name}".`);
  }
  return { header, flattened: { protected: head, payload, signature } };
}

function readAlgorithm(alg: unknown): Algorithm {
  const found = ALGORITHMS.find((known) => known === alg);
  if (found !== undefined) return found;
  throw algorithmFault('The JWS', ALGORITHMS);
}

export const algorithmFault = (what: string, algorithms: readonly string[]): AcmeError =>
  new AcmeError('badSignatureAlgorithm', `${what} must be signed with ${algorithms.join(', ')}.`, {
    members: { algorithms },
  });

function readSigner({ jwk, kid, alg }: Record<string, unknown>): ReadJws['by'] {
  if ((jwk === undefined) === (kid === undefined)) {
    throw malformed('The protected header must have either "jwk" or "kid".');
  }
  if (kid === undefined) return { jwk: readKey(jwk, alg) };
  if (typeof kid !== 'string') throw malformed('"kid" must be the URL of the account.');
  return { kid };
}

/** Reads the public members of a key and checks that it is strong enough. @throws AcmeError badPublicKey */
export function readKey(jwk: unknown, alg?: unknown): PublicJwk {
  const bad = (why: string) => new AcmeError('badPublicKey', why);
  if (!isRecord(jwk)) throw malformed('"jwk" must be a JSON object.');
  const { kty } = jwk;
  if (kty !== 'EC' && kty !== 'RSA') throw bad('The key must be an EC or RSA key.');
  const key: Record<string, string> = {};
  for (const name of MEMBERS[kty]) {
    const value = jwk[name];
    if (!isBase64url(value) || value === '') throw bad(`"${name}" of the key is missing or not base64url.`);
    key[name] = value;
  }
  if (kty === 'EC') {
    const { crv = '' } = key;
    const fits = alg === undefined ? Object.values(CURVES).includes(crv) : CURVES[alg as Algorithm] === crv;
    if (!fits) throw bad(`The curve ${JSON.stringify(crv)} does not fit the algorithm.`);
    return key;
  }
  if (alg !== undefined && alg !== 'RS256') throw bad('The algorithm of an RSA key must be RS256.');
  const modulus = Buffer.from(key['n'] ?? '', 'base64url');
  const bits = BigInt(`0x0${modulus.toString('hex')}`).toString(2).length;
  if (bits < RSA_BITS.min || bits > RSA_BITS.max) {
    throw bad(`An RSA key must have ${RSA_BITS.min} to ${RSA_BITS.max} bits; this one has ${bits}.`);
  }
  if (key['e'] !== 'AQAB') throw bad('The exponent of an RSA key must be 65537.');
  return key;
}

/** Verifies the signature of a JWS and returns its payload. @throws AcmeError malformed, badPublicKey */
export async function verifyJws(
  { alg, flattened }: Pick<ReadJws, 'alg' | 'flattened'>,
  key: PublicJwk,
): Promise<string> {
  const publicKey = await importJWK(key as JWK, alg).catch(() => {
    throw new AcmeError('badPublicKey', 'The key is invalid, for example not a point on its curve.');
  });
  try {
    const { payload } = await flattenedVerify(flattened, publicKey, { algorithms: [alg] });
    return Buffer.from(payload).toString();
  } catch {
    throw malformed('The signature does not match the key and the signed content.');
  }
}

export const thumbprintOf = (key: PublicJwk): Promise<string> => calculateJwkThumbprint(key as JWK);

/** Parses a JSON object. @throws AcmeError malformed */
export function parseObject(text: string, what: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw malformed(`${what} is not JSON.`);
  }
  if (isRecord(value)) return value;
  throw malformed(`${what} is not a JSON object.`);
}

const isBase64url = (value: unknown): value is string => typeof value === 'string' && /^[A-Za-z0-9_-]*$/.test(value);

/** The maximum number of unused nonces. Beyond it, the oldest is dropped, and its client retries after `badNonce`. */
export const NONCES_MAX = 20_000;

/** Nonces against replay (RFC 8555 §6.5): each is accepted once, and only by the run that created it. */
export function createNonces(max = NONCES_MAX) {
  const waiting = new Set<string>();
  return {
    create(): string {
      const nonce = randomBytes(16).toString('base64url');
      waiting.add(nonce);
      if (waiting.size > max) for (const oldest of waiting) return (waiting.delete(oldest), nonce);
      return nonce;
    },
    /** Consumes a nonce. Returns whether it was valid. */
    use: (nonce: string): boolean => waiting.delete(nonce),
  };
}
