import Sqlite from 'better-sqlite3';
import { closeSync, mkdirSync, openSync, renameSync, rmSync, statSync, type BigIntStats } from 'node:fs';
import { hash, randomBytes } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import type { Database } from 'better-sqlite3';
import { codeOf, reasonOf } from '../../base/error-code.ts';
import { namesIn, OWNER_ONLY, syncFolder, syncPath } from '../../base/system/files.ts';
import { nextTurn } from '../../base/turns.ts';
import { conflict, internalError, unavailable, VivariumError } from '../../contract/errors.ts';
import { APPLICATION_ID, closing, damageOf, readHeader } from '../pages.ts';
import { copyDatabase } from './database-copy.ts';
import { latestVersion, MIGRATIONS, readVersion } from '../migrations/migrations.ts';

/** "VIVB": the PRAGMA application_id of a backup file, a database with the folder's other files in a table. */
export const BACKUP_ID = 0x56495642;

/** "VIVS": the PRAGMA application_id of a snapshot, a copy of the database with facts about it in a table. */
export const SNAPSHOT_ID = 0x56495653;

/** What a copy that is not of the wanted kind is. */
const KINDS: ReadonlyMap<number, string> = new Map([
  [BACKUP_ID, 'it is a backup, which "vivarium backup restore" restores'],
  [SNAPSHOT_ID, 'it is a snapshot, which "vivarium snapshot restore --file" restores'],
  [APPLICATION_ID, 'it is a database of Vivarium, not a snapshot'],
]);

/** The table that distinguishes a copy; the data folder's own database never has it. */
export const FILES_TABLE = 'data_folder_files';

export interface KeptFile {
  path: string;
  content: Buffer;
}

/**
 * Writes a consistent copy of an open database with other files in a table: a backup, or a snapshot. It is made in small
 * steps between other work, read through once, and appears complete or not at all, with mode 0600.
 * @throws VivariumError unavailable when it cannot be written; internal_error when the database is damaged; what
 * `checkTarget` throws.
 */
export async function writeCopy(options: {
  sqlite: Database;
  /** Absolute; its folder exists. */
  file: string;
  applicationId: number;
  /** Throws when `file` may not be replaced; called before and after the copying. */
  checkTarget: () => void;
  /** Read after the database is copied. */
  files: () => readonly KeptFile[];
  /** Changes the copy before it appears. */
  edit?: (copy: Database) => void;
}): Promise<{ bytes: number; schema: number }> {
  const { file, checkTarget } = options;
  try {
    checkTarget();
    const begun = beginFile(dirname(file), `${basename(file)}.`);
    try {
      await copyDatabase(options.sqlite, begun.temporary);
      await nextTurn();
      const schema = finishCopy(begun.temporary, options);
      begun.store();
      checkTarget();
      begun.appearAs(file);
      return { bytes: statSync(file).size, schema };
    } finally {
      begun.end();
    }
  } catch (error) {
    throw explainWriting(error, file);
  }
}

function finishCopy(path: string, { files, edit, applicationId }: Parameters<typeof writeCopy>[0]): number {
  return closing(new Sqlite(path), (sqlite) => {
    // It is stored as a whole afterwards, or removed.
    sqlite.pragma('journal_mode = OFF');
    sqlite.pragma('synchronous = OFF');
    edit?.(sqlite);
    sqlite.transaction(() => {
      sqlite.exec(
        `CREATE TABLE ${FILES_TABLE} (path TEXT PRIMARY KEY, content BLOB NOT NULL, sha256 TEXT NOT NULL)
         STRICT, WITHOUT ROWID`,
      );
      const insert = sqlite.prepare(`INSERT INTO ${FILES_TABLE} (path, content, sha256) VALUES (?, ?, ?)`);
      for (const { path: name, content } of files()) insert.run(name, content, hash('sha256', content));
      sqlite.pragma(`application_id = ${applicationId}`);
    })();
    return readVersion(sqlite);
  });
}

function explainWriting(error: unknown, file: string): unknown {
  if (error instanceof VivariumError) return error;
  const damage = damageOf(error);
  if (damage !== null) {
    const message = `The database is damaged: ${damage}. No backup was written; "vivarium doctor" names its backups.`;
    return internalError(message, { cause: error });
  }
  const code = codeOf(error);
  if (code === null) return error;
  return unavailable(`${file} could not be written (${reasonOf(error)}).`, { cause: error });
}

/** @throws VivariumError conflict when something is at `path` and `force` is false, or it is no copy with this id. */
export function refuseReplacing(
  path: string,
  { kind, id, force, what = path }: { kind: string; id?: number; force: boolean; what?: string },
): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!force) throw conflict(`${what} exists; choose another name, or replace it with --force.`);
  if (id === undefined || (found.isFile() && inspectCopy(path, [id]).fault === null)) return;
  throw conflict(`${path} is not a Vivarium ${kind}, so it is not replaced; choose another name.`);
}

