import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { silentLog, type Log } from '../../../main/base/log.ts';
import { describeRoot, createRoot } from '../../../main/ca/root.ts';
import { createLeaf } from '../../../main/ca/leaf.ts';
import { createFile } from '../../../main/ca/stores/owned-files.ts';
import { loadOrCreateRoot } from '../../../main/ca/root-folder.ts';
import { createFakeClock, FAKE_NOW_MS } from '../../support/fake-clock.ts';

const DAY_MS = 86_400_000;
const clock = createFakeClock();

let home: string;
let directory: string;
let certificateFile: string;
let keyFile: string;
let warnings: string[];
let log: Log;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'vivarium-root-'));
  directory = join(home, 'data', 'ca');
  certificateFile = join(directory, 'root.pem');
  keyFile = join(directory, 'root-key.pem');
  warnings = [];
  log = { ...silentLog, warn: (message) => warnings.push(message) };
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const load = () => loadOrCreateRoot({ directory, clock, log });
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
const contents = () => [readFileSync(certificateFile, 'utf8'), readFileSync(keyFile, 'utf8')];

describe('the first start', () => {
  test('creates two files, the key readable only for its owner', () => {
    const root = load();
    expect(readdirSync(directory).sort()).toEqual(['root-key.pem', 'root.pem']);
    expect([directory, certificateFile, keyFile].map(modeOf)).toEqual(['700', '644', '600']);
    expect(readFileSync(certificateFile, 'utf8')).toBe(root.certificatePem);
    expect(readFileSync(keyFile, 'utf8')).toMatch(/^-----BEGIN PRIVATE KEY-----\n/);
    expect(warnings).toEqual([]);
  });

  test('names the user and the machine, and accepts other suffixes', () => {
    const root = loadOrCreateRoot({ directory, clock, owner: 'anna@laptop', suffixes: ['test'] });
    expect(describeRoot(root).subject).toContain('anna@laptop');
    expect(describeRoot(root).permittedSuffixes).toEqual(['test']);
  });

  test('dates the root by real time, whatever the app’s clock shows', async () => {
    const moved = createFakeClock();
    await moved.set(Date.UTC(2060, 0, 1));
    const root = loadOrCreateRoot({ directory, clock: moved });
    expect(describeRoot(root).notAfter).toBe('2036-11-20T09:00:00.000Z');
  });
});

describe('a later start', () => {
  test('opens the same root and changes nothing', () => {
    const first = load();
    const before = contents();
    expect(describeRoot(load())).toEqual(describeRoot(first));
    expect(contents()).toEqual(before);
    expect(warnings).toEqual([]);
  });

  test('restricts modes that are too open, with a warning', () => {
    load();
    chmodSync(directory, 0o755);
    chmodSync(keyFile, 0o640);
    chmodSync(certificateFile, 0o666);
    load();
    expect([directory, certificateFile, keyFile].map(modeOf)).toEqual(['700', '644', '600']);
    expect(warnings).toHaveLength(3);
  });

  test('leaves stricter modes unchanged', () => {
    load();
    chmodSync(certificateFile, 0o600);
    chmodSync(keyFile, 0o400);
    load();
    expect([certificateFile, keyFile].map(modeOf)).toEqual(['600', '400']);
    expect(warnings).toEqual([]);
  });

  test('creates a certificate for a key without one, as an interrupted first start leaves it', () => {
    const first = load();
    const [, key] = contents();
    rmSync(certificateFile);
    const second = load();
    expect(contents()[1]).toBe(key);
    expect(second.keyIdentifier).toEqual(first.keyIdentifier);
    expect(describeRoot(second).subject).toBe(describeRoot(first).subject);
    expect(warnings).toHaveLength(1);
  });

  test.each<[number, number]>([
    [3_562, 0],
    [3_564, 1],
  ])('%i days after the root’s creation logs %i warnings of its end', async (days, count) => {
    load();
    const later = createFakeClock({ nowMs: FAKE_NOW_MS + days * DAY_MS });
    loadOrCreateRoot({ directory, clock: later, log });
    expect(warnings).toHaveLength(count);
  });

  test('logs a warning if this machine’s clock is before the root’s creation', () => {
    load();
    loadOrCreateRoot({ directory, clock: createFakeClock({ nowMs: FAKE_NOW_MS - DAY_MS }), log });
    expect(warnings[0]).toContain('not valid yet');
  });
});

