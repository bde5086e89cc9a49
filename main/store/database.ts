import { basename, dirname, resolve } from 'node:path';
import Sqlite from 'better-sqlite3';
import type { Database } from 'better-sqlite3';
import { realTime, type Clock } from '../base/clock.ts';
import { OWNER_ONLY, syncFolder, writeFileAtomically } from '../base/system/files.ts';
import type { Log } from '../base/log.ts';
import { conflict, internalError, notFound, unavailable, VivariumError } from '../contract/errors.ts';
import { createBackups, type Backups } from './copies/backups.ts';
import { connect, type Connection, explain, type DatabaseFile } from './connection.ts';
import { inspectPath, probe, probeConnection } from './inspect.ts';
import { APPLICATION_ID, closing } from './pages.ts';
import { latestVersion, migrate, MIGRATIONS, readVersion, type Migration } from './migrations/migrations.ts';
import { badRows, dropBadRows, refuseBadRows } from './tables/rows.ts';
import { messageOf } from '../base/error-code.ts';

/** For databases that end with the process. */
export const MEMORY = ':memory:';

/** Keep the wait for another program's lock short: SQLite calls are synchronous and block everything else. */
const BUSY_TIMEOUT_MS = 1_000;

/** The next checkpoint truncates the log to this size after a large import; by default it would stay large. */
const LOG_BYTES_KEPT = 16 * 1024 * 1024;

export interface DatabaseOptions {
  /** Path of the file, or `:memory:`. */
  file: string;
  clock: Pick<Clock, 'now'>;
  log: Log;
  migrations?: readonly Migration[];
}

export interface OpenDatabase {
  connection: Connection;
  backups: Backups;
  /** The absolute path; null in memory. */
  file: string | null;
  schema: number;
  warnings: string[];
}

/**
 * Opens or creates the database and migrates it to the latest schema, after a backup.
 *
 * @throws VivariumError `conflict`: a foreign file, a newer schema; `internal_error`: damage, a failed migration;
 * `unavailable`: no permission, a full disk, another program's lock. The message names the file and the fix.
 */
export function openDatabase(options: DatabaseOptions): OpenDatabase {
  const { clock, log, migrations = MIGRATIONS } = options;
  const schema = latestVersion(migrations);
  if (options.file === MEMORY) return openInMemory(migrations);

  const file = resolve(options.file);
  const backups = createBackups(file, clock);
  const place = { file, backups };
  const warnings: string[] = [];
  let sqlite: Database | null = null;
  try {
    let probed = true;
    if (inspectPath(place) === 'present') {
      probed = probe(place, schema, BUSY_TIMEOUT_MS);
    } else {
      warnings.push(...missingWarning(place));
      createFile(file, migrations);
    }
    sqlite = new Sqlite(file, { timeout: BUSY_TIMEOUT_MS, fileMustExist: true });
    if (!probed) probeConnection(sqlite, place, schema);
    configure(sqlite);
    keepTemporaryInMemory(sqlite);
    proveWritable(sqlite);
    upgrade(sqlite, place, migrations, log);
    refuseBadRows(sqlite, place);
    return { connection: connect(sqlite, place), backups, file, schema, warnings };
  } catch (error) {
    sqlite?.close();
    throw explain(error, place);
  }
}

function placeOf(path: string): WritableDatabase {
  const file = resolve(path);
  return { file, backups: createBackups(file, { now: realTime.now }) };
}

/**
 * Opens an existing database to read it, at whatever schema it has. @throws VivariumError as `openDatabase`; not_found
 * without a database.
 */
export function openAtRest(path: string): Database {
  const place = placeOf(path);
  const { file } = place;
  try {
    if (inspectPath(place) === 'absent') throw notFound(`There is no Vivarium database in ${dirname(file)}.`);
    const schema = latestVersion(MIGRATIONS);
    const probed = probe(place, schema, BUSY_TIMEOUT_MS);
    // A connection that cannot write would leave its -wal and -shm behind.
    const sqlite = new Sqlite(file, { fileMustExist: true, timeout: BUSY_TIMEOUT_MS });
    if (!probed) probeConnection(sqlite, place, schema);
    return sqlite;
  } catch (error) {
    throw explain(error, place);
  }
}

/**
 * Leaves out the rows that a start refuses, after a backup. @throws VivariumError as `openDatabase`; not_found without
 * a database.
 */
export function dropBadRowsOf(path: string): { dropped: string[]; copy: string | null } {
  const place = placeOf(path);
  try {
    return closing(new Sqlite(place.file, { fileMustExist: true, timeout: BUSY_TIMEOUT_MS }), (sqlite) => {
      if (badRows(sqlite).every((bad) => bad === null)) return { dropped: [], copy: null };
      const copy = place.backups.takeNow(sqlite, readVersion(sqlite));
      return { dropped: dropBadRows(sqlite), copy };
    });
  } catch (error) {
    throw explain(error, place);
  }
}

