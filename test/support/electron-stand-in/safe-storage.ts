import type { SafeStorage } from 'electron';
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { ownApp, requireReady } from './app.ts';
import { strictly } from './strict.ts';

/** The keyring of the session that the test makes up: a file with its key. Without one there is `basic_text` only. */
const KEYRING = process.env['ELECTRON_STAND_IN_KEYRING'];

const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Where there is no keyring, Chromium's key is a constant. */
function key(): Buffer {
  if (KEYRING === undefined) return Buffer.alloc(32, 'peanuts');
  if (!existsSync(KEYRING)) writeFileSync(KEYRING, randomBytes(32), { mode: 0o600 });
  return readFileSync(KEYRING);
}

export const safeStorage = strictly('safeStorage', {
  getSelectedStorageBackend: () =>
    !ownApp.isReady() ? 'unknown' : KEYRING === undefined ? 'basic_text' : 'gnome_libsecret',
  isAsyncEncryptionAvailable() {
    requireReady('safeStorage');
    return Promise.resolve(true);
  },
  encryptStringAsync(plainText) {
    requireReady('safeStorage');
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, key(), iv);
    const sealed = Buffer.concat([cipher.update(plainText, 'utf8'), cipher.final()]);
    return Promise.resolve(Buffer.concat([iv, cipher.getAuthTag(), sealed]));
  },
  async decryptStringAsync(encrypted) {
    requireReady('safeStorage');
    const decipher = createDecipheriv(CIPHER, key(), encrypted.subarray(0, IV_BYTES));
    decipher.setAuthTag(encrypted.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
    const opened = [decipher.update(encrypted.subarray(IV_BYTES + TAG_BYTES)), decipher.final()];
    return { result: Buffer.concat(opened).toString('utf8'), shouldReEncrypt: false };
  },
} satisfies Partial<SafeStorage>);
