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

beforeEach(() => {
  directory = join(temporaryFolder(), 'ca');
  mkdirSync(directory, { mode: 0o700 });
  writeFileSync(join(directory, 'root-key.pem'), PEM, { mode: 0o600 });
  sealer = createFakeSealer();
  warnings = [];
  log = { ...silentLog, warn: (message) => warnings.push(message) };
});

const open = (by: FakeSealer | null = sealer) => openKeyVault({ directory, sealer: by, log });
const files = () => readdirSync(directory).sort();

describe('the root’s key', () => {
  test('is in its file at first', async () => {
    const vault = await open();
    expect([vault.storage(), vault.sealedKeyPem]).toEqual(['file', null]);
    expect(vault.describe()).toEqual({
      storage: 'file',
      sealable: true,
      message: `The private key is in ${join(directory, 'root-key.pem')}, which only its owner can read.`,
    });
  });

  test('is sealed and nowhere else after a move', async () => {
    const vault = await open();
    await vault.move('keyring');
    expect([vault.storage(), files()]).toEqual(['keyring', ['root-key.sealed']]);
    expect(readFileSync(join(directory, 'root-key.sealed'), 'utf8')).not.toContain('PRIVATE');
    expect(statSync(join(directory, 'root-key.sealed')).mode & 0o777).toBe(0o600);
  });

  test('is opened at the next start, and can be moved back unchanged', async () => {
    await (await open()).move('keyring');
    const vault = await open();
    expect([vault.storage(), vault.sealedKeyPem]).toEqual(['keyring', PEM]);
    await vault.move('file');
    expect([vault.storage(), files()]).toEqual(['file', ['root-key.pem']]);
    expect(readFileSync(join(directory, 'root-key.pem'), 'utf8')).toBe(PEM);
    expect(statSync(join(directory, 'root-key.pem')).mode & 0o777).toBe(0o600);
  });

  test('moves one after the other when it is moved twice at once', async () => {
    const vault = await open();
    await Promise.all([vault.move('keyring'), vault.move('file'), vault.move('keyring')]);
    expect([vault.storage(), files()]).toEqual(['keyring', ['root-key.sealed']]);
  });

  test('keeps its older seal if it cannot be sealed again', async () => {
    await (await open()).move('keyring');
    Object.assign(sealer, { renewed: true, refuses: 'there is no keyring' });
    expect((await open()).sealedKeyPem).toBe(PEM);
  });

  test('is sealed again when the keyring has a new key', async () => {
    await (await open()).move('keyring');
    sealer.renewed = true;
    expect((await open()).sealedKeyPem).toBe(PEM);
    expect(sealer.sealed).toBe(2);
  });

  test('in both places counts as the one in its file, with a warning, and can be sealed again', async () => {
    writeFileSync(join(directory, 'root-key.sealed'), 'left behind');
    const vault = await open();
    expect([vault.storage(), warnings]).toEqual([
      'file',
      ['The root has a key in its file and a sealed one; the one in its file is used.'],
    ]);
    await vault.move('keyring');
    expect((await open()).sealedKeyPem).toBe(PEM);
  });
});

describe('the root’s key stays in its file', () => {
  test.each<[why: string, prepare: () => FakeSealer | null, message: RegExp]>([
    ['in plain Node', () => null, /stays in its file: Only the desktop app can seal it/],
    [
      'in a session without a keyring',
      () => Object.assign(sealer, { refuses: 'This session has no keyring.' }),
      /stays in its file: This session has no keyring\.$/,
    ],
    ['when the keyring is locked', () => Object.assign(sealer, { locked: true }), /\(the keyring is locked\)\.$/],
    ['when it could not be opened again', () => Object.assign(sealer, { forgetful: true }), /returned different data/],
  ])('%s', async (_why, prepare, message) => {
    const vault = await open(prepare());
    await expect(vault.move('keyring')).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(message) as string,
    });
    expect([vault.storage(), files()]).toEqual(['file', ['root-key.pem']]);
  });

  test('and the description contains the reason', async () => {
    sealer.refuses = 'This session has no keyring.';
    expect((await open()).describe()).toMatchObject({
      sealable: false,
      message: expect.stringMatching(/only its owner can read\. This session has no keyring\.$/) as string,
    });
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
    [
      'it was sealed elsewhere',
      () => writeFileSync(join(directory, 'root-key.sealed'), 'foreign'),
      'this was not sealed here',
    ],
  ])('stays unchanged when %s', async (_why, spoil, reason) => {
    spoil();
    const before = readFileSync(join(directory, 'root-key.sealed'));
    await expect(open()).rejects.toThrow(reason);
    expect(readFileSync(join(directory, 'root-key.sealed'))).toEqual(before);
    expect(existsSync(join(directory, 'root-key.pem'))).toBe(false);
  });
});
