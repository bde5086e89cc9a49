import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { silentLog } from '../../../main/base/log.ts';
import { openAuthority } from '../../../main/ca/authority.ts';
import { createLeafContexts } from '../../../main/ca/leaf.ts';
import { createRoot, extendRoot, retractRoot, ROOT_SUFFIXES_MAX } from '../../../main/ca/root.ts';
import { createFakeClock, FAKE_NOW_MS } from '../../support/fake-clock.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const clock = createFakeClock();
const root = createRoot({ realNowMs: FAKE_NOW_MS, owner: 'anna@laptop' });
const extend = (suffix: string) => extendRoot(root, suffix, FAKE_NOW_MS);

describe('an extended root', () => {
  test('has the same key and subject, a new serial number and one more suffix', () => {
    const extended = extend('acme.com');
    expect(extended.certificate.publicKey.equals(root.certificate.publicKey)).toBe(true);
    expect(extended.certificate.subject).toBe(root.certificate.subject);
    expect(extended.keyIdentifier).toEqual(root.keyIdentifier);
    expect(extended.certificate.serialNumber).not.toBe(root.certificate.serialNumber);
    expect(extended.fingerprint).not.toBe(root.fingerprint);
    expect(extended.constraints.suffixes).toEqual([...root.constraints.suffixes, 'acme.com']);
    expect(extended.constraints.addresses).toEqual(root.constraints.addresses);
  });

  test('lives for ten years from its extension', () => {
    const later = extendRoot(root, 'acme.com', FAKE_NOW_MS + 86_400_000);
    expect(later.notBeforeMs).toBe(root.notBeforeMs + 86_400_000);
    expect(later.notAfterMs).toBe(root.notAfterMs + 86_400_000);
  });

  test('omits narrower suffixes that the new one covers', () => {
    const twice = extendRoot(extend('shop.acme.com'), 'acme.com', FAKE_NOW_MS);
    expect(twice.constraints.suffixes).toEqual([...root.constraints.suffixes, 'acme.com']);
  });

  test('permits no more than a hundred suffixes', () => {
    const suffixes = Array.from({ length: ROOT_SUFFIXES_MAX }, (_, index) => `name${index}.com`);
    const full = createRoot({ realNowMs: FAKE_NOW_MS, owner: 'anna@laptop', suffixes });
    expect(() => extendRoot(full, 'acme.com', FAKE_NOW_MS)).toThrow(/permits 100 suffixes already/);
  });
});

describe('a retracted root', () => {
  const retract = (from: typeof root, suffix: string) => retractRoot(from, suffix, FAKE_NOW_MS);

  test('has the same key and subject, without the suffix', () => {
    const retracted = retract(extendRoot(extend('acme.com'), 'corp', FAKE_NOW_MS), 'Acme.com.');
    expect(retracted.certificate.publicKey.equals(root.certificate.publicKey)).toBe(true);
    expect(retracted.certificate.subject).toBe(root.certificate.subject);
    expect(retracted.constraints.suffixes).toEqual([...root.constraints.suffixes, 'corp']);
  });

  test('keeps what every root permits, and names the suffixes that it can lose', () => {
    expect(() => retract(extend('acme.com'), 'test')).toThrow(
      'Every root permits "test". Suffixes that were added: acme.com.',
    );
    expect(() => retract(extend('acme.com'), 'shop.acme.com')).toThrow(
      'The root has no suffix "shop.acme.com". Suffixes that were added: acme.com.',
    );
    expect(() => retract(root, 'acme.com')).toThrow('Suffixes that were added: none.');
  });
});

