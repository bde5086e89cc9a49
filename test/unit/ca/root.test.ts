import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  certificatePem,
  distinguishedName,
  randomSerial,
  readCertificate,
  signCertificate,
  createKeyPair,
  keyIdentifier,
} from '../../../main/ca/certificate.ts';
import { constrainTo } from '../../../main/ca/names.ts';
import { describeRoot, createRoot, openRoot, type Root } from '../../../main/ca/root.ts';
import { EXTENSION, rootExtensions } from '../../../main/ca/extensions.ts';

const NOW_MS = Date.UTC(2026, 10, 20, 9, 0, 0, 500);
const root = createRoot({ realNowMs: NOW_MS, owner: 'anna@laptop' });

const keyPem = (of: Root) => of.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const texts = (certificatePem: string, privateKeyPem: string) => ({
  certificatePem,
  privateKeyPem,
  certificateName: 'root.pem',
  privateKeyName: 'root-key.pem',
});

describe('a new root', () => {
  const certificate = new X509Certificate(root.certificatePem);
  const { extensions } = readCertificate(certificate.raw);

  test('is a self-signed P-256 authority', () => {
    expect(certificate.ca).toBe(true);
    expect(certificate.verify(certificate.publicKey)).toBe(true);
    expect(certificate.checkPrivateKey(root.privateKey)).toBe(true);
    expect(certificate.publicKey.asymmetricKeyDetails?.namedCurve).toBe('prime256v1');
  });

  test('is valid for ten years from now, starting an hour ago', () => {
    expect(certificate.validFromDate.toISOString()).toBe('2026-11-20T08:00:00.000Z');
    expect(certificate.validToDate.toISOString()).toBe('2036-11-20T09:00:00.000Z');
  });

  test.each<[keyof typeof EXTENSION, boolean, RegExp]>([
    ['basicConstraints', true, /^30060101ff020101$/],
    ['keyUsage', true, /^03020106$/],
    ['subjectKeyIdentifier', false, /^0414[0-9a-f]{40}$/],
    ['nameConstraints', true, /^30/],
    ['extKeyUsage', false, /^300a06082b06010505070301$/],
  ])('has %s, critical: %s', (name, critical, der) => {
    const found = extensions.get(EXTENSION[name]);
    expect(found?.critical).toBe(critical);
    expect(found?.value.toString('hex')).toMatch(der);
  });

  test('has no other extension', () => {
    expect(extensions.size).toBe(5);
  });

  test('has a positive serial number of 16 octets, a new one each time', () => {
    for (let round = 0; round < 300; round++) {
      expect(createRoot({ realNowMs: NOW_MS, owner: 'a' }).certificate.serialNumber).toMatch(/^[4-7][0-9A-F]{31}$/);
    }
  });

  test('has a complete description', () => {
    expect(describeRoot(root)).toEqual({
      subject: expect.stringMatching(/^O=Vivarium, CN=Vivarium root \(anna@laptop [0-9a-f]{6}\)$/) as string,
      serial: certificate.serialNumber,
      fingerprint: certificate.fingerprint256,
      pem: root.certificatePem,
      permittedSuffixes: ['localhost', 'test', 'example', 'internal'],
      permittedAddresses: ['127.0.0.0/8', '::1/128'],
      serversOnly: true,
      notBefore: '2026-11-20T08:00:00.000Z',
      notAfter: '2036-11-20T09:00:00.000Z',
    });
  });

  test('created on 29 February ends on 1 March', () => {
    const made = createRoot({ realNowMs: Date.UTC(2028, 1, 29), owner: 'a' });
    expect(new Date(made.notAfterMs).toISOString()).toBe('2038-03-01T00:00:00.000Z');
  });

  test('created in 2045 ends beyond UTCTime', () => {
    const made = createRoot({ realNowMs: Date.UTC(2045, 0, 1), owner: 'a' });
    expect(made.certificate.validToDate.toISOString()).toBe('2055-01-01T00:00:00.000Z');
  });
});

