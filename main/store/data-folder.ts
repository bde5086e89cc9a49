import { accessSync, constants, existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import Database from 'better-sqlite3';
import { RUNTIME_FILE } from '../base/config.ts';
import { VivariumError } from '../contract/errors.ts';

/** What Vivarium puts into its data folder. */
export const DATABASE_FILE = 'vivarium.db';
const LOCK_FILE = 'vivarium.lock';
const OWN_NAMES: ReadonlySet<string> = new Set([
  DATABASE_FILE,
  `${DATABASE_FILE}-wal`,
  `${DATABASE_FILE}-shm`,
  LOCK_FILE,
  RUNTIME_FILE,
  'backups',
  'ca',
  'control-token',
  'demo-key.json',
  'logs',
]);

/** What file managers and file systems leave in folders. */
const IGNORED_NAMES: ReadonlySet<string> = new Set(['.DS_Store', 'desktop.ini', 'Thumbs.db', 'lost+found']);

export interface FolderLock {
  /** Lets others have the folder. With `leaveNothing`, what the claim made is removed: the lock file, and a new, empty folder. */
  release(options?: { leaveNothing: boolean }): void;
}

/**
 * Makes sure that `directory` exists, is ours to write, and is used by nobody else, and holds it until `release`.
 *
 * The lock is SQLite's own lock on a small file: the system drops it when the process ends, however it ends, so that
 * no stale lock is left behind and no process number has to be believed.
 * @throws VivariumError with one line that names the folder and what to do.
 */
export function claimDataFolder(directory: string): FolderLock {
  let isNew: boolean;
  try {
    isNew = makeFolder(directory);
    accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new VivariumError(
      'unavailable',
      `The data folder ${directory} can't be written (${codeOf(error)}); choose another one with --data-dir.`,
      { cause: error },
    );
  }
  refuseForeign(directory);
  const hadLock = existsSync(join(directory, LOCK_FILE));
  const held = lock(directory);
  return {
    release({ leaveNothing } = { leaveNothing: false }) {
      held.close();
      if (!leaveNothing) return;
      if (!hadLock) rmSync(join(directory, LOCK_FILE), { force: true });
      if (isNew && readdirSync(directory).length === 0) rmdirSync(directory);
    },
  };
}

/** Makes the folder and those above it; false when it was there. Node's own recursion never ends below /proc. */
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

function lock(directory: string): Database.Database {
  const path = join(directory, LOCK_FILE);
  let database: Database.Database | undefined;
  try {
    database = new Database(path, { timeout: 0 });
    database.pragma('journal_mode = MEMORY');
    database.exec('BEGIN EXCLUSIVE');
    return database;
  } catch (error) {
    database?.close();
    if (codeOf(error).startsWith('SQLITE_BUSY')) throw inUse(directory);
    throw new VivariumError(
      'unavailable',
      `The lock file ${path} can't be used (${codeOf(error)}); check its permissions, or choose another folder with --data-dir.`,
      { cause: error },
    );
  }
}

function inUse(directory: string): VivariumError {
  let who = '';
  try {
    const runtime = JSON.parse(readFileSync(join(directory, RUNTIME_FILE), 'utf8')) as {
      pid?: unknown;
      control?: { url?: unknown };
    };
    who = ` (process ${String(runtime.pid)}, ${String(runtime.control?.url)})`;
  } catch {
    // It is starting or stopping just now; the lock is fact enough.
  }
  return new VivariumError(
    'conflict',
    `Vivarium is already running on the data folder ${directory}${who}; stop it, or start with another --data-dir.`,
  );
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : String(error);
