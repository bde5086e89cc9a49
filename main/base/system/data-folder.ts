import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  chmodSync,
  lstatSync,
  rmSync,
} from 'node:fs';
import { dirname, resolve, join } from 'node:path';
import { conflict, unavailable, VivariumError } from '../../contract/errors.ts';
import { RUNTIME_FILE } from '../config.ts';
import { codeOf, reasonOf } from '../error-code.ts';
import { isTrustedOwner, OWNER_ONLY } from './files.ts';
import type { Log } from '../log.ts';

/** The files that Vivarium creates in its data folder. */
export const DATABASE_FILE = 'vivarium.db';
export const LOCK_FILE = 'vivarium.lock';
/** The desktop app's own data: window position, and Chromium's files. */
export const DESKTOP_FOLDER = 'desktop';
export const LOGS_FOLDER = 'logs';
/** Where a restored backup is unpacked before it replaces the folder's content. */
export const RESTORE_FOLDER = 'restore';
export const SNAPSHOT_FOLDER = 'snapshots';
/** What `vivarium examine` has found, with the requests of each run. */
export const EXAMINATIONS_FOLDER = 'examinations';
/** Roots of the connections to providers' emulated APIs, while Vivarium runs; and the connections that outlast it. */
export const PROVIDERS_FOLDER = 'providers';
export const PROVIDER_CONNECTIONS_FILE = 'provider-connections.json';
const OWN_FILES = [
  DATABASE_FILE,
  `${DATABASE_FILE}-wal`,
  `${DATABASE_FILE}-shm`,
  LOCK_FILE,
  RUNTIME_FILE,
  'control-token',
  'demo-key.json',
  PROVIDER_CONNECTIONS_FILE,
];
const OWN_FOLDERS = [
  DESKTOP_FOLDER,
  LOGS_FOLDER,
  RESTORE_FOLDER,
  SNAPSHOT_FOLDER,
  EXAMINATIONS_FOLDER,
  PROVIDERS_FOLDER,
  'backups',
  'ca',
];
const OWN_NAMES: ReadonlySet<string> = new Set([...OWN_FILES, ...OWN_FOLDERS]);

/** Files that file managers and file systems add to folders. */
const IGNORED_NAMES: ReadonlySet<string> = new Set(['.DS_Store', 'desktop.ini', 'Thumbs.db', 'lost+found']);

/**
 * Ensures that `directory` exists, is writable, and contains no foreign files. Returns true if it was created.
 * @throws VivariumError with one line that names the folder and the remedy.
 */
export function prepareDataFolder(directory: string): boolean {
  let isNew: boolean;
  if (statSync(directory, { throwIfNoEntry: false })?.isFile() === true) {
    throw unavailable(`The data folder ${directory} is a file; choose a folder with --data-dir.`);
  }
  try {
    isNew = makeFolder(directory);
    accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw unavailable(
      `The data folder ${directory} can't be written (${reasonOf(error)}); choose another one with --data-dir.`,
      { cause: error },
    );
  }
  refuseOwner(directory);
  refuseForeign(directory);
  return isNew;
}

/** Creates the folder and its parents; false if it existed. Node's recursive mkdir never returns below /proc. */
function makeFolder(directory: string): boolean {
  const path = resolve(directory);
  if (existsSync(path)) return false;
  if (dirname(path) !== path) makeFolder(dirname(path));
  mkdirSync(path, { mode: 0o700 });
  return true;
}

/**
 * Another user could replace every file in it, including the token and the root. Not checked for the administrator,
 * because containers mount their users' folders.
 */
function refuseOwner(directory: string): void {
  if (process.getuid?.() === 0 || isTrustedOwner(statSync(directory))) return;
  throw conflict(
    `The data folder ${directory} belongs to another user of this machine; choose one of yours with --data-dir.`,
  );
}

const FOLDER_MODE = 0o700;

/** A folder whose own code sets its modes. */
const ROOT_FOLDER = 'ca';

/**
 * Leftovers of an interrupted start: the temporary files of `writeFileAtomically`, and of new files in the root's
 * folder.
 */
const LEFTOVER = /^\.[0-9a-f]{12}\.tmp$|\.[0-9a-f]{12}\.new$/;

/** Removes the files of interrupted starts; only for the holder of the folder's lock. */
export function removeLeftovers(directory: string): void {
  for (const folder of [directory, join(directory, ROOT_FOLDER)]) {
    if (!existsSync(folder)) continue;
    for (const name of readdirSync(folder)) if (LEFTOVER.test(name)) rmSync(join(folder, name), { force: true });
  }
}

/** Removes what Vivarium creates in its data folder, except the lock; only for the holder of the lock. */
export function emptyDataFolder(directory: string): void {
  for (const name of OWN_NAMES) {
    if (name !== LOCK_FILE) rmSync(join(directory, name), { recursive: true, force: true });
  }
}

/** Removes others' access to the folder and to Vivarium's files in it, with a warning for each. */
export function tightenDataFolder(directory: string, log: Log): void {
  // Windows uses access lists, which protect folders in the user's profile by default.
  if (process.platform === 'win32') return;
  tighten(directory, log);
  for (const name of readdirSync(directory)) {
    if (!OWN_NAMES.has(name) || name === ROOT_FOLDER) continue;
    const path = join(directory, name);
    // Chromium sets the modes in its own folder.
    if (!tighten(path, log) || name === DESKTOP_FOLDER) continue;
    for (const inside of readdirSync(path)) tighten(join(path, inside), log);
  }
}

/** Returns whether `path` is a folder. */
function tighten(path: string, log: Log): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined || (!stats.isFile() && !stats.isDirectory())) return false;
  const mode = stats.mode & 0o777;
  const wanted = mode & (stats.isDirectory() ? FOLDER_MODE : OWNER_ONLY);
  if (wanted !== mode) {
    const [found, now] = [mode, wanted].map((each) => each.toString(8).padStart(4, '0'));
    try {
      chmodSync(path, wanted);
      log.warn('A file of Vivarium was open to others; its mode has been tightened.', { path, found, now });
    } catch (error) {
      log.warn('A file of Vivarium is open to others, and its mode cannot be tightened.', { path, found, error });
    }
  }
  return stats.isDirectory();
}

function refuseForeign(directory: string): void {
  for (const name of OWN_NAMES) {
    const path = join(directory, name);
    const found = statSync(path, { throwIfNoEntry: false });
    const [is, keeps] = OWN_FILES.includes(name) ? ['folder', 'file'] : ['file', 'folder'];
    if (found?.isDirectory() !== (is === 'folder')) continue;
    throw conflict(`${path} is a ${is}, but Vivarium keeps a ${keeps} there; move it away.`);
  }
  const names = readdirSync(directory);
  if (names.includes(DATABASE_FILE)) return;
  const foreign = names.find((name) => !OWN_NAMES.has(name) && !IGNORED_NAMES.has(name) && !name.endsWith('.tmp'));
  if (foreign === undefined) return;
  throw conflict(
    `The data folder ${directory} holds files that are not Vivarium's ("${foreign}"); choose an empty one with --data-dir.`,
  );
}

/**
 * A write that failed for lack of space names no path: names the folder, and the fix. Returns other errors
 * unchanged.
 */
export function explainFullDisk(error: unknown, dataDir: string): unknown {
  if (error instanceof VivariumError || !/^(ENOSPC|EDQUOT)$/.test(codeOf(error) ?? '')) return error;
  const message = `The disk that holds ${dataDir} is full. Free some space on it, then start Vivarium again.`;
  return unavailable(message, { cause: error });
}