describe('the owner in the subject', () => {
  const shown = (owner: string) => /^Vivarium root \((.*) [0-9a-f]{6}\)$/u.exec(commonNameOf(owner))?.[1];
  // Not toLegacyObject(): in Node 24 it leaves `tls.createSecureContext` undefined for all files that load TLS after
  // it.
  const commonNameOf = (owner: string) =>
    /^CN=(.*)$/mu.exec(createRoot({ realNowMs: NOW_MS, owner }).certificate.subject)?.[1] ?? '';

  test.each([
    ['anna@laptop', 'anna@laptop'],
    ['Zoë@büro', 'Zoë@büro'],
    ['a\nb\u0000c', 'abc'],
    ['', ''],
  ])('%j is shown as %j', (owner, text) => {
    expect(shown(owner)).toBe(text);
  });

  test('is shortened so that the common name has 64 characters', () => {
    expect([...commonNameOf(`${'é'.repeat(200)}@host`)]).toHaveLength(64);
  });
});

describe('suffixes', () => {
  test('are normalised, without duplicates, and read back from the certificate', () => {
    const made = createRoot({ realNowMs: NOW_MS, owner: 'a', suffixes: ['Test.', 'test', 'bücher.example'] });
    expect(made.constraints.suffixes).toEqual(['test', 'xn--bcher-kva.example']);
  });

  test.each([
    [[]],
    [['*.test']],
    [['.test']],
    [['a b']],
    [Array.from({ length: 101 }, (_, index) => `s${index}.test`)],
  ])('%j is refused', (suffixes) => {
    expect(() => createRoot({ realNowMs: NOW_MS, owner: 'a', suffixes })).toThrow(
      expect.objectContaining({ code: 'invalid_request' }),
    );
  });
});

describe('reading a root back', () => {
  test('returns the same root', () => {
    const read = openRoot(texts(root.certificatePem, keyPem(root)));
    expect(describeRoot(read)).toEqual(describeRoot(root));
    expect(read.keyIdentifier).toEqual(root.keyIdentifier);
  });

  const other = createRoot({ realNowMs: NOW_MS, owner: 'other' });
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' });
  test.each<[string, string, string, string]>([
    ['an empty certificate', '', keyPem(root), 'root.pem holds no certificate.'],
    [
      'a damaged certificate',
      root.certificatePem.replace('MII', 'AAA'),
      keyPem(root),
      'root.pem holds no certificate.',
    ],
    ['an empty key', root.certificatePem, '', 'root-key.pem holds no private key.'],
    ['a key cut short', root.certificatePem, keyPem(root).slice(0, 100), 'root-key.pem holds no private key.'],
    ['an RSA key', root.certificatePem, rsa.toString(), 'root-key.pem is not a P-256 key.'],
    ['another root’s key', root.certificatePem, keyPem(other), 'root-key.pem is not the key of root.pem.'],
  ])('%s is refused, with the file and what to do', (_name, certificatePem, privateKeyPem, message) => {
    const open = () => openRoot(texts(certificatePem, privateKeyPem));
    expect(open).toThrow(expect.objectContaining({ name: 'VivariumError', code: 'unavailable' }));
    expect(open).toThrow(message);
    expect(open).toThrow('Restore it from a backup; or move root.pem and root-key.pem to another folder');
  });

  test('an authority without name constraints is refused: it could sign for every name', () => {
    const keys = createKeyPair();
    const name = distinguishedName({ commonName: 'Another authority' });
    const extensions = rootExtensions(keyIdentifier(keys.point), constrainTo(['test']), 1).slice(0, 3);
    const dates = { notBeforeMs: NOW_MS, notAfterMs: NOW_MS + 86_400_000 };
    const der = signCertificate(
      { serial: randomSerial(), issuer: name, subject: name, ...dates, point: keys.point, extensions },
      keys.privateKey,
    );
    const privateKeyPem = keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    expect(() => openRoot(texts(certificatePem(der), privateKeyPem))).toThrow(
      'root.pem was not made by Vivarium: it lacks critical name constraints',
    );
  });

  test('messages never contain the key', () => {
    const damaged = keyPem(root).replace('MI', '??');
    try {
      openRoot(texts(root.certificatePem, damaged));
      expect.unreachable();
    } catch (error) {
      expect(String((error as Error).message)).not.toContain(damaged.slice(40, 80));
    }
  });
});
