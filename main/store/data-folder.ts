import { closeSync, existsSync, openSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { emptyDataFolder, LOCK_FILE, prepareDataFolder } from '../base/system/data-folder.ts';
import { codeOf, reasonOf } from '../base/error-code.ts';
import { OWNER_ONLY } from '../base/system/files.ts';
import { ownCommand } from '../base/system/own-command.ts';
import { readRuntime } from '../base/system/runtime-file.ts';
import { VivariumError } from '../contract/errors.ts';
import { finishRestore } from './copies/folder-backup.ts';

export interface FolderLock {
  /** Removes Vivarium's files from a folder that the claim created; leaves any other folder unchanged. */
  empty(): void;
  /**
   * Releases the folder. With `leaveNothing`, also removes what the claim created: the lock file, and a new, empty
   * folder.
   */
  release(options?: { leaveNothing: boolean }): void;
}

/**
 * Creates `directory` if needed, checks that it is writable, and locks it until `release`. Finishes an interrupted
 * restoration of a backup.
 *
 * Uses SQLite's lock on a small file: the system drops it when the process ends for any reason, which avoids stale
 * locks and checks of process ids. @throws VivariumError with one line that names the folder and the fix.
 */
export function claimDataFolder(directory: string): FolderLock {
  const isNew = prepareDataFolder(directory);
  const hadLock = existsSync(join(directory, LOCK_FILE));
  const held = lock(directory);
  // Another start may have locked this folder, and stored data in it, since this start created it.
  const isOwn = isNew && !hadLock && readdirSync(directory).every((name) => name === LOCK_FILE);
  try {
    finishRestore(directory);
  } catch (error) {
    held.close();
    throw error;
  }
  return {
    empty() {
      if (isOwn) emptyDataFolder(directory);
    },
    release({ leaveNothing } = { leaveNothing: false }) {
      held.close();
      if (!leaveNothing) return;
      if (!hadLock) rmSync(join(directory, LOCK_FILE), { force: true });
      if (isNew && readdirSync(directory).length === 0) rmdirSync(directory);
    },
  };
}

/**
 * How long a claim tries again. Of two at the same time, each can hold the shared lock that the other one waits for, and
 * so can a look by `isFolderLocked`; the lock of a running Vivarium stays.
 */
const RETRIES_MS_MAX = 250;

function lock(directory: string): Database.Database {
  const path = join(directory, LOCK_FILE);
  let database: Database.Database | undefined;
  try {
    createOwnerOnly(path);
    database = new Database(path, { timeout: RETRIES_MS_MAX });
    database.pragma('journal_mode = MEMORY');
    database.exec('BEGIN EXCLUSIVE');
    return database;
  } catch (error) {
    database?.close();
    if (codeOf(error)?.startsWith('SQLITE_BUSY') === true) throw inUse(directory);
    throw new VivariumError(
      'unavailable',
      `The lock file ${path} can't be used (${reasonOf(error)}); check its permissions, or choose another folder with --data-dir.`,
      { cause: error },
    );
  }
}

/**
 * SQLite would create it readable by others. Only opens a new file: closing one that this process has locked unlocks
 * it.
 */
function createOwnerOnly(path: string): void {
  try {
    closeSync(openSync(path, 'wx', OWNER_ONLY));
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}

/** Whether another process has locked the folder, without changing or locking anything; null when unknown. */
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
  // Without the file, the owner is starting or stopping; the lock alone decides.
  const runtime = readRuntime(directory);
  const who = runtime.state === 'read' ? ` (process ${runtime.pid}, ${runtime.control.url})` : '';
  const own = ownCommand(directory);
  return new VivariumError(
    'conflict',
    `Vivarium is already running on the data folder ${directory}${who}. Open it with "${own('vivarium open')}", ` +
      `stop it with "${own('vivarium stop')}", or start another with --data-dir.`,
  );
}
