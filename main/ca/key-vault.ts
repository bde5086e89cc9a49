import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { OWNER_ONLY, writeFileAtomically } from '../base/files.ts';
import { silentLog, type Log } from '../base/log.ts';
import type { Sealer } from '../base/sealer.ts';
import { VivariumError } from '../contract/errors.ts';
import { createFile, openFolder, readOwnBytes } from './owned-files.ts';
import { ROOT_FILE_BYTES_MAX, ROOT_KEY_FILE } from './root-folder.ts';

export const SEALED_KEY_FILE = 'root-key.sealed';

export type KeyStorage = 'file' | 'keyring';

export interface KeyVaultOptions {
  /** The folder of the root, `DIR/ca`. */
  directory: string;
  /** Null in plain Node. */
  sealer: Sealer | null;
  log?: Log;
}

/** Where the root's private key is kept: in a file that its owner alone reads, or sealed with the system's keyring. */
export interface KeyVault {
  /** The key that was sealed, opened; null when it is in its file, or there is none yet. */
  readonly sealedKeyPem: string | null;
  storage(): KeyStorage;
  /** Where it is and what that means, and whether it could be sealed, in sentences. */
  describe(): { storage: KeyStorage; sealable: boolean; message: string };
  /**
   * Moves the key. When this resolves it is where it should be, and nowhere else.
   * @throws VivariumError unavailable when it cannot be sealed here, or a file cannot be written; nothing has changed then.
   */
  move(to: KeyStorage): Promise<void>;
}

/**
 * Looks where the root's key is, and opens it when it is sealed. Where both are, as an interrupted move leaves them, the one
 * in its file counts.
 * @throws VivariumError unavailable when it is sealed and cannot be opened here; the message says by what it could be.
 */
export async function openKeyVault({ directory, sealer, log = silentLog }: KeyVaultOptions): Promise<KeyVault> {
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
  let moving: Promise<void> = Promise.resolve();

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
    sealedKeyPem,
    storage: () => storage,
    describe() {
      const refusal = refusalOf(sealer);
      const message =
        storage === 'keyring'
          ? 'The private key is sealed with this system’s keyring; only the desktop app opens it.'
          : `The private key is in ${keyFile}, which only its owner reads.`;
      return { storage, sealable: refusal === null, message: refusal === null ? message : `${message} ${refusal}` };
    },
    move(to) {
      const turn = moving.then(() => move(to));
      moving = turn.catch(() => undefined);
      return turn;
    },
  };
}

const refusalOf = (sealer: Sealer | null): string | null =>
  sealer === null ? 'Only the desktop app can seal it with the system’s keyring.' : sealer.refusal();

async function sealInto(sealedFile: string, keyFile: string, sealer: Sealer | null, log: Log): Promise<void> {
  const refusal = refusalOf(sealer);
  if (sealer === null || refusal !== null) {
    throw new VivariumError('unavailable', `The root’s key stays in its file: ${refusal ?? ''}`);
  }
  const pem = read(keyFile, log).toString('utf8');
  const sealed = await attempt(async () => {
    const bytes = await sealer.seal(pem);
    // What could not be opened again would be lost with its file.
    if ((await sealer.open(bytes)).text !== pem) throw new Error('the keyring gives back something else');
    return bytes;
  }, 'The root’s key could not be sealed, and stays in its file');
  replace(sealedFile, sealed);
}

function read(file: string, log: Log): Buffer {
  const bytes = readOwnBytes(file, { mode: OWNER_ONLY, bytesMax: ROOT_FILE_BYTES_MAX, log });
  if (bytes === null) throw new VivariumError('unavailable', `${file}, the root’s private key, is gone.`);
  return bytes;
}

function replace(file: string, content: Uint8Array): void {
  try {
    writeFileAtomically(file, content, OWNER_ONLY);
  } catch (cause) {
    const fix = 'make its folder one that your user owns, on a disk with room';
    throw new VivariumError('unavailable', `${file} could not be written; ${fix}.`, { cause });
  }
}

async function openSealed(sealed: Uint8Array, file: string, sealer: Sealer | null, log: Log): Promise<string> {
  if (sealer === null) {
    throw new VivariumError(
      'unavailable',
      `The root’s private key (${file}) is sealed with this system’s keyring, which only the desktop app can open. ` +
        'Start the desktop app instead, or set caKey to "file" there; or choose another data folder.',
    );
  }
  const { text, outdated } = await attempt(
    () => sealer.open(sealed),
    `The root’s private key (${file}) could not be opened with this system’s keyring. Unlock the keyring, and start as the ` +
      'user and on the machine that sealed it; or move the folder of the root away to get a new one, which browsers have to ' +
      'be told to trust',
  );
  if (outdated) {
    const again = await attempt(() => sealer.seal(text), `${file} could not be sealed again`);
    replace(file, again);
    log.info('The root key was sealed again, because the keyring has a new key.', { file });
  }
  return text;
}

async function attempt<Value>(action: () => Promise<Value>, fault: string): Promise<Value> {
  try {
    return await action();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new VivariumError('unavailable', `${fault} (${reason}).`, { cause });
  }
}