/** An error of a start, or the bad row that is its cause. */
export function explainStart(error: unknown, path: string): unknown {
  if (error instanceof VivariumError) return error;
  try {
    closing(new Sqlite(path, { fileMustExist: true }), (sqlite) => refuseBadRows(sqlite, placeOf(path), Infinity));
  } catch (found) {
    if (found instanceof VivariumError) return found;
  }
  return error;
}

type WritableDatabase = DatabaseFile & { backups: Backups };

function openInMemory(migrations: readonly Migration[]): OpenDatabase {
  const sqlite = new Sqlite(emptyDatabase(migrations));
  sqlite.pragma('foreign_keys = ON');
  keepTemporaryInMemory(sqlite);
  const backups: Backups = { list: () => [], begin: refuseBackup, takeNow: refuseBackup };
  const connection = connect(sqlite, { file: MEMORY, backups });
  return { connection, backups, file: null, schema: latestVersion(migrations), warnings: [] };
}

/** @throws VivariumError conflict: nothing is kept in memory. */
export function refuseBackup(): never {
  throw conflict('An ephemeral Vivarium stores nothing and has no backups.');
}

function missingWarning(place: DatabaseFile): string[] {
  const newest = place.backups.list()[0];
  if (newest === undefined) return [];
  return [
    `The database ${place.file} did not exist and was created, although there are backups of an earlier one; ` +
      `the newest is ${newest.path}.`,
  ];
}

/** In one piece, which leaves no partial file. */
function createFile(file: string, migrations: readonly Migration[]): void {
  writeFileAtomically(file, emptyDatabase(migrations), OWNER_ONLY);
  syncFolder(dirname(file));
}

/** By the migrations that made it, which take 16 ms: a process of tests starts hundreds of engines. */
const emptyDatabases = new WeakMap<readonly Migration[], Buffer>();

/** The application id is in the file itself, where `inspectPath` reads it, not only in the log. */
function emptyDatabase(migrations: readonly Migration[]): Buffer {
  const known = emptyDatabases.get(migrations);
  if (known !== undefined) return known;
  const made = closing(new Sqlite(MEMORY), (sqlite) => {
    sqlite.pragma(`application_id = ${APPLICATION_ID}`);
    migrate(sqlite, migrations);
    return sqlite.serialize();
  });
  emptyDatabases.set(migrations, made);
  return made;
}

/**
 * FULL: in WAL mode, NORMAL can lose commits at a power failure. fullfsync: macOS's fsync leaves data in the disk's
 * cache.
 */
function configure(sqlite: Database): void {
  const mode = String(sqlite.pragma('journal_mode = WAL', { simple: true }));
  if (mode !== 'wal') throw unavailable(`The file system of ${sqlite.name} does not allow WAL.`);
  sqlite.pragma('synchronous = FULL');
  sqlite.pragma('fullfsync = ON');
  sqlite.pragma('checkpoint_fullfsync = ON');
  sqlite.pragma('foreign_keys = ON');
  sqlite.pragma(`journal_size_limit = ${LOG_BYTES_KEPT}`);
}

/** Filtered lists are sorted (`pet-listing.ts`), which takes twice the time in a file. */
function keepTemporaryInMemory(sqlite: Database): void {
  sqlite.pragma('temp_store = MEMORY');
}

/** SQLite opens a read-only file silently and fails at the first change. */
function proveWritable(sqlite: Database): void {
  sqlite.exec('BEGIN IMMEDIATE');
  try {
    sqlite.pragma(`user_version = ${readVersion(sqlite)}`);
  } finally {
    sqlite.exec('ROLLBACK');
  }
}

function upgrade(sqlite: Database, place: WritableDatabase, migrations: readonly Migration[], log: Log): void {
  const from = readVersion(sqlite);
  const to = latestVersion(migrations);
  if (from === to) return;
  const backup = backUpBefore(sqlite, place, from, to);
  try {
    migrate(sqlite, migrations);
  } catch (error) {
    const fault = explain(error instanceof Error && error.cause !== undefined ? error.cause : error, place);
    if (fault instanceof VivariumError) throw fault;
    throw internalError(
      `The database ${place.file} could not be migrated from schema ${from} to ${to}; it is unchanged, and ` +
        `a backup of it is ${backup}. Use your previous version of Vivarium, and report this.`,
      { cause: error },
    );
  }
  log.info('Database migrated', { file: basename(place.file), from, to, backup });
}

function backUpBefore(sqlite: Database, place: WritableDatabase, from: number, to: number): string {
  try {
    return place.backups.takeNow(sqlite, from);
  } catch (error) {
    throw unavailable(
      `The database ${place.file} must be migrated from schema ${from} to ${to}, but no backup of it could be made ` +
        `first, so nothing was changed. ${messageOf(explain(error, place))}`,
      { cause: error },
    );
  }
}
