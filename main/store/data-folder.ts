import { existsSync, readdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { RUNTIME_FILE } from '../base/config.ts';
import { LOCK_FILE, prepareDataFolder } from '../base/data-folder.ts';
import { codeOf } from '../base/error-code.ts';
import { VivariumError } from '../contract/errors.ts';

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
  const isNew = prepareDataFolder(directory);
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
    if (codeOf(error)?.startsWith('SQLITE_BUSY') === true) throw inUse(directory);
    throw new VivariumError(
      'unavailable',
      `The lock file ${path} can't be used (${codeOf(error) ?? String(error)}); check its permissions, or choose another folder with --data-dir.`,
      { cause: error },
    );
  }
}

/**
 * Whether somebody holds the folder, by a look that changes nothing and holds nothing; null where that can't be found out.
 */
export function isFolderLocked(directory: string): boolean | null {
  const path = join(directory, LOCK_FILE);
  if (!existsSync(path)) return false;
  try {
    const database = new Database(path, { readonly: true, fileMustExist: true, timeout: 0 });
    try {
      database.prepare('SELECT 1 FROM sqlite_schema').get();
      return false;
    } finally {
      database.close();
    }
  } catch (error) {
    return codeOf(error)?.startsWith('SQLITE_BUSY') === true ? true : null;
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
