import { X509Certificate } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { readCertificate } from '../../../main/ca/certificate.ts';
import { children } from '../../../main/ca/der.ts';
import { EXTENSION } from '../../../main/ca/extensions.ts';
import { createLeaf } from '../../../main/ca/leaf.ts';
import { isRenewalDue } from '../../../main/model/leaf.ts';
import { createRoot } from '../../../main/ca/root.ts';
import { createFakeClock, FAKE_NOW_MS } from '../../support/fake-clock.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const root = createRoot({ realNowMs: FAKE_NOW_MS, owner: 'anna@laptop' });
const clock = createFakeClock();

const make = (...hostnames: string[]) => createLeaf({ issuer: root, hostnames, clock });
const iso = (epochMs: number) => new Date(epochMs).toISOString();
const LONG = `${'a'.repeat(60)}.test`;

describe('a leaf', () => {
  const leaf = make('demo.vivarium.localhost', '127.0.0.1', '::1');
  const certificate = new X509Certificate(leaf.certificatePem);
  const { extensions } = readCertificate(certificate.raw);

  test('is signed by the root and not an authority', () => {
    expect(certificate.checkIssued(root.certificate)).toBe(true);
    expect(certificate.verify(root.certificate.publicKey)).toBe(true);
    expect(certificate.ca).toBe(false);
  });

  test('reports its own properties correctly', () => {
    expect(certificate.serialNumber).toBe(leaf.serial);
    expect(certificate.fingerprint256).toBe(leaf.fingerprint);
    expect(certificate.subject).toBe('CN=demo.vivarium.localhost');
    expect(certificate.subjectAltName).toBe(
      'DNS:demo.vivarium.localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1',
    );
    expect(leaf.sans).toEqual(['demo.vivarium.localhost', '127.0.0.1', '::1']);
    expect(certificate.validFromDate.getTime()).toBe(leaf.wireNotBeforeMs);
    expect(certificate.validToDate.getTime()).toBe(leaf.wireNotAfterMs);
  });

  test.each<[keyof typeof EXTENSION, boolean, RegExp]>([
    ['subjectAltName', false, /^30/],
    ['basicConstraints', true, /^3000$/],
    ['keyUsage', true, /^03020780$/],
    ['extKeyUsage', false, /^300a06082b06010505070301$/],
    ['subjectKeyIdentifier', false, /^0414[0-9a-f]{40}$/],
    ['certificatePolicies', false, /^300a3008060667810c010201$/],
    ['authorityKeyIdentifier', false, new RegExp(`^30168014${root.keyIdentifier.toString('hex')}$`)],
  ])('has %s, critical: %s', (name, critical, der) => {
    const found = extensions.get(EXTENSION[name]);
    expect(found?.critical).toBe(critical);
    expect(found?.value.toString('hex')).toMatch(der);
    expect(extensions.size).toBe(7);
  });

  test('has a unique key and serial number', () => {
    const other = make('demo.vivarium.localhost');
    expect(other.privateKeyPem).not.toBe(leaf.privateKeyPem);
    expect(other.serial).not.toBe(leaf.serial);
  });
});

test.each<[string, string[], string | undefined, boolean]>([
  ['is the hostname', ['a.test'], 'CN=a.test', false],
  ['is empty for a hostname of 65 characters', [LONG], undefined, true],
  ['is the first hostname that fits', [LONG, 'b.test'], 'CN=b.test', false],
  ['is empty for an address', ['127.0.0.1'], undefined, true],
])('the subject %s', (_name, hostnames, subject, critical) => {
  const certificate = new X509Certificate(make(...hostnames).certificatePem);
  const read = readCertificate(certificate.raw);
  expect(certificate.subject).toBe(subject);
  expect(children(read.subject)).toHaveLength(subject === undefined ? 0 : 1);
  // RFC 5280 §4.2.1.6: critical if the subject is empty.
  expect(read.extensions.get(EXTENSION.subjectAltName)?.critical).toBe(critical);
});

