import { statSync } from 'node:fs';
import Database from 'better-sqlite3';

/** Reading all of a larger file would hold everything else up for too long; it is taken at its word. */
const CHECKED_BYTES_MAX = 64 * 1024 * 1024;

/** Whether the database in `path` can be read to its end, if it is not too large to say. Changes nothing. */
export function isWhole(path: string): boolean {
  try {
    if (statSync(path).size > CHECKED_BYTES_MAX) return true;
    const database = new Database(path, { readonly: true, fileMustExist: true });
    try {
      return database.pragma('quick_check(1)', { simple: true }) === 'ok';
    } finally {
      database.close();
    }
  } catch {
    return false;
  }
}
