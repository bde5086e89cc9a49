import type { SafeStorage } from 'electron';
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { requireReady } from './app.ts';
import { strictly } from './strict.ts';

/**
 * The keyring of the test's imaginary session: a file with its key. Without one, or if it is locked (the file is a
 * folder), Chromium encrypts with a constant, and shows it only by its tag.
 */
const KEYRING = process.env['ELECTRON_STAND_IN_KEYRING'];
const TAGS = { constant: 'v10', keyring: 'v11' };
const TAG_LENGTH = TAGS.constant.length;

const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

const isOpen = (): boolean => KEYRING !== undefined && !statSync(KEYRING, { throwIfNoEntry: false })?.isDirectory();

function key(tag: string): Buffer {
  if (tag === TAGS.constant) return Buffer.alloc(32, 'peanuts');
  if (KEYRING === undefined || !isOpen()) throw new Error('The encryption key is temporarily unavailable.');
  if (!existsSync(KEYRING)) writeFileSync(KEYRING, randomBytes(32), { mode: 0o600 });
  return readFileSync(KEYRING);
}

export const safeStorage = strictly('safeStorage', {
  encryptStringAsync(plainText) {
    requireReady('safeStorage');
    const tag = isOpen() ? TAGS.keyring : TAGS.constant;
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, key(tag), iv);
    const sealed = Buffer.concat([cipher.update(plainText, 'utf8'), cipher.final()]);
    return Promise.resolve(Buffer.concat([Buffer.from(tag), iv, cipher.getAuthTag(), sealed]));
  },
  async decryptStringAsync(encrypted) {
    requireReady('safeStorage');
    const tag = encrypted.toString('latin1', 0, TAG_LENGTH);
    const rest = encrypted.subarray(TAG_LENGTH);
    const decipher = createDecipheriv(CIPHER, key(tag), rest.subarray(0, IV_BYTES));
    decipher.setAuthTag(rest.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
    const opened = [decipher.update(rest.subarray(IV_BYTES + TAG_BYTES)), decipher.final()];
    return { result: Buffer.concat(opened).toString('utf8'), shouldReEncrypt: false };
  },
} satisfies Partial<SafeStorage>);
