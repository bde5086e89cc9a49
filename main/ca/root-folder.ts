import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { OWNER_ONLY } from '../base/system/files.ts';
import { silentLog, type Log } from '../base/log.ts';
import type { Sealer } from '../base/system/desktop.ts';
import { createTurns } from '../base/turns.ts';
import { unavailable } from '../contract/errors.ts';
import { createFile, openFolder, readOwnBytes, readOwnFile, replaceFile } from './stores/owned-files.ts';
import { messageOf } from '../base/error-code.ts';
import { createPrivateKey } from 'node:crypto';
import { hostname, userInfo } from 'node:os';
import type { AdjustableClock } from '../base/clock.ts';
import { DAY_MS } from '../contract/duration.ts';
import { isP256 } from './certificate.ts';
import { createRoot, openRoot, rootError, type Root } from './root.ts';

export const ROOT_CERTIFICATE_FILE = 'root.pem';
export const ROOT_KEY_FILE = 'root-key.pem';

/** The certificate is public: others may read it, only its owner may replace it. */
export const CERTIFICATE_MODE = 0o644;

/** Warn when the root ends sooner than this: leaves would then be shorter than their 90 days. */
const ROOT_ENDING_MS = 90 * DAY_MS;

/** Two PEM texts of a P-256 root take 2 kB; a much larger file is something else. */
export const ROOT_FILE_BYTES_MAX = 65_536;

export interface LoadOrCreateRootOptions {
  /** The folder of the root's two files, `DIR/ca`; created with mode 0700 if missing. */
  directory: string;
  /** The root's validity is in real time, which requires both readings. */
  clock: Pick<AdjustableClock, 'state'>;
  log?: Log;
  /** The root's private key when it is sealed, instead of in its file. */
  sealedKeyPem?: string | null;
  /** For a new root: user and machine, `user@host` by default; displayed in lists of trusted authorities. */
  owner?: string;
  /** For a new root: the DNS suffixes it permits. */
  suffixes?: readonly string[];
}

/**
 * Opens the root in `directory`, or creates one. Never overwrites files; tightens modes that are too open, with a
 * warning. A key without a certificate, from an interrupted first start, gets a new certificate. @throws VivariumError
 * unavailable, with the file and the fix, when a file cannot be read or written, the key is missing or does not match,
 * or the root has expired.
 */
export function loadOrCreateRoot(options: LoadOrCreateRootOptions): Root {
  const { directory, log = silentLog } = options;
  const realNowMs = options.clock.state().realNow;
  const certificateFile = join(directory, ROOT_CERTIFICATE_FILE);
  const keyFile = join(directory, ROOT_KEY_FILE);
  openFolder(directory, log);
  const certificatePem = readOwnFile(certificateFile, { mode: CERTIFICATE_MODE, bytesMax: ROOT_FILE_BYTES_MAX, log });
  const privateKeyPem =
    options.sealedKeyPem ?? readOwnFile(keyFile, { mode: OWNER_ONLY, bytesMax: ROOT_FILE_BYTES_MAX, log });

  if (certificatePem === null) return createInFolder(options, privateKeyPem, realNowMs);
  if (privateKeyPem === null) throw rootError(`${keyFile}, the private key of ${certificateFile}, is missing.`);
  const names = { certificateName: certificateFile, privateKeyName: keyFile };
  const root = openRoot({ certificatePem, privateKeyPem, ...names });
  checkDates(root, certificateFile, realNowMs, log);
  return root;
}

function createInFolder(options: LoadOrCreateRootOptions, oldKeyPem: string | null, realNowMs: number): Root {
  const { directory, suffixes, log = silentLog } = options;
  const keyFile = join(directory, ROOT_KEY_FILE);
  const owner = options.owner ?? defaultOwner();
  const root = createRoot({ realNowMs, owner, suffixes, privateKey: oldKeyPem === null ? undefined : readKey() });
  // The key first: after an interruption, the next start creates a certificate for it. A certificate without its key
  // would be useless.
  if (oldKeyPem === null) createFile(keyFile, root.privateKey.export({ type: 'pkcs8', format: 'pem' }), OWNER_ONLY);
  else log.warn('The root key had no certificate; a new one was made for it.', { file: keyFile });
  createFile(join(directory, ROOT_CERTIFICATE_FILE), root.certificatePem, CERTIFICATE_MODE);
  log.info('A root was created.', { directory, fingerprint: root.fingerprint });
  return root;

  function readKey() {
    try {
      const key = createPrivateKey(oldKeyPem ?? '');
      if (isP256(key)) return key;
    } catch (cause) {
      throw rootError(`${keyFile} holds no private key.`, cause);
    }
    throw rootError(`${keyFile} is not a P-256 key.`);
  }
}

function checkDates(root: Root, file: string, realNowMs: number, log: Log): void {
  const until = new Date(root.notAfterMs).toISOString();
  if (realNowMs >= root.notAfterMs) throw rootError(`The root in ${file} expired at ${until}.`);
  if (realNowMs < root.notBeforeMs) {
    log.warn('The root is not valid yet: this machine’s clock is behind the moment the root was made.', { file });
  } else if (root.notAfterMs - realNowMs < ROOT_ENDING_MS) {
    log.warn('The root ends soon; move its two files away to get a new one at the next start.', { file, until });
  }
}

