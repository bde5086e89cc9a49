import { accessSync, constants, existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { VivariumError } from '../contract/errors.ts';
import { RUNTIME_FILE } from './config.ts';
import { codeOf } from './error-code.ts';

/** The files that Vivarium creates in its data folder. */
export const DATABASE_FILE = 'vivarium.db';
export const LOCK_FILE = 'vivarium.lock';
/** The desktop app's own data: window position, and Chromium's files. */
export const DESKTOP_FOLDER = 'desktop';
export const LOGS_FOLDER = 'logs';
/** Where a restored backup is unpacked before it replaces the folder's content. */
export const RESTORE_FOLDER = 'restore';
const OWN_NAMES: ReadonlySet<string> = new Set([
  DATABASE_FILE,
  `${DATABASE_FILE}-wal`,
  `${DATABASE_FILE}-shm`,
  LOCK_FILE,
  RUNTIME_FILE,
  DESKTOP_FOLDER,
  LOGS_FOLDER,
  RESTORE_FOLDER,
  'backups',
  'ca',
  'control-token',
  'demo-key.json',
]);

/** Files that file managers and file systems add to folders. */
const IGNORED_NAMES: ReadonlySet<string> = new Set(['.DS_Store', 'desktop.ini', 'Thumbs.db', 'lost+found']);

/**
 * Ensures that `directory` exists, is writable, and contains no foreign files. Returns true if it was created.
 * @throws VivariumError with one line that names the folder and the remedy.
 */
export function prepareDataFolder(directory: string): boolean {
  let isNew: boolean;
  if (statSync(directory, { throwIfNoEntry: false })?.isFile() === true) {
    throw new VivariumError('unavailable', `The data folder ${directory} is a file; choose a folder with --data-dir.`);
  }
  try {
    isNew = makeFolder(directory);
    accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const reason = codeOf(error) ?? String(error);
    throw new VivariumError(
      'unavailable',
      `The data folder ${directory} can't be written (${reason}); choose another one with --data-dir.`,
      { cause: error },
    );
  }
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

function refuseForeign(directory: string): void {
  const names = readdirSync(directory);
  if (names.includes(DATABASE_FILE)) return;
  const foreign = names.find((name) => !OWN_NAMES.has(name) && !IGNORED_NAMES.has(name) && !name.endsWith('.tmp'));
  if (foreign === undefined) return;
  throw new VivariumError(
    'conflict',
    `The data folder ${directory} holds files that are not Vivarium's ("${foreign}"); choose an empty one with --data-dir.`,
  );
}
