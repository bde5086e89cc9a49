import { X509Certificate } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openAuthority, intermediateOf } from '../../../main/ca/authority.ts';
import { readCertificate } from '../../../main/ca/certificate.ts';
import { EXTENSION } from '../../../main/ca/extensions.ts';
import { createLeaf } from '../../../main/ca/leaf.ts';
import { createRoot, renewRoot } from '../../../main/ca/root.ts';
import { createFakeClock, FAKE_NOW_MS } from '../../support/fake-clock.ts';
import { writeFormerRoot } from '../../support/former-root.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const clock = createFakeClock();
const root = createRoot({ realNowMs: FAKE_NOW_MS, owner: 'anna@laptop' });
const intermediate = intermediateOf(root, 'http://127.0.0.1:4780', null);

describe('an intermediate', () => {
  const { certificate } = intermediate;
  const { extensions } = readCertificate(certificate.raw);

  test('is a P-256 authority of its root, with a different key and name and the same end', () => {
    expect(certificate.ca).toBe(true);
    expect(certificate.checkIssued(root.certificate)).toBe(true);
    expect(certificate.verify(root.certificate.publicKey)).toBe(true);
    expect(certificate.checkPrivateKey(intermediate.privateKey)).toBe(true);
    expect(certificate.publicKey.equals(root.certificate.publicKey)).toBe(false);
    expect(certificate.subject).toMatch(/^O=Vivarium\nCN=Vivarium intermediate \([0-9a-f]{6}\)$/);
    expect([intermediate.notBeforeMs, intermediate.notAfterMs]).toEqual([root.notBeforeMs, root.notAfterMs]);
  });

  test.each<[keyof typeof EXTENSION, boolean, RegExp]>([
    ['basicConstraints', true, /^30060101ff020100$/],
    ['keyUsage', true, /^03020106$/],
    ['subjectKeyIdentifier', false, /^0414[0-9a-f]{40}$/],
    ['authorityKeyIdentifier', false, /^30168014[0-9a-f]{40}$/],
    ['nameConstraints', true, /^30/],
    ['extKeyUsage', false, /^300a06082b06010505070301$/],
    ['certificatePolicies', false, /^300a3008060667810c010201$/],
    ['crlDistributionPoints', false, /^30/],
    ['authorityInfoAccess', false, /^30/],
  ])('has %s, critical: %s', (name, critical, der) => {
    expect(extensions.get(EXTENSION[name])?.critical).toBe(critical);
    expect(extensions.get(EXTENSION[name])?.value.toString('hex')).toMatch(der);
    expect(extensions.size).toBe(9);
  });

  test('permits what its root permits', () => {
    expect(extensions.get(EXTENSION.nameConstraints)).toEqual(
      readCertificate(root.certificate.raw).extensions.get(EXTENSION.nameConstraints),
    );
    expect(() => createLeaf({ issuer: intermediate, hostnames: ['www.acme.com'], clock })).toThrow('The root may not');
  });

  test('has the same key for the same root, renewed or not, and a different key for another root', () => {
    const same = intermediateOf(renewRoot(root, FAKE_NOW_MS), null, null);
    expect(same.keyIdentifier).toEqual(intermediate.keyIdentifier);
    const other = intermediateOf(createRoot({ realNowMs: FAKE_NOW_MS, owner: 'anna@laptop' }), null, null);
    expect(other.keyIdentifier).not.toEqual(intermediate.keyIdentifier);
  });

  test.each<[string, string | null]>([
    ['nothing', null],
    ['garbage', 'garbage'],
    ['the root', root.certificatePem],
    ['one with other addresses', intermediateOf(root, 'http://127.0.0.1:8080', null).certificatePem],
    [
      'one with other suffixes',
      intermediateOf(createRoot({ realNowMs: FAKE_NOW_MS, owner: 'a', suffixes: ['test'] }), null, null).certificatePem,
    ],
  ])('is created again from %s, unchanged', (_name, pem) => {
    const made = intermediateOf(root, 'http://127.0.0.1:4780', pem);
    expect(made.certificatePem).not.toBe(pem);
    expect(intermediateOf(root, 'http://127.0.0.1:4780', made.certificatePem).certificatePem).toBe(made.certificatePem);
  });
});

function open(leavesOnly = false, filesUrl: () => string | null = () => null) {
  const directory = join(temporaryFolder(), 'ca');
  if (leavesOnly) writeFormerRoot(directory, FAKE_NOW_MS);
  return { ...openAuthority({ directory, clock, filesUrl }), directory };
}

const leafOf = (authority: ReturnType<typeof openAuthority>) =>
  createLeaf({ issuer: authority.issuer(), hostnames: ['a.test'], clock });

describe('in a data folder', () => {
  test('is created on first need, and then the same at every start', () => {
    const { directory, issuer } = open();
    expect(readdirSync(directory).toSorted()).toEqual(['root-key.pem', 'root.pem']);
    const first = issuer();
    expect(readFileSync(join(directory, 'intermediate.pem'), 'utf8')).toBe(first.certificatePem);
    expect(openAuthority({ directory, clock }).issuer().fingerprint).toBe(first.fingerprint);
  });

  test('is replaced with its root, keeping its key', () => {
    const authority = open();
    const leaf = leafOf(authority);
    const before = authority.issuer();
    authority.extend('acme.com');
    const after = authority.issuer();
    expect(after.constraints.suffixes).toContain('acme.com');
    expect(after.fingerprint).not.toBe(before.fingerprint);
    expect(after.keyIdentifier).toEqual(before.keyIdentifier);
    expect(new X509Certificate(leaf.certificatePem).verify(after.certificate.publicKey)).toBe(true);
    expect(authority.chainOf(leaf.certificatePem)).toEqual([after.certificatePem]);
  });

  test('is replaced when the address of the revocation list changes', () => {
    let url: string | null = null;
    const authority = open(false, () => url);
    const before = authority.issuer();
    expect(authority.issuer()).toBe(before);
    url = 'http://127.0.0.1:8080';
    expect(authority.issuer().fingerprint).not.toBe(before.fingerprint);
  });

  test('is not used with a root from before, which signs leaves itself until it is renewed', () => {
    const authority = open(true);
    const before = leafOf(authority);
    expect(authority.intermediate()).toBeNull();
    expect(authority.chainOf(before.certificatePem)).toEqual([]);
    authority.extend('acme.com');
    expect(authority.issuer()).toBe(authority.root());
    authority.renew();
    const after = leafOf(authority);
    expect(authority.chainOf(before.certificatePem)).toEqual([]);
    expect(authority.chainOf(after.certificatePem)).toEqual([authority.intermediate()?.certificatePem]);
  });

  test('replaces a damaged file; issuance continues even if the file cannot be replaced', () => {
    const { directory } = open();
    const file = join(directory, 'intermediate.pem');
    writeFileSync(file, 'garbage');
    const { fingerprint } = openAuthority({ directory, clock }).issuer();
    expect(new X509Certificate(readFileSync(file, 'utf8')).fingerprint256).toBe(fingerprint);
    expect(statSync(file).mode & 0o777).toBe(0o644);
    rmSync(file);
    mkdirSync(file);
    expect(leafOf(openAuthority({ directory, clock })).sans).toEqual(['a.test']);
  });
});
