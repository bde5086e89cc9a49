import { closeSync, existsSync, openSync } from 'node:fs';
import Database from 'better-sqlite3';
import { codeOf } from '../error-code.ts';
import { OWNER_ONLY } from './files.ts';

const isBusy = (error: unknown): boolean => codeOf(error)?.startsWith('SQLITE_BUSY') === true;

/**
 * Takes SQLite's lock on a small file, until the returned function is called; null while another process holds it. The
 * system drops it when the process ends for any reason, which avoids stale locks and checks of process ids.
 *
 * @param waitMs How long to try again. Of two at the same time, each can hold the shared lock that the other one waits
 * for, and so can a look by `isLocked`. @throws Error of the file system or SQLite
 */
export function takeLock(path: string, waitMs: number): (() => void) | null {
  createOwnerOnly(path);
  const database = new Database(path, { timeout: waitMs });
  try {
    database.pragma('journal_mode = MEMORY');
    database.exec('BEGIN EXCLUSIVE');
    return () => void database.close();
  } catch (error) {
    database.close();
    if (isBusy(error)) return null;
    throw error;
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

/** Whether another process holds the lock on a file, without changing or locking anything; null when unknown. */
export function isLocked(path: string): boolean | null {
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
    return isBusy(error) ? true : null;
  }
}