describe('dates', () => {
  test.each<[string, number]>([
    ['the same as real time', 0],
    ['a hundred days ahead', 100 * DAY_MS],
    ['forty years ahead', 14_610 * DAY_MS],
    ['a year behind', -365 * DAY_MS],
  ])('include the current time of both clocks, with the app’s clock %s', async (_name, offsetMs) => {
    const moved = createFakeClock();
    await moved.set(FAKE_NOW_MS + offsetMs);
    const leaf = createLeaf({ issuer: root, hostnames: ['a.test'], clock: moved });
    expect(iso(leaf.notBeforeMs)).toBe(iso(FAKE_NOW_MS + offsetMs - HOUR_MS));
    expect(iso(leaf.notAfterMs)).toBe(iso(FAKE_NOW_MS + offsetMs + 90 * DAY_MS));
    expect(iso(leaf.wireNotBeforeMs)).toBe('2026-11-20T08:00:00.000Z');
    expect(iso(leaf.wireNotAfterMs)).toBe('2027-02-18T09:00:00.000Z');
  });

  test('never outlive the root, on either clock', () => {
    const late = createFakeClock({ nowMs: root.notAfterMs - 10 * DAY_MS });
    const leaf = createLeaf({ issuer: root, hostnames: ['a.test'], clock: late });
    expect(leaf.wireNotAfterMs).toBe(root.notAfterMs);
    expect(leaf.notAfterMs).toBe(root.notAfterMs);
  });

  test('never begin before the root', () => {
    const early = createFakeClock({ nowMs: root.notBeforeMs });
    expect(createLeaf({ issuer: root, hostnames: ['a.test'], clock: early }).wireNotBeforeMs).toBe(root.notBeforeMs);
  });

  test('of an expired root are refused', () => {
    const tooLate = createFakeClock({ nowMs: root.notAfterMs });
    expect(() => createLeaf({ issuer: root, hostnames: ['a.test'], clock: tooLate })).toThrow(
      'The root expired at 2036-11-20',
    );
  });
});

describe('names', () => {
  test('are normalised, without duplicates', () => {
    expect(make('A.Test.', 'a.test', '0:0::1', '::1').sans).toEqual(['a.test', '::1']);
  });

  test.each<[string, string[], string, string]>([
    ['none', [], 'invalid_request', 'needs 1 to 100 names'],
    ['too many', Array.from({ length: 101 }, (_, index) => `h${index}.test`), 'invalid_request', '1 to 100 names'],
    ['malformed', ['a b.test'], 'invalid_request', 'neither a hostname nor an IP address (bad character)'],
    ['outside the constraints', ['a.test', 'www.acme.com'], 'conflict', 'The root may not sign for www.acme.com'],
    ['another machine’s address', ['192.168.0.1'], 'conflict', 'loopback addresses only'],
  ])('%s are refused', (_name, hostnames, code, message) => {
    expect(() => make(...hostnames)).toThrow(expect.objectContaining({ code }));
    expect(() => make(...hostnames)).toThrow(message);
  });

  test('outside the constraints are refused with the fix', () => {
    expect(() => make('www.acme.com')).toThrow('localhost, test, example, internal');
    expect(() => make('www.acme.com')).toThrow('ca.extend');
  });
});

test('a leaf shortened by the root’s end is due for renewal in its last third', () => {
  const nowMs = root.notAfterMs - 8 * HOUR_MS;
  const short = createLeaf({ issuer: root, hostnames: ['a.test'], clock: createFakeClock({ nowMs }) });
  const at = (hours: number) => ({ now: nowMs + hours * HOUR_MS, realNow: nowMs + hours * HOUR_MS });
  // Nine hours of validity, one of them past: two thirds end five hours from now.
  expect([at(4.99), at(5)].map((state) => isRenewalDue(short, state))).toEqual([false, true]);
});
