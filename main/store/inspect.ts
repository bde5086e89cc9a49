import Sqlite from 'better-sqlite3';
import { accessSync, constants, existsSync, statSync, type Stats } from 'node:fs';
import { dirname } from 'node:path';
import type { Database } from 'better-sqlite3';
import { codeOf } from '../base/error-code.ts';
import { damaged, foreign, newerSchema, unwritable, type DatabaseFile } from './connection.ts';
import { readVersion } from './migrations/migrations.ts';
import {
  APPLICATION_ID,
  closing,
  FULL_CHECK_BYTES_MAX,
  isAboutValue,
  pageFault,
  readHeader,
  sizeOf,
  walksOf,
} from './pages.ts';
import { startedFiles } from './copies/backups.ts';
import { refuseBadRows } from './tables/rows.ts';

/**
 * Examines the path without opening it as a database or changing anything. @returns whether it holds a Vivarium
 * database; false when nothing can be lost. @throws VivariumError when the file is foreign, damaged, or not writable.
 */
export function inspectPath(place: DatabaseFile): 'present' | 'absent' {
  const facts = statDatabase(place.file);
  if (facts === null || facts.size === 0) {
    const loss = lossOf(place);
    if (loss !== null) throw damaged(place, loss);
    return 'absent';
  }
  const { hasMagic, id } = readHeader(place.file);
  const isOurs = id === APPLICATION_ID;
  if (hasMagic && isOurs) return 'present';
  const isDatabase = hasMagic && id !== null;
  if (isOurs || (!isDatabase && place.backups.list().length > 0)) {
    throw damaged(place, 'it does not begin like an SQLite database; its first bytes were overwritten or cut off');
  }
  throw foreign(place.file, isDatabase ? 'an SQLite database of another program' : 'not an SQLite database');
}

/** What shows that a missing or empty file was a database; null if nothing was lost. */
export function lossOf({ file, backups }: DatabaseFile): string | null {
  const isMissing = !existsSync(file);
  const what = isMissing ? 'it is missing' : 'it is empty';
  // SQLite would treat the empty file as a new database and delete the old one's log.
  if (sizeOf(`${file}-wal`) > 0) return `${what}, but its write-ahead log (-wal) is there`;
  if (!isMissing && backups.list().length > 0) return `${what}, but there are backups of it`;
  const others = startedFiles(file);
  return others.length === 0 ? null : `${what}, but there are files of an earlier start: ${others.join(', ')}`;
}

function statDatabase(file: string): Stats | null {
  const folder = dirname(file);
  try {
    if (statSync(folder, { throwIfNoEntry: false }) === undefined) {
      throw unwritable(file, `the folder ${folder} does not exist`);
    }
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    const facts = statSync(file, { throwIfNoEntry: false });
    if (facts === undefined) return null;
    if (!facts.isFile()) throw foreign(file, facts.isDirectory() ? 'a folder' : 'a special file');
    accessSync(file, constants.R_OK | constants.W_OK);
    return facts;
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EACCES' || code === 'EPERM') throw unwritable(file, `permission is denied (${code})`, error);
    if (code === 'EROFS') throw unwritable(file, `its file system is mounted read-only (${code})`, error);
    if (code === 'ENOTDIR') throw unwritable(file, `${folder} is not a folder`, error);
    throw error;
  }
}

/**
 * Checks the database on a read-only connection, to preserve a damaged one and its -wal: closing a normal connection
 * would move the log's content into the file. @returns false when reading requires write access, because a journal must
 * be rolled back first. @throws VivariumError on damage, and for a schema newer than `knownVersion`.
 */
export function probe(place: DatabaseFile, knownVersion: number, timeoutMs: number): boolean {
  try {
    const sqlite = new Sqlite(place.file, { readonly: true, fileMustExist: true, timeout: timeoutMs });
    closing(sqlite, () => probeConnection(sqlite, place, knownVersion));
    return true;
  } catch (error) {
    if (codeOf(error)?.startsWith('SQLITE_READONLY') === true) return false;
    throw error;
  }
}

/**
 * Checks the schema and the path from each table's and index's root to its first row; small files completely. Damage
 * elsewhere in a large file surfaces when it is read, at the latest by the daily backup.
 */
export function probeConnection(sqlite: Database, place: DatabaseFile, knownVersion: number): void {
  const version = readVersion(sqlite);
  if (version > knownVersion) throw newerSchema(place, version, knownVersion);
  for (const walk of walksOf(sqlite)) sqlite.prepare(`${walk} LIMIT 1`).get();
  if (sizeOf(place.file) > FULL_CHECK_BYTES_MAX) return;
  const finding = pageFault(sqlite, 'quick_check');
  if (finding === null) return;
  // The row can be named, and left out.
  if (isAboutValue(finding)) refuseBadRows(sqlite, place, Infinity);
  throw damaged(place, finding);
}