/** The files in the table of a copy, or the one of that path. The digest of a damaged one differs from what was stored. */
export function filesIn(sqlite: Database, path: string | null = null): (KeptFile & { isDamaged: boolean })[] {
  // Backups of older versions have no digests.
  return sqlite
    .prepare<[string | null], KeptFile & { sha256?: string }>(
      `SELECT * FROM ${FILES_TABLE} WHERE path = coalesce(?, path)`,
    )
    .all(path)
    .map(({ sha256, ...file }) => ({
      ...file,
      isDamaged: sha256 !== undefined && sha256 !== hash('sha256', file.content),
    }));
}

/** A copy as its header and size describe it, without opening it as a database; `id` and `schema` are null without a header. */
export interface InspectedCopy {
  bytes: number;
  /** Real time. */
  writtenAtMs: number;
  id: number | null;
  schema: number | null;
  /** Why it cannot be used as a database with one of these ids; null if nothing is wrong. */
  fault: string | null;
}

/** @throws Error of the file system */
export function inspectCopy(path: string, ids: readonly number[]): InspectedCopy {
  const { size: bytes, mtimeMs: writtenAtMs } = statSync(path);
  const { hasMagic, id, schema, bytes: whole } = readHeader(path);
  const known = latestVersion(MIGRATIONS);
  let fault: string | null = null;
  if (!hasMagic || id === null || schema === null) fault = 'it does not begin like an SQLite database';
  else if (!ids.includes(id)) fault = KINDS.get(id) ?? 'it is the database of another program';
  else if (bytes < whole) fault = `it is cut off: ${bytes} of ${whole} bytes exist`;
  else if (schema > known) fault = `it has schema ${schema}, but this Vivarium supports schemas up to ${known}`;
  return { bytes, writtenAtMs, id, schema, fault };
}

/** The same for a file that may be gone or forbidden, which is then its fault. */
export function readCopy(path: string, ids: readonly number[]): InspectedCopy {
  try {
    return inspectCopy(path, ids);
  } catch (error) {
    return { bytes: 0, writtenAtMs: 0, id: null, schema: null, fault: `it can’t be read (${reasonOf(error)})` };
  }
}

/** The files of a folder whose names match after a prefix, newest first by real time: the app's clock can have been moved. */
export function listFiles(folder: string, prefix: string, rest: RegExp): { path: string; match: RegExpExecArray }[] {
  const found: { path: string; match: RegExpExecArray; facts: BigIntStats }[] = [];
  for (const name of namesIn(folder)) {
    const match = name.startsWith(prefix) ? rest.exec(name.slice(prefix.length)) : null;
    const path = join(folder, name);
    const facts = match && statSync(path, { bigint: true, throwIfNoEntry: false });
    if (match && facts?.isFile() === true) found.push({ path, match, facts });
  }
  return found.sort((a, b) => Number(b.facts.mtimeNs - a.facts.mtimeNs) || (a.path < b.path ? 1 : -1));
}

/** The temporary files that this process is writing. */
const unfinished = new Set<string>();

/** The end of a temporary file's name, or of what SQLite has beside it. */
const TEMPORARY = /^(?:.*\.)?[0-9a-f]{12}\.tmp(?:-journal|-wal|-shm)?$/;
const BESIDES = ['', '-journal', '-wal', '-shm'];

/** Removes the temporary files with this prefix that killed processes left. */
export function removeLeftovers(folder: string, prefix: string): void {
  for (const name of namesIn(folder)) {
    if (!name.startsWith(prefix) || !TEMPORARY.test(name.slice(prefix.length))) continue;
    const path = join(folder, name);
    if (!unfinished.has(path.replace(/-[a-z]+$/, ''))) rmSync(path, { force: true });
  }
}

/** Begins a file of mode 0600 under a temporary name, after the leftovers with this prefix are removed. */
export function beginFile(folder: string, prefix: string) {
  removeLeftovers(folder, prefix);
  const temporary = join(folder, `${prefix}${randomBytes(6).toString('hex')}.tmp`);
  // SQLite accepts an existing empty file, which lets us set its mode first.
  closeSync(openSync(temporary, 'wx', OWNER_ONLY));
  unfinished.add(temporary);
  return {
    temporary,
    /** Durably, before the file appears. */
    store: () => syncPath(temporary, 'r+'),
    appearAs(path: string) {
      renameSync(temporary, path);
      syncFolder(folder);
    },
    /** Removes the temporary file, unless it has appeared, and what SQLite has left beside it. */
    end() {
      unfinished.delete(temporary);
      for (const suffix of BESIDES) rmSync(temporary + suffix, { force: true });
    },
  };
}

/** A folder for its owner only, created if it does not exist. */
export const makeOwnFolder = (folder: string): unknown => mkdirSync(folder, { recursive: true, mode: 0o700 });