test('a renewed root has the same key, subject and suffixes, for TLS servers only, and keeps the old certificate', () => {
  const directory = temporaryFolder();
  const authority = openAuthority({ directory, clock, log: silentLog });
  const before = authority.root();
  const renewed = authority.renew();
  expect(renewed.certificate.publicKey.equals(before.certificate.publicKey)).toBe(true);
  expect(renewed.fingerprint).not.toBe(before.fingerprint);
  expect(renewed.constraints).toEqual(before.constraints);
  expect(renewed.certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
  expect(authority.older().map(({ fingerprint256 }) => fingerprint256)).toEqual([before.fingerprint]);
  expect(openAuthority({ directory, clock, log: silentLog }).root().fingerprint).toBe(renewed.fingerprint);
});

describe('a suffix', () => {
  test.each<[string, string]>([
    ['example.com', 'example.com'],
    ['ACME.co.uk.', 'acme.co.uk'],
    ['shop.acme.com', 'shop.acme.com'],
    ['bücher.de', 'xn--bcher-kva.de'],
    ['anna.github.io', 'anna.github.io'],
    // Not delegated in the public DNS, and common in offices and homes.
    ['corp', 'corp'],
    ['fritz.box', 'fritz.box'],
    ['local', 'local'],
  ])('%s is accepted as %s', (text, suffix) => {
    expect(extend(text).constraints.suffixes.at(-1)).toBe(suffix);
  });

  test.each<[string, string, RegExp]>([
    ['com', 'invalid_request', /top-level domain of the real internet.*"acme\.com"/],
    ['COM.', 'invalid_request', /top-level domain/],
    ['dev', 'invalid_request', /top-level domain/],
    ['xn--p1ai', 'invalid_request', /top-level domain/],
    ['co.uk', 'invalid_request', /below which a registry sells names/],
    ['foo.ck', 'invalid_request', /below which a registry sells names/],
    ['github.io', 'invalid_request', /below which a service assigns names to its customers/],
    ['test', 'conflict', /permits test already, by its suffix "test"/],
    ['shop.acme.test', 'conflict', /by its suffix "test"/],
    ['*.acme.com', 'invalid_request', /remove everything before the first letter/],
    ['.acme.com', 'invalid_request', /remove everything before the first letter/],
    ['https://acme.com', 'invalid_request', /write the bare name/],
    ['acme.com:8443', 'invalid_request', /write the bare name/],
    ['192.168.0.1', 'invalid_request', /write a domain name/],
    ['acme..com', 'invalid_request', /not a suffix/],
    ['', 'invalid_request', /not a suffix/],
    ['not a name', 'invalid_request', /not a suffix/],
    [`${'x'.repeat(64)}.com`, 'invalid_request', /not a suffix/],
  ])('%j is refused: %s', (text, code, message) => {
    expect(() => extend(text)).toThrow(
      expect.objectContaining({ code, message: expect.stringMatching(message) as string }),
    );
  });
});

describe('the root of a folder', () => {
  test('is extended on disk, and the old certificate is kept by its fingerprint', () => {
    const directory = join(temporaryFolder(), 'ca');
    const authority = openAuthority({ directory, clock });
    const [before, key] = [authority.root(), readFileSync(join(directory, 'root-key.pem'), 'utf8')];
    authority.extend('acme.com');

    const kept = `root-${before.fingerprint.replaceAll(':', '').slice(0, 8).toLowerCase()}.pem`;
    expect(readdirSync(directory).sort()).toEqual([kept, 'root-key.pem', 'root.pem'].sort());
    expect(readFileSync(join(directory, kept), 'utf8')).toBe(before.certificatePem);
    expect(readFileSync(authority.certificateFile, 'utf8')).toBe(authority.root().certificatePem);
    expect(readFileSync(join(directory, 'root-key.pem'), 'utf8')).toBe(key);
    expect(statSync(authority.certificateFile).mode & 0o777).toBe(0o644);
    expect(authority.older().map((certificate) => certificate.toString())).toEqual([before.certificatePem]);
  });

  test('is the extended one after a restart, with every older one', () => {
    const directory = join(temporaryFolder(), 'ca');
    const first = openAuthority({ directory, clock });
    first.extend('acme.com');
    first.extend('acme.org');
    const second = openAuthority({ directory, clock });
    expect(second.root().fingerprint).toBe(first.root().fingerprint);
    expect(second.root().constraints.suffixes.slice(-2)).toEqual(['acme.com', 'acme.org']);
    expect(second.older()).toHaveLength(2);
  });

  test('does not count as its own older certificate, as an interrupted extension leaves it', () => {
    const directory = join(temporaryFolder(), 'ca');
    const { root: current } = openAuthority({ directory, clock });
    const start = current().fingerprint.replaceAll(':', '').slice(0, 8).toLowerCase();
    writeFileSync(join(directory, `root-${start}.pem`), current().certificatePem);
    const again = openAuthority({ directory, clock });
    expect(again.older()).toEqual([]);
    again.extend('acme.com');
    expect(again.older()).toHaveLength(1);
  });

  test('stays unchanged when the suffix is refused', () => {
    const directory = join(temporaryFolder(), 'ca');
    const authority = openAuthority({ directory, clock });
    const before = authority.root();
    expect(() => authority.extend('com')).toThrow();
    expect(authority.root()).toBe(before);
    expect(readdirSync(directory).sort()).toEqual(['root-key.pem', 'root.pem']);
  });

  test('is opened despite a damaged older certificate, with a warning', () => {
    const directory = join(temporaryFolder(), 'ca');
    openAuthority({ directory, clock });
    writeFileSync(join(directory, 'root-00000000.pem'), 'garbage');
    const warnings: string[] = [];
    const log = { ...silentLog, warn: (message: string) => warnings.push(message) };
    expect(openAuthority({ directory, clock, log }).older()).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining('An earlier certificate of the root cannot be read')]);
  });

  test('signs for names under the new suffix at once', () => {
    const authority = openAuthority({ directory: join(temporaryFolder(), 'ca'), clock });
    const leaves = createLeafContexts({ ...authority, clock });
    expect(() => leaves.contextFor('www.acme.com')).toThrow(/Add the suffix: `ca\.extend`/);
    const before = leaves.leafFor('demo.test');
    authority.extend('acme.com');
    leaves.dropAll();
    expect(leaves.size).toBe(0);
    expect(leaves.leafFor('www.acme.com').sans).toEqual(['www.acme.com']);
    expect(leaves.leafFor('demo.test').serial).not.toBe(before.serial);
  });
});
