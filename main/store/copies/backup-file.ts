import Sqlite from 'better-sqlite3';
import { closeSync, existsSync, openSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { hash, randomBytes } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import type { Database } from 'better-sqlite3';
import { codeOf, reasonOf } from '../../base/error-code.ts';
import { OWNER_ONLY } from '../../base/system/files.ts';
import { nextTurn } from '../../base/turns.ts';
import type { WrittenBackup } from '../../contract/snapshots.ts';
import { VivariumError } from '../../contract/errors.ts';
import { headerFault } from './backup-reading.ts';
import { syncFolder, syncPath } from './backups.ts';
import { copyDatabase } from './database-copy.ts';
import { damageOf } from '../faults.ts';
import { readHeader } from '../inspect.ts';
import { readVersion } from '../migrations/migrations.ts';

/** "VIVB": the PRAGMA application_id of a backup file, a database with the folder's other files in a table. */
export const BACKUP_ID = 0x56495642;

/** The table that distinguishes a backup; the data folder's own database never has it. */
export const FILES_TABLE = 'data_folder_files';

/** The folder of the root. */
const ROOT_FOLDER = 'ca';
const SEALED_KEY = `${ROOT_FOLDER}/root-key.sealed`;

/** The files that a backup contains besides the database: not logs, older backups or window state. */
export const BACKED_UP_FILES = [ROOT_FOLDER, 'control-token', 'demo-key.json'] as const;

/** Any other path in a backup is refused: unpacking must not write outside the data folder. */
const KEPT_FILE =
  /^(?:ca\/(?:root(?:-[0-9a-f]{8}|-key)?|intermediate)\.pem|ca\/root-key\.sealed|control-token|demo-key\.json)$/;
export const isKeptFile = (path: string): boolean => KEPT_FILE.test(path);

/**
 * Writes a backup of a data folder: a consistent copy of its open database, made in small steps between other work and
 * read through once, with the other files in a table. The file appears complete or not at all, with mode 0600.
 *
 * @throws VivariumError conflict when `file` exists (with `force`: when it is not a backup); unavailable when it cannot
 * be written; internal_error when the database is damaged.
 */
export async function writeBackupFile(options: {
  sqlite: Database;
  dataDir: string;
  /** Absolute. */
  file: string;
  /** Replaces an older backup. */
  force: boolean;
}): Promise<WrittenBackup> {
  const { sqlite, dataDir, file, force } = options;
  let sealed = false;
  const written = await writeCopy({
    sqlite,
    file,
    applicationId: BACKUP_ID,
    checkTarget: () => refuseOverwriting(file, force),
    files() {
      const files = readFiles(dataDir);
      sealed = files.some(({ path }) => path === SEALED_KEY);
      return files;
    },
  });
  return { file, ...written, sealed };
}

/** A file in the table of a copy. */
export interface KeptFile {
  path: string;
  content: Buffer;
}

/**
 * Writes a consistent copy of an open database with other files in a table: a backup, or a snapshot. It appears
 * complete or not at all, with mode 0600.
 * @throws VivariumError unavailable, internal_error, as `writeBackupFile`; what `checkTarget` throws.
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
  const temporary = `${file}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    checkTarget();
    removeLeftovers(file);
    unfinished.add(temporary);
    closeSync(openSync(temporary, 'wx', OWNER_ONLY));
    await copyDatabase(options.sqlite, temporary);
    await nextTurn();
    const schema = finishCopy(temporary, options);
    syncPath(temporary, 'r+');
    checkTarget();
    renameSync(temporary, file);
    syncFolder(dirname(file));
    return { bytes: statSync(file).size, schema };
  } catch (error) {
    for (const left of ['', '-journal']) rmSync(temporary + left, { force: true });
    throw explainWriting(error, file);
  } finally {
    unfinished.delete(temporary);
  }
}

/** The temporary files that this process is writing. */
const unfinished = new Set<string>();

/** Removes what a process that was killed while it wrote `file` has left. */
function removeLeftovers(file: string): void {
  for (const name of readdirSync(dirname(file))) {
    const path = join(dirname(file), name);
    const isOfFile = name.startsWith(basename(file)) && LEFTOVER.test(name.slice(basename(file).length));
    if (isOfFile && !unfinished.has(path.replace(/-journal$/, ''))) rmSync(path, { force: true });
  }
}

const LEFTOVER = /^\.[0-9a-f]{12}\.tmp(?:-journal)?$/;

function refuseOverwriting(file: string, force: boolean): void {
  const facts = statSync(file, { throwIfNoEntry: false });
  if (facts === undefined) return;
  if (!force) throw new VivariumError('conflict', `${file} exists; choose another name, or replace it with --force.`);
  const isBackup = facts.isFile() && headerFault(readHeader(file), facts.size, [BACKUP_ID]) === null;
  if (isBackup) return;
  throw new VivariumError('conflict', `${file} is not a Vivarium backup, so it is not replaced; choose another name.`);
}

function readFiles(dataDir: string): KeptFile[] {
  const [, ...besides] = BACKED_UP_FILES;
  const root = readdirSync(join(dataDir, ROOT_FOLDER)).map((name) => `${ROOT_FOLDER}/${name}`);
  return [...root, ...besides].flatMap((path) => {
    const from = join(dataDir, path);
    return isKeptFile(path) && existsSync(from) ? [{ path, content: readFileSync(from) }] : [];
  });
}

function finishCopy(path: string, { files, edit, applicationId }: Parameters<typeof writeCopy>[0]): number {
  const sqlite = new Sqlite(path);
  try {
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
  } finally {
    sqlite.close();
  }
}

function explainWriting(error: unknown, file: string): unknown {
  if (error instanceof VivariumError) return error;
  const damage = damageOf(error);
  if (damage !== null) {
    const message = `The database is damaged: ${damage}. No backup was written; "vivarium doctor" names its backups.`;
    return new VivariumError('internal_error', message, { cause: error });
  }
  const code = codeOf(error);
  if (code === null) return error;
  return new VivariumError('unavailable', `${file} could not be written (${reasonOf(error)}).`, { cause: error });
}
