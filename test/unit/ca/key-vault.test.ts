import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { silentLog, type Log } from '../../../main/base/log.ts';
import { openKeyVault } from '../../../main/ca/root-folder.ts';
import { createFakeSealer, type FakeSealer } from '../../support/fake-sealer.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const PEM = '-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----\n';

let directory: string;
let sealer: FakeSealer;
let warnings: string[];
let log: Log;

const seal = () => join(directory, 'root-key.sealed');
const pem = () => join(directory, 'root-key.pem');

beforeEach(() => {
  directory = join(temporaryFolder(), 'ca');
  mkdirSync(directory, { mode: 0o700 });
  writeFileSync(pem(), PEM, { mode: 0o600 });
  sealer = createFakeSealer();
  warnings = [];
  log = { ...silentLog, warn: (message) => warnings.push(message) };
});

const open = (by: FakeSealer | null = sealer) => openKeyVault({ directory, sealer: by, log });
const files = () => readdirSync(directory).sort();
const contains = (text: RegExp) => expect.stringMatching(text) as string;

describe('the root’s key', () => {
  test('is in its file at first', async () => {
    const vault = await open();
    expect([vault.storage(), vault.sealedKeyPem]).toEqual(['file', null]);
    expect(vault.describe()).toEqual({
      storage: 'file',
      sealable: true,
      message: `In \`${pem()}\`, which only its owner can read.`,
    });
  });

  test('is sealed and nowhere else after a move', async () => {
    const vault = await open();
    await vault.move('keyring');
    expect([vault.storage(), files()]).toEqual(['keyring', ['root-key.sealed']]);
    expect(readFileSync(seal(), 'utf8')).not.toContain('PRIVATE');
    expect(statSync(seal()).mode & 0o777).toBe(0o600);
  });

  test('is opened at the next start, and can be moved back unchanged', async () => {
    await (await open()).move('keyring');
    const vault = await open();
    expect([vault.storage(), vault.sealedKeyPem]).toEqual(['keyring', PEM]);
    await vault.move('file');
    expect([vault.storage(), files()]).toEqual(['file', ['root-key.pem']]);
    expect(readFileSync(pem(), 'utf8')).toBe(PEM);
    expect(statSync(pem()).mode & 0o777).toBe(0o600);
  });

  test('moves one after the other when it is moved twice at once', async () => {
    const vault = await open();
    await Promise.all([vault.move('keyring'), vault.move('file'), vault.move('keyring')]);
    expect([vault.storage(), files()]).toEqual(['keyring', ['root-key.sealed']]);
  });

  test.each([
    ['keeps its older seal if it cannot be sealed again', { refuses: 'there is no keyring' }, 1],
    ['is sealed again when the keyring has a new key', {}, 2],
  ])('%s', async (_what, keyring, sealed) => {
    await (await open()).move('keyring');
    Object.assign(sealer, { renewed: true, ...keyring });
    expect((await open()).sealedKeyPem).toBe(PEM);
    expect(sealer.sealed).toBe(sealed);
  });

  test('in both places counts as the one in its file, with a warning, and can be sealed again', async () => {
    writeFileSync(seal(), 'left behind');
    const vault = await open();
    expect(vault.storage()).toBe('file');
    expect(warnings).toEqual(['The root has a key in its file and a sealed one; the one in its file is used.']);
    await vault.move('keyring');
    expect((await open()).sealedKeyPem).toBe(PEM);
  });
});

describe('the root’s key stays in its file', () => {
  const NO_KEYRING = { refuses: 'This session has no keyring.' };
  test.each<[why: string, keyring: Partial<FakeSealer> | null, message: RegExp]>([
    ['in plain Node', null, /stays in its file: Only the desktop app can seal it/],
    ['in a session without a keyring', NO_KEYRING, /stays in its file: This session has no keyring\.$/],
    ['when the keyring is locked', { locked: true }, /\(the keyring is locked\)\.$/],
    ['when it could not be opened again', { forgetful: true }, /returned different data/],
  ])('%s', async (_why, keyring, message) => {
    const vault = await open(keyring === null ? null : Object.assign(sealer, keyring));
    await expect(vault.move('keyring')).rejects.toMatchObject({ code: 'unavailable', message: contains(message) });
    expect([vault.storage(), files()]).toEqual(['file', ['root-key.pem']]);
  });

  test('and the description contains the reason', async () => {
    Object.assign(sealer, NO_KEYRING);
    const message = contains(/only its owner can read\. This session has no keyring\.$/);
    expect((await open()).describe()).toMatchObject({ sealable: false, message });
  });
});

describe('a sealed key', () => {
  beforeEach(async () => {
    await (await open()).move('keyring');
  });

  test('cannot be opened by plain Node, which names the program that can', async () => {
    await expect(open(null)).rejects.toThrow(
      /root-key\.sealed\) is sealed with this system’s keyring, which only the desktop app can open\. Start the desktop app/,
    );
  });

  test.each<[why: string, spoil: () => void, reason: string]>([
    ['the keyring is locked', () => void Object.assign(sealer, { locked: true }), 'the keyring is locked'],
    ['it was sealed elsewhere', () => writeFileSync(seal(), 'foreign'), 'this was not sealed here'],
  ])('stays unchanged when %s', async (_why, spoil, reason) => {
    spoil();
    const before = readFileSync(seal());
    await expect(open()).rejects.toThrow(reason);
    expect(readFileSync(seal())).toEqual(before);
    expect(existsSync(pem())).toBe(false);
  });
});
