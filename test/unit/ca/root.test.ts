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
const made = (owner: string, realNowMs = NOW_MS, suffixes?: string[]) =>
  createRoot({ realNowMs, owner, ...(suffixes !== undefined && { suffixes }) });
const root = made('anna@laptop');

const pemOf = (key: Root['privateKey']) => key.export({ type: 'pkcs8', format: 'pem' }).toString();
const keyPem = pemOf(root.privateKey);
const open = (certificatePem: string, privateKeyPem: string) =>
  openRoot({ certificatePem, privateKeyPem, certificateName: 'root.pem', privateKeyName: 'root-key.pem' });

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
    for (let round = 0; round < 300; round++) expect(made('a').certificate.serialNumber).toMatch(/^[4-7][0-9A-F]{31}$/);
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

  test.each([
    ['created on 29 February ends on 1 March', Date.UTC(2028, 1, 29), '2038-03-01T00:00:00.000Z'],
    ['created in 2045 ends beyond UTCTime', Date.UTC(2045, 0, 1), '2055-01-01T00:00:00.000Z'],
  ])('%s', (_what, nowMs, end) => {
    const { notAfterMs, certificate: created } = made('a', nowMs);
    expect([new Date(notAfterMs).toISOString(), created.validToDate.toISOString()]).toEqual([end, end]);
  });
});

describe('the owner in the subject', () => {
  const shown = (owner: string) => /^Vivarium root \((.*) [0-9a-f]{6}\)$/u.exec(commonNameOf(owner))?.[1];
  // Not toLegacyObject(): in Node 24 it leaves `tls.createSecureContext` undefined for all files that load TLS after
  // it.
  const commonNameOf = (owner: string) => /^CN=(.*)$/mu.exec(made(owner).certificate.subject)?.[1] ?? '';

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
    const { constraints } = made('a', NOW_MS, ['Test.', 'test', 'bücher.example']);
    expect(constraints.suffixes).toEqual(['test', 'xn--bcher-kva.example']);
  });

  test.each([
    [[]],
    [['*.test']],
    [['.test']],
    [['a b']],
    [Array.from({ length: 101 }, (_, index) => `s${index}.test`)],
  ])('%j is refused', (suffixes) => {
    expect(() => made('a', NOW_MS, suffixes)).toThrow(expect.objectContaining({ code: 'invalid_request' }));
  });
});

describe('reading a root back', () => {
  test('returns the same root', () => {
    const read = open(root.certificatePem, keyPem);
    expect(describeRoot(read)).toEqual(describeRoot(root));
    expect(read.keyIdentifier).toEqual(root.keyIdentifier);
  });

  const other = made('other');
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  const NO_CERTIFICATE = 'root.pem holds no certificate.';
  const NO_KEY = 'root-key.pem holds no private key.';
  test.each<[string, string, string, string]>([
    ['an empty certificate', '', keyPem, NO_CERTIFICATE],
    ['a damaged certificate', root.certificatePem.replace('MII', 'AAA'), keyPem, NO_CERTIFICATE],
    ['an empty key', root.certificatePem, '', NO_KEY],
    ['a key cut short', root.certificatePem, keyPem.slice(0, 100), NO_KEY],
    ['an RSA key', root.certificatePem, pemOf(rsa), 'root-key.pem is not a P-256 key.'],
    ['another root’s key', root.certificatePem, pemOf(other.privateKey), 'root-key.pem is not the key of root.pem.'],
  ])('%s is refused, with the file and what to do', (_name, certificatePem, privateKeyPem, message) => {
    const read = () => open(certificatePem, privateKeyPem);
    expect(read).toThrow(expect.objectContaining({ name: 'VivariumError', code: 'unavailable' }));
    expect(read).toThrow(message);
    expect(read).toThrow('Restore it from a backup; or move root.pem and root-key.pem to another folder');
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
    expect(() => open(certificatePem(der), pemOf(keys.privateKey))).toThrow(
      'root.pem was not made by Vivarium: it lacks critical name constraints',
    );
  });

  test('messages never contain the key', () => {
    const damaged = keyPem.replace('MI', '??');
    expect(() => open(root.certificatePem, damaged)).toThrow(
      expect.not.objectContaining({ message: expect.stringContaining(damaged.slice(40, 80)) as unknown }),
    );
  });
});