function defaultOwner(): string {
  try {
    return `${userInfo().username}@${hostname()}`;
  } catch {
    // The user id has no entry in the user database, as in some containers.
    return hostname();
  }
}

export const SEALED_KEY_FILE = 'root-key.sealed';

export type KeyStorage = 'file' | 'keyring';

export interface KeyVaultOptions {
  /** The root's folder, `DIR/ca`. */
  directory: string;
  /** The keyring; null in plain Node. */
  sealer: Sealer | null;
  log?: Log;
}

/**
 * Locates the root's private key, which is in a file that only its owner can read, or sealed with the system's keyring,
 * and unseals it. If an interrupted move left both, the file wins. @throws VivariumError
 * unavailable when it cannot be unsealed here; the message names what could.
 */
export async function openKeyVault({ directory, sealer, log = silentLog }: KeyVaultOptions) {
  const keyFile = join(directory, ROOT_KEY_FILE);
  const sealedFile = join(directory, SEALED_KEY_FILE);
  openFolder(directory, log);
  const isSealed = existsSync(sealedFile) && !existsSync(keyFile);
  if (!isSealed && existsSync(sealedFile)) {
    log.warn('The root has a key in its file and a sealed one; the one in its file is used.', { keyFile, sealedFile });
  }
  const sealed = isSealed ? read(sealedFile, log) : null;
  const sealedKeyPem = sealed === null ? null : await openSealed(sealed, sealedFile, sealer, log);
  let storage: KeyStorage = sealedKeyPem === null ? 'file' : 'keyring';
  const moves = createTurns(1);

  async function move(to: KeyStorage): Promise<void> {
    if (to === storage) return;
    if (to === 'keyring') {
      await sealInto(sealedFile, keyFile, sealer, log);
      rmSync(keyFile);
    } else {
      const pem = await openSealed(read(sealedFile, log), sealedFile, sealer, log);
      createFile(keyFile, pem, OWNER_ONLY);
      rmSync(sealedFile);
    }
    storage = to;
    log.info('The root key has been moved.', { to });
  }

  return {
    /** The unsealed key; null when it is in its file or does not exist yet. */
    sealedKeyPem,
    storage: () => storage,
    /** The key's location and its consequences, and whether it can be sealed, in sentences. */
    describe() {
      const refusal = refusalOf(sealer);
      const message =
        storage === 'keyring'
          ? 'Sealed with this system’s keyring; only the desktop app opens it.'
          : `In \`${keyFile}\`, which only its owner can read.`;
      return { storage, sealable: refusal === null, message: refusal === null ? message : `${message} ${refusal}` };
    },
    /**
     * Moves the key. When this resolves, it is in its new location only. @throws VivariumError unavailable when it
     * cannot be sealed here or a file cannot be written, with nothing changed.
     */
    move: (to: KeyStorage): Promise<void> => moves.enqueue(() => move(to)),
  };
}

const refusalOf = (sealer: Sealer | null): string | null =>
  sealer === null ? 'Only the desktop app can seal it with the system’s keyring.' : sealer.refusal();

async function sealInto(sealedFile: string, keyFile: string, sealer: Sealer | null, log: Log): Promise<void> {
  const refusal = refusalOf(sealer);
  if (sealer === null || refusal !== null) throw unavailable(`The root’s key stays in its file: ${refusal ?? ''}`);
  const pem = read(keyFile, log).toString('utf8');
  const sealed = await attempt(async () => {
    const bytes = await sealer.seal(pem);
    // Deleting the file before a test of the sealed copy could lose the key.
    if ((await sealer.open(bytes)).text !== pem) throw new Error('the keyring returned different data');
    return bytes;
  }, 'The root’s key could not be sealed, and stays in its file');
  replace(sealedFile, sealed);
}

function read(file: string, log: Log): Buffer {
  const bytes = readOwnBytes(file, { mode: OWNER_ONLY, bytesMax: ROOT_FILE_BYTES_MAX, log });
  if (bytes === null) throw unavailable(`${file}, the root’s private key, is gone.`);
  return bytes;
}

const replace = (file: string, content: Uint8Array): void =>
  replaceFile(file, content, OWNER_ONLY, 'written; use a folder that your user owns, on a disk with free space');

async function openSealed(sealed: Uint8Array, file: string, sealer: Sealer | null, log: Log): Promise<string> {
  if (sealer === null) {
    throw unavailable(
      `The root’s private key (${file}) is sealed with this system’s keyring, which only the desktop app can open. ` +
        'Start the desktop app instead, or set caKey to "file" there; or choose another data folder.',
    );
  }
  const { text, outdated } = await attempt(
    () => sealer.open(sealed),
    `The root’s private key (${file}) could not be opened with this system’s keyring. Unlock the keyring, and start as the ` +
      'user and on the machine that sealed it; or move the folder of the root away to get a new one, which browsers ' +
      'must then trust',
  );
  if (outdated) {
    try {
      replace(file, await sealer.seal(text));
      log.info('The root key was sealed again, because the keyring has a new key.', { file });
    } catch (error) {
      log.warn('The root key could not be sealed again, and keeps its older seal.', { file, error });
    }
  }
  return text;
}

async function attempt<Value>(action: () => Promise<Value>, fault: string): Promise<Value> {
  try {
    return await action();
  } catch (cause) {
    const reason = messageOf(cause);
    throw unavailable(`${fault} (${reason}).`, { cause });
  }
}
