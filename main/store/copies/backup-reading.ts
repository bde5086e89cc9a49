import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { BACKUP_FOLDER, createBackups } from './backups.ts';
import { reasonOf } from '../../base/error-code.ts';
import { APPLICATION_ID, APPLICATION_ID_OFFSET, HEADER_BYTES, MAGIC, readHeader } from '../inspect.ts';
import { latestVersion, MIGRATIONS } from '../migrations/migrations.ts';

/** The header of a database file (sqlite.org/fileformat2.html, section 1.3). */
const PAGE_BYTES_OFFSET = 16;
const PAGE_COUNT_OFFSET = 28;
export const USER_VERSION_OFFSET = 60;

/** "VIVS": the PRAGMA application_id of a snapshot, a copy of the database with facts about it in a table. */
export const SNAPSHOT_ID = 0x56495653;

/** Header value for the one size that does not fit into its field. */
const LARGEST_PAGE = 65_536;

/** A backup as described by its header and size, without opening it as a database. */
export interface BackupReading {
  path: string;
  bytes: number;
  /** Real time. */
  writtenAtMs: number;
  schema: number;
  /** Why it cannot be restored, as far as the header shows; null if nothing is wrong. */
  fault: string | null;
}

/** The backups of a database, newest first, and their folder. */
export function readBackups(file: string): { folder: string; backups: BackupReading[] } {
  const backups = createBackups(file, { now: () => 0 })
    .list()
    .map(({ path, schema }) => readBackup(path, schema));
  return { folder: join(dirname(file), BACKUP_FOLDER), backups };
}

function readBackup(path: string, namedSchema: number): BackupReading {
  try {
    const { size, mtimeMs } = statSync(path);
    const header = readHeader(path);
    const fault = headerFault(header, size);
    const schema = header.length < HEADER_BYTES ? namedSchema : header.readUInt32BE(USER_VERSION_OFFSET);
    return { path, bytes: size, writtenAtMs: mtimeMs, schema, fault };
  } catch (error) {
    return { path, bytes: 0, writtenAtMs: 0, schema: namedSchema, fault: `it can’t be read (${reasonOf(error)})` };
  }
}

/** The fault in the header of a file of `size` bytes. */
export function headerFault(header: Buffer, size: number, ids: readonly number[] = [APPLICATION_ID]): string | null {
  const isDatabase = header.length === HEADER_BYTES && header.subarray(0, MAGIC.length).equals(MAGIC);
  if (!isDatabase) return 'it does not begin like an SQLite database';
  const id = header.readUInt32BE(APPLICATION_ID_OFFSET);
  if (!ids.includes(id)) {
    if (id === SNAPSHOT_ID) return 'it is a snapshot, which "vivarium snapshot restore --file" restores';
    return 'it is the database of another program';
  }
  const written = header.readUInt16BE(PAGE_BYTES_OFFSET);
  const whole = (written === 1 ? LARGEST_PAGE : written) * header.readUInt32BE(PAGE_COUNT_OFFSET);
  if (size < whole) return `it is cut off: ${size} of ${whole} bytes exist`;
  const schema = header.readUInt32BE(USER_VERSION_OFFSET);
  const known = latestVersion(MIGRATIONS);
  return schema > known ? `it has schema ${schema}, but this Vivarium supports schemas up to ${known}` : null;
}