describe('a start is refused, with the file and what to do, and nothing written, because of', () => {
  function expectRefusal(...messages: string[]) {
    const before = existsSync(directory) && statSync(directory).isDirectory() ? readdirSync(directory).sort() : null;
    for (const message of messages) expect(load).toThrow(message);
    expect(load).toThrow(expect.objectContaining({ name: 'VivariumError', code: 'unavailable' }));
    if (before !== null) expect(readdirSync(directory).sort()).toEqual(before);
  }

  test('a certificate without its key', () => {
    load();
    rmSync(keyFile);
    expectRefusal(keyFile, 'is missing', 'Restore it from a backup');
  });

  test('another root’s key', () => {
    load();
    const other = createRoot({ realNowMs: FAKE_NOW_MS, owner: 'other' });
    writeFileSync(keyFile, other.privateKey.export({ type: 'pkcs8', format: 'pem' }));
    expectRefusal(`${keyFile} is not the key of ${certificateFile}`);
  });

  test('an expired root', () => {
    load();
    const later = createFakeClock({ nowMs: Date.UTC(2036, 10, 20, 9, 0, 0) });
    const before = contents();
    expect(() => loadOrCreateRoot({ directory, clock: later })).toThrow(
      `The root in ${certificateFile} expired at 2036-11-20T09:00:00.000Z.`,
    );
    expect(contents()).toEqual(before);
  });

  test('an invalid certificate', () => {
    load();
    writeFileSync(certificateFile, 'hello');
    expectRefusal(`${certificateFile} holds no certificate`);
  });

  test('a leaf in place of the root', () => {
    const leaf = createLeaf({ issuer: load(), hostnames: ['a.test'], clock });
    writeFileSync(certificateFile, leaf.certificatePem);
    writeFileSync(keyFile, leaf.privateKeyPem);
    expectRefusal(`${certificateFile} is not a self-signed certificate authority`);
  });

  test('a damaged key without a certificate', () => {
    load();
    rmSync(certificateFile);
    writeFileSync(keyFile, 'hello');
    expectRefusal(`${keyFile} holds no private key`);
  });

  test('a file that cannot be read', () => {
    load();
    rmSync(keyFile);
    mkdirSync(keyFile);
    expectRefusal(`${keyFile} cannot be read (it is a folder)`, 'your user owns');
  });

  test('a file that is far too large', () => {
    load();
    writeFileSync(certificateFile, 'x'.repeat(65_537));
    expectRefusal(`${certificateFile} cannot be read (it has 65537 bytes, more than 65536)`);
  });

  test('a file in place of the folder', () => {
    mkdirSync(join(home, 'data'));
    writeFileSync(directory, '');
    expectRefusal(`The folder ${directory} cannot be used (there is another file of that name)`);
  });
});

describe('creating a file', () => {
  test('never replaces one, and leaves nothing else behind', () => {
    const path = join(home, 'root-key.pem');
    createFile(path, 'first', 0o600);
    expect(() => createFile(path, 'second', 0o600)).toThrow(
      `${path} cannot be written (there is another file of that name)`,
    );
    expect(readFileSync(path, 'utf8')).toBe('first');
    expect(readdirSync(home)).toEqual(['root-key.pem']);
  });

  test('in a missing folder is an error that names the file', () => {
    const path = join(home, 'gone', 'root-key.pem');
    expect(() => createFile(path, 'x', 0o600)).toThrow(`${path} cannot be written (its folder does not exist)`);
  });
});
