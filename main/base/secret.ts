import { hash, randomBytes } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { isTrustedOwner, OWNER_ONLY, writeFileAtomically } from './system/files.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

export const API_KEY_PREFIX = 'viv_';
export const API_KEY_PATTERN = /^viv_[0-9A-Za-z]{32}$/;

type RandomSource = (octets: number) => Uint8Array;

/**
 * `length` characters of 0–9, A–Z, a–z, drawn uniformly from a random source: the system's, unless another is given.
 */
export function randomBase62(length: number, source: RandomSource = randomBytes): string {
  let text = '';
  while (text.length < length) {
    for (const byte of source(length * 2)) {
      // 248 is the largest multiple of 62 in a byte; higher values would bias towards the first letters.
      if (byte < 248 && text.length < length) text += BASE62[byte % 62];
    }
  }
  return text;
}

/** The source of identifiers and API keys; the control port's token and the CA never use it. */
let identifierSource: RandomSource = randomBytes;

/**
 * From now on, the identifiers and API keys of this process depend on `seed` and their order only: for rehearsals,
 * whose engine has a separate process and stores nothing.
 */
export function seedIdentifiers(seed: number): void {
  let drawn = 0;
  identifierSource = (octets) => {
    const blocks = Math.ceil(octets / SHA256_OCTETS);
    return Buffer.concat(
      Array.from({ length: blocks }, () => hash('sha256', `vivarium identifiers ${seed} ${drawn++}`, 'buffer')),
    ).subarray(0, octets);
  };
}

const SHA256_OCTETS = 32;

/** A new API key secret: `viv_` and 32 base62 characters, about 190 bits. */
export const createApiKeySecret = (): string => API_KEY_PREFIX + randomBase62(32, identifierSource);

/** SHA-256 in hex, the stored form of a secret. Needs no salt, because secrets are long and random. */
export const hashSecret = (secret: string): string => hash('sha256', secret, 'hex');

/** A new secret for HMAC-SHA-256, of the length of its output (RFC 8945 §8), in base64. */
export const createUpdateKey = (): string => randomBytes(32).toString('base64');

/**
 * A new HMAC key for external account binding (RFC 8555 §7.3.4): 33 octets in base64url, without the `-` that the
 * command lines of ACME clients would read as the start of an option.
 */
export const createExternalKeySecret = (): string => randomBase62(44);

/** A new identifier such as `prj_3fQ…`: a prefix for its type, and 16 base62 characters. */
export const createId = (kind: 'prj' | 'key' | 'dep' | 'rec' | 'imp' | 'run' | 'brk' | 'vivarium'): string =>
  `${kind}_${randomBase62(16, identifierSource)}`;

/**
 * Returns new identifiers that differ in their last three characters only, up to 238,328 of them. Rows stored together
 * are then adjacent in an index of such identifiers; at random places, each would cost a page.
 */
export function createIdSeries(kind: 'rec'): () => string {
  const shared = `${kind}_${randomBase62(16 - SERIAL_LENGTH, identifierSource)}`;
  let count = 0;
  return () => {
    if (count === BASE62.length ** SERIAL_LENGTH) throw new RangeError('The series has no more identifiers.');
    let serial = '';
    for (let rest = count++; serial.length < SERIAL_LENGTH; rest = Math.floor(rest / BASE62.length))
      serial = (BASE62[rest % BASE62.length] ?? '') + serial;
    return shared + serial;
  };
}

const SERIAL_LENGTH = 3;

/**
 * Loads the token of the control port from `file` (mode 0600), which lets an open page reconnect after a restart.
 * Creates a new one if the file is missing or invalid, or belongs to another user.
 */
export function loadControlToken(file: string): string {
  const stats = statSync(file, { throwIfNoEntry: false });
  const isSecret = stats !== undefined && isTrustedOwner(stats);
  const kept = isSecret ? readFileSync(file, 'utf8').trim() : '';
  if (/^[0-9A-Za-z]{43}$/.test(kept)) return kept;
  return renewControlToken(file);
}

export function renewControlToken(file: string): string {
  const token = randomBase62(43);
  writeFileAtomically(file, `${token}\n`, OWNER_ONLY);
  return token;
}
