import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { taggedOctets } from '../../../main/ca/der.ts';
import { GENERAL_NAME } from '../../../main/ca/names.ts';
import { readSigningRequest } from '../../../main/ca/signing-request.ts';
import { createCsr, type CsrOptions, p256, rsa } from '../../support/certificate-request.ts';

const names = ['a.acme.test', '*.acme.test', '127.0.0.1', '::1'];

const explicit = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve, paramEncoding: 'explicit' });
const rsaWith = (publicExponent: number) => generateKeyPairSync('rsa', { modulusLength: 2048, publicExponent });

function outcome(action: () => unknown): string {
  try {
    action();
    return 'read';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

describe('a signing request', () => {
  test.each<[string, CsrOptions]>([
    ['P-256', { names }],
    ['P-384', { names, keys: generateKeyPairSync('ec', { namedCurve: 'secp384r1' }) }],
    ['RSA', { names, keys: rsa(2048) }],
  ])('is read: %s', (_key, options) => {
    const keys = options.keys ?? p256();
    const request = readSigningRequest(createCsr({ ...options, keys, commonName: 'a.acme.test' }));
    expect(request).toMatchObject({
      dns: ['a.acme.test', '*.acme.test'],
      ip: ['127.0.0.1', '::1'],
      others: 0,
      commonName: 'a.acme.test',
    });
    expect(request.publicKey.equals(keys.publicKey)).toBe(true);
  });

  test('may have only a common name, or names of other kinds', () => {
    expect(readSigningRequest(createCsr({ names: [], commonName: 'a.acme.test' }))).toMatchObject({ dns: [], ip: [] });
    const mail = taggedOctets(GENERAL_NAME.email, Buffer.from('anna@acme.test'));
    expect(readSigningRequest(createCsr({ names: [], generalNames: [mail] })).others).toBe(1);
  });

  test.each<[string, Buffer, RegExp]>([
    ['no octets', Buffer.alloc(0), /not a certification request/],
    ['garbage', Buffer.from('hello'), /not a certification request/],
    ['too many octets', Buffer.alloc(70_000), /more than 65536/],
    ['cut off', createCsr({ names }).subarray(0, -1), /not a certification request/],
    ['a signature of something else', createCsr({ names, signs: Buffer.from('x') }), /signature does not match/],
    ['SHA-1', createCsr({ names, algorithm: '1.2.840.10045.4.1' }), /algorithm other than/],
    ['RSA with 1024 bits', createCsr({ names, keys: rsa(1024) }), /RSA with 2048 to 4096 bits/],
    ['P-521', createCsr({ names, keys: generateKeyPairSync('ec', { namedCurve: 'secp521r1' }) }), /P-256 or P-384/],
    ['P-256 with explicit parameters', createCsr({ names, keys: explicit('prime256v1') }), /names its curve/],
    ['P-384 with explicit parameters', createCsr({ names, keys: explicit('secp384r1') }), /names its curve/],
    ['RSA with the exponent 3', createCsr({ names, keys: rsaWith(3) }), /is not 65537/],
    ['RSA with the exponent 257', createCsr({ names, keys: rsaWith(257) }), /is not 65537/],
  ])('is refused: %s', (_what, der, message) => {
    expect(() => readSigningRequest(der)).toThrow(message);
  });

  test('with any octet changed is read, or refused with a sentence', () => {
    const der = createCsr({ names });
    for (let index = 0; index < der.length; index++) {
      const changed = Buffer.from(der);
      changed[index] = (changed[index] ?? 0) ^ 0xff;
      const message = outcome(() => readSigningRequest(changed));
      expect(message, `octet ${index}`).toMatch(/^(?:read|(?:It(?:s| is| has)|The exponent) .*\.)$/);
    }
  });
});
