import { createPrivateKey } from 'node:crypto';
import { hostname, userInfo } from 'node:os';
import { join } from 'node:path';
import type { AdjustableClock } from '../base/clock.ts';
import { DAY_MS } from '../contract/duration.ts';
import { OWNER_ONLY } from '../base/system/files.ts';
import { silentLog, type Log } from '../base/log.ts';
import { createFile, openFolder, readOwnFile } from './stores/owned-files.ts';
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
