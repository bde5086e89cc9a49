import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { FlattenedSign, type FlattenedJWSInput } from 'jose';
import { describe, expect, test } from 'vitest';
import { readJws, type ReadJws, verifyJws, createNonces } from '../../../main/acme/jws.ts';
import { AcmeError } from '../../../main/acme/problem.ts';
import { sequence } from '../../support/sequence.ts';

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
const jwkOf = (key: KeyObject) => key.export({ format: 'jwk' }) as Record<string, string>;
const jwk = jwkOf(publicKey);
const HEADER = { alg: 'ES256', url: 'https://localhost/acme/new-account', nonce: 'abc' };

const signed = (header: Record<string, unknown>, key: KeyObject = privateKey): Promise<FlattenedJWSInput> =>
  new FlattenedSign(Buffer.from('{}')).setProtectedHeader({ ...HEADER, ...header }).sign(key);

/** A header as given, with an arbitrary signature: JOSE does not sign invalid headers. */
const unsigned = (header: unknown): Record<string, unknown> => ({
  protected: Buffer.from(JSON.stringify(header)).toString('base64url'),
  payload: 'e30',
  signature: 'AA',
});
const keyOf = ({ by }: ReadJws) => ('jwk' in by ? by.jwk : {});

async function readAndVerify(text: string): Promise<string> {
  const read = readJws(text);
  return verifyJws(read, keyOf(read));
}

describe('a JWS', () => {
  test('is read and verified, by key or by account', async () => {
    const own = readJws(JSON.stringify(await signed({ jwk })));
    expect(own).toMatchObject({
      alg: 'ES256',
      url: HEADER.url,
      nonce: 'abc',
      by: { jwk: { kty: 'EC', crv: 'P-256' } },
    });
    expect(await verifyJws(own, keyOf(own))).toBe('{}');
    expect(readJws(JSON.stringify(await signed({ kid: 'https://localhost/acme/account/1' }))).by).toEqual({
      kid: 'https://localhost/acme/account/1',
    });
  });

  test('with an RSA key is read and verified', async () => {
    const keys = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const own = readJws(JSON.stringify(await signed({ alg: 'RS256', jwk: jwkOf(keys.publicKey) }, keys.privateKey)));
    expect(await verifyJws(own, keyOf(own))).toBe('{}');
  });

  const long = Buffer.alloc(513, 1).toString('base64url');
  const weak = jwkOf(generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey);
  test.each<[string, unknown, string]>([
    ['not an object', [], 'malformed'],
    ['the general form', { payload: 'e30', signatures: [] }, 'malformed'],
    ['an unprotected header', { ...unsigned({ ...HEADER, jwk }), header: {} }, 'malformed'],
    ['no signature', { ...unsigned({ ...HEADER, jwk }), signature: undefined }, 'malformed'],
    ['padding', { ...unsigned({ ...HEADER, jwk }), payload: 'e30=' }, 'malformed'],
    ['a header that is not an object', unsigned('x'), 'malformed'],
    ['the algorithm none', unsigned({ ...HEADER, alg: 'none', jwk }), 'badSignatureAlgorithm'],
    ['an HMAC', unsigned({ ...HEADER, alg: 'HS256', jwk }), 'badSignatureAlgorithm'],
    ['no algorithm', unsigned({ url: HEADER.url, jwk }), 'badSignatureAlgorithm'],
    ['both key and account', unsigned({ ...HEADER, jwk, kid: 'x' }), 'malformed'],
    ['neither key nor account', unsigned(HEADER), 'malformed'],
    ['no url', unsigned({ alg: 'ES256', jwk }), 'malformed'],
    ['a nonce with other characters', unsigned({ ...HEADER, nonce: '+', jwk }), 'badNonce'],
    ['critical extensions', unsigned({ ...HEADER, crit: ['b64'], b64: false, jwk }), 'malformed'],
    ['a symmetric key', unsigned({ ...HEADER, jwk: { kty: 'oct', k: 'AA' } }), 'badPublicKey'],
    ['a curve of another algorithm', unsigned({ ...HEADER, alg: 'ES384', jwk }), 'badPublicKey'],
    ['a key without a member', unsigned({ ...HEADER, jwk: { ...jwk, y: undefined } }), 'badPublicKey'],
    ['a short RSA key', unsigned({ ...HEADER, alg: 'RS256', jwk: weak }), 'badPublicKey'],
    ['a long RSA key', unsigned({ ...HEADER, alg: 'RS256', jwk: { ...weak, n: long } }), 'badPublicKey'],
  ])('is refused: %s', (_what, body, type) => {
    expect(() => readJws(JSON.stringify(body))).toThrow(expect.objectContaining({ type }) as AcmeError);
  });

  test('is refused with another account’s key', async () => {
    const other = jwkOf(generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).publicKey);
    await expect(verifyJws(readJws(JSON.stringify(await signed({ jwk }))), other)).rejects.toMatchObject({
      type: 'malformed',
    });
  });

  test('is refused with a point that is not on the curve', async () => {
    const read = readJws(JSON.stringify(await signed({ jwk })));
    const type = expect.stringMatching(/^(?:badPublicKey|malformed)$/) as string;
    await expect(verifyJws(read, { ...keyOf(read), x: 'AAAA' })).rejects.toMatchObject({ type });
  });

  test('with any mutation is refused with an ACME problem, never with another error', async () => {
    const text = JSON.stringify(await signed({ jwk }));
    const random = sequence(19);
    for (let round = 0; round < 1_000; round++) {
      const at = random(text.length);
      const changed = text.slice(0, at) + String.fromCharCode(32 + random(95)) + text.slice(at + random(3));
      if (changed === text) continue;
      const error: unknown = await readAndVerify(changed).catch((thrown: unknown) => thrown);
      // Unused bits of base64url, and members beyond those of RFC 7515, change nothing.
      if (typeof error !== 'string') expect(error, changed).toBeInstanceOf(AcmeError);
    }
  });
});

describe('nonces', () => {
  test('are valid once', () => {
    const nonces = createNonces();
    const nonce = nonces.create();
    expect([nonces.use(nonce), nonces.use(nonce), nonces.use('another')]).toEqual([true, false, false]);
  });

  test('are limited in number: the oldest is forgotten', () => {
    const nonces = createNonces(2);
    const made = [nonces.create(), nonces.create(), nonces.create()];
    expect(made.map((nonce) => nonces.use(nonce))).toEqual([false, true, true]);
  });
});
