import Sqlite from 'better-sqlite3';
import { closeSync, fsyncSync, mkdirSync, openSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { randomBytes } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import type { Clock, EpochMs } from '../../base/clock.ts';
import { OWNER_ONLY } from '../../base/system/files.ts';

/** Relative to the database. */
export const BACKUP_FOLDER = 'backups';

/** Enough for a week; bounds the disk space to a small multiple of the database. */
export const BACKUPS_KEPT = 5;

/** Maximum backups of one moment (a frozen clock), which are numbered; more in one millisecond are a mistake. */
const SAME_MOMENT_MAX = 1_000;

/** The part after the database's name and `-v`: schema, moment, and a number to make it unique. */
const BACKUP_REST = /^(\d{1,9})-(\d{8}T\d{9}Z)(?:-\d{1,4})?\.db$/;
const TEMPORARY_REST = /^[0-9a-f]{12}\.tmp(?:-journal|-wal|-shm)?$/;

export interface BackupFile {
  path: string;
  /** The schema number of its database. */
  schema: number;
  /** When it was made, on the app's clock. */
  takenAtMs: EpochMs;
}

/** The folder `backups` beside a database, and its files. */
export interface Backups {
  /** Newest first by the file's real modification time: the app's clock can have been moved. */
  list(): BackupFile[];
  /** Makes a backup synchronously; returns its path once durable. Blocks while it copies. */
  takeNow(sqlite: Database, schema: number): string;
  /** A backup made in small steps between other work. `abandon` removes its partial file. */
  begin(schema: number): { temporary: string; finish(): string; abandon(): void };
}

export function createBackups(file: string, clock: Pick<Clock, 'now'>): Backups {
  const folder = join(dirname(file), BACKUP_FOLDER);
  const name = basename(file, extname(file));
  const backupPrefix = `${name}-v`;
  const temporaryPrefix = `.${name}-`;

  const read = (): string[] => {
    try {
      return readdirSync(folder);
    } catch {
      return [];
    }
  };

  function list(): BackupFile[] {
    const found: (BackupFile & { writtenAtNs: bigint })[] = [];
    for (const entry of read()) {
      const match = entry.startsWith(backupPrefix) ? BACKUP_REST.exec(entry.slice(backupPrefix.length)) : null;
      if (match === null) continue;
      const path = join(folder, entry);
      const facts = statSync(path, { bigint: true, throwIfNoEntry: false });
      if (facts?.isFile() !== true) continue;
      const takenAtMs = parseStamp(match[2] as string);
      found.push({ path, schema: Number(match[1]), takenAtMs, writtenAtNs: facts.mtimeNs });
    }
    found.sort((a, b) => Number(b.writtenAtNs - a.writtenAtNs) || (a.path < b.path ? 1 : -1));
    return found.map(({ path, schema, takenAtMs }) => ({ path, schema, takenAtMs }));
  }

  function freePath(schema: number): string {
    const stem = join(folder, `${backupPrefix}${schema}-${formatStamp(clock.now())}`);
    for (let number = 1; number <= SAME_MOMENT_MAX; number++) {
      const path = number === 1 ? `${stem}.db` : `${stem}-${number}.db`;
      if (statSync(path, { throwIfNoEntry: false }) === undefined) return path;
    }
    throw new Error(`There are already ${SAME_MOMENT_MAX} backups of this moment in ${folder}.`);
  }

  function removeLeftovers(): void {
    for (const entry of read()) {
      const isOurs = entry.startsWith(temporaryPrefix) && TEMPORARY_REST.test(entry.slice(temporaryPrefix.length));
      if (isOurs) rmSync(join(folder, entry), { force: true });
    }
  }

  function begin(schema: number): { temporary: string; finish(): string; abandon(): void } {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    removeLeftovers();
    const temporary = join(folder, `${temporaryPrefix}${randomBytes(6).toString('hex')}.tmp`);
    // SQLite accepts an existing empty file, which lets us set its mode first.
    closeSync(openSync(temporary, 'wx', OWNER_ONLY));
    return {
      temporary,
      finish() {
        syncPath(temporary, 'r+');
        const path = freePath(schema);
        renameSync(temporary, path);
        removeLeftovers();
        syncFolder(folder);
        for (const old of list().slice(BACKUPS_KEPT)) rmSync(old.path, { force: true });
        return path;
      },
      abandon: () => removeLeftovers(),
    };
  }

  return {
    list,
    begin,
    takeNow(sqlite, schema) {
      const backup = begin(schema);
      try {
        sqlite.prepare('VACUUM INTO ?').run(backup.temporary);
        return backup.finish();
      } catch (error) {
        backup.abandon();
        throw error;
      }
    },
  };
}

/** `20261120T090000000Z`: ISO 8601 basic format, because Windows does not allow colons in file names. */
export const formatStamp = (atMs: EpochMs): string => new Date(atMs).toISOString().replaceAll(/[-:.]/g, '');

function parseStamp(stamp: string): EpochMs {
  const match = /^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})(\d{3})Z$/.exec(stamp);
  const [year, month, day, hour, minute, second, millisecond] = (match ?? []).slice(1).map(Number);
  return Date.UTC(year ?? NaN, (month ?? NaN) - 1, day, hour, minute, second, millisecond);
}

export function syncPath(path: string, flags: 'r' | 'r+'): void {
  const descriptor = openSync(path, flags);
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Makes a rename in `folder` durable. Windows has no such call and needs none: NTFS journals directories. */
export function syncFolder(folder: string): void {
  if (process.platform !== 'win32') syncPath(folder, 'r');
}

/** Reading a larger file would block for too long; it counts as readable. */
const CHECKED_BYTES_MAX = 64 * 1024 * 1024;

/** Whether the database in `path` is fully readable, checked up to a maximum size. Changes nothing. */
export function isWhole(path: string): boolean {
  try {
    if (statSync(path).size > CHECKED_BYTES_MAX) return true;
    const database = new Sqlite(path, { readonly: true, fileMustExist: true });
    try {
      return database.pragma('quick_check(1)', { simple: true }) === 'ok';
    } finally {
      database.close();
    }
  } catch {
    return false;
  }
}
