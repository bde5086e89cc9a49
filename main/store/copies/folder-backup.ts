import Sqlite from 'better-sqlite3';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { z } from 'zod';
import { DATABASE_FILE, RESTORE_FOLDER } from '../../base/system/data-folder.ts';
import { codeOf, reasonOf } from '../../base/error-code.ts';
import { OWNER_ONLY, syncFolder, syncPath, writeFileAtomically } from '../../base/system/files.ts';
import { conflict, internalError, notFound, unavailable, VivariumError } from '../../contract/errors.ts';
import type { WrittenBackup } from '../../contract/snapshots.ts';
import { asideFolder } from './backups.ts';
import {
  BACKUP_ID,
  FILES_TABLE,
  filesIn,
  type InspectedCopy,
  inspectCopy,
  refuseReplacing,
  writeCopy,
} from './copy-file.ts';
import { APPLICATION_ID, pageFault, sizeOf } from '../pages.ts';
import { readVersion } from '../migrations/migrations.ts';
import { badRows } from '../tables/rows.ts';

const ROOT_FOLDER = 'ca';
const SEALED_KEY = `${ROOT_FOLDER}/root-key.sealed`;

/** The files that a backup contains besides the database: not logs, older backups or window state. */
const BACKED_UP_FILES = [ROOT_FOLDER, 'control-token', 'demo-key.json'] as const;

/** Any other path in a backup is refused: unpacking must not write outside the data folder. */
const KEPT_FILE =
  /^(?:ca\/(?:root(?:-[0-9a-f]{8}|-key)?|intermediate)\.pem|ca\/root-key\.sealed|control-token|demo-key\.json)$/;

/** A database's files; SQLite would apply a leftover log to any database of that name. */
const DATABASE_PARTS = [DATABASE_FILE, `${DATABASE_FILE}-wal`, `${DATABASE_FILE}-shm`];

/** Certificates are public; every other file of a backup is for its owner only. */
const CERTIFICATE = /\/root(?:-[0-9a-f]{8})?\.pem$/;

/** Once this file is in the restore folder, the new content is in force, and an interrupted restore is completed. */
const PLAN_FILE = 'plan.json';

const plan = z.object({
  /** The folder for the previous content, relative to the data folder. */
  aside: z.string(),
  /** Names in the data folder to move away, and the names that replace them. */
  replaced: z.array(z.string()),
  added: z.array(z.string()),
});

/**
 * Writes a backup of a data folder: a copy of its open database, with the other files.
 * @throws VivariumError conflict when `file` exists (with `force`: when it is not a backup); as `writeCopy`.
 */
export async function writeBackupFile(options: {
  sqlite: Sqlite.Database;
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
    checkTarget: () => refuseReplacing(file, { kind: 'backup', id: BACKUP_ID, force }),
    files() {
      const [, ...besides] = BACKED_UP_FILES;
      const root = readdirSync(join(dataDir, ROOT_FOLDER)).map((name) => `${ROOT_FOLDER}/${name}`);
      const paths = [...root, ...besides].filter((path) => KEPT_FILE.test(path) && existsSync(join(dataDir, path)));
      sealed = paths.includes(SEALED_KEY);
      return paths.map((path) => ({ path, content: readFileSync(join(dataDir, path)) }));
    },
  });
  return { file, ...written, sealed };
}

export interface Restored {
  schema: number;
  /** The folder that holds the previous content; null when there was none. */
  aside: string | null;
  /** False for a copy of the database alone, as in the folder `backups`: the root and the keys are kept. */
  whole: boolean;
  /** Whether there was another root before: programs that trust the old one do not trust the new one. */
  rootChanged: boolean;
}

/**
 * Replaces the content of a data folder with a backup: a file of `writeBackupFile`, or one of the folder `backups`. The
 * caller holds the folder's lock. A process that ends in the middle leaves either the previous content, or the new one
 * after the next `finishRestore`; nothing is deleted.
 *
 * @throws VivariumError not_found, conflict (not a backup, or one of a newer Vivarium), internal_error (a damaged
 * backup), unavailable (a file cannot be written), with nothing changed.
 */
export function restoreFolder(directory: string, file: string): Restored {
  const staging = join(directory, RESTORE_FOLDER);
  const whole = isWholeBackup(file);
  try {
    rmSync(staging, { recursive: true, force: true });
    mkdirSync(staging, { mode: 0o700 });
    const { schema, added } = unpack(file, staging, whole);
    const replaced = [...DATABASE_PARTS, ...(whole ? BACKED_UP_FILES : [])];
    const isNew = !replaced.some((name) => existsSync(join(directory, name)));
    const rootChanged = isOtherRoot(directory, staging);
    const aside = asideFolder(join(directory, DATABASE_FILE));
    commit(staging, { aside: relative(directory, aside), replaced, added });
    finishRestore(directory);
    return { schema, aside: isNew ? null : aside, whole, rootChanged };
  } catch (error) {
    const isCommitted = existsSync(join(staging, PLAN_FILE));
    if (!isCommitted) rmSync(staging, { recursive: true, force: true });
    throw explainRestoring(error, file, isCommitted);
  }
}

function isWholeBackup(file: string): boolean {
  if (!existsSync(file)) throw notFound(`There is no file ${file}.`);
  let found: InspectedCopy;
  try {
    found = inspectCopy(file, [BACKUP_ID, APPLICATION_ID]);
  } catch (cause) {
    throw unavailable(`${file} can't be read (${reasonOf(cause)}).`, { cause });
  }
  if (found.fault !== null) throw conflict(`${file} can't be restored: ${found.fault}. Nothing was changed.`);
  if (found.id === BACKUP_ID) return true;
  if (sizeOf(`${file}-wal`) === 0) return false;
  throw conflict(
    `${file} is a database in use or not closed (its -wal is there); make a backup of it with "vivarium backup create".`,
  );
}

/** Unpacks the backup into an empty folder, and reads all of its pages. */
function unpack(file: string, folder: string, isWhole: boolean): { schema: number; added: string[] } {
  const database = join(folder, DATABASE_FILE);
  copyFileSync(file, database);
  chmodSync(database, OWNER_ONLY);
  const sqlite = new Sqlite(database);
  try {
    sqlite.pragma('journal_mode = DELETE');
    const fault = pageFault(sqlite, 'integrity_check');
    if (fault !== null) throw damagedBackup(file, fault);
    const bad = isWhole ? badRows(sqlite).find((each) => each !== null) : undefined;
    if (bad) throw damagedBackup(file, `Vivarium can't use ${bad.what}`);
    const added = [DATABASE_FILE, ...(isWhole ? unpackFiles(sqlite, folder, file) : [])];
    return { schema: readVersion(sqlite), added };
  } finally {
    sqlite.close();
    syncPath(database, 'r+');
  }
}

function unpackFiles(sqlite: Sqlite.Database, folder: string, file: string): string[] {
  const rows = filesIn(sqlite);
  const foreign = rows.find(({ path }) => !KEPT_FILE.test(path));
  if (foreign !== undefined) throw damagedBackup(file, `it contains the unknown file ${JSON.stringify(foreign.path)}`);
  // SQLite's check covers the structure of its pages, not their content.
  const damaged = rows.find(({ isDamaged }) => isDamaged);
  if (damaged !== undefined) throw damagedBackup(file, `${damaged.path} in it differs from what was stored`);
  for (const { path, content } of rows) {
    const target = join(folder, path);
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    writeFileAtomically(target, content, CERTIFICATE.test(path) ? 0o644 : OWNER_ONLY);
    syncFolder(dirname(target));
  }
  // Overwrites the pages: the root's private key must not stay in the database.
  sqlite.pragma('secure_delete = ON');
  sqlite.exec(`DROP TABLE ${FILES_TABLE}`);
  sqlite.pragma(`application_id = ${APPLICATION_ID}`);
  const fault = rootFault(folder);
  if (fault !== null) throw damagedBackup(file, fault);
  return BACKED_UP_FILES.filter((name) => existsSync(join(folder, name)));
}

/** Why an unpacked root can't be used; a sealed key is opened by its keyring only. */
function rootFault(folder: string): string | null {
  const [certificate, key, sealed] = ['root.pem', 'root-key.pem', 'root-key.sealed'].map((name) =>
    join(folder, 'ca', name),
  ) as [string, string, string];
  if (!existsSync(certificate)) return 'it has no root (ca/root.pem)';
  if (!existsSync(key)) return existsSync(sealed) ? null : 'it has no private key of the root (ca/root-key.pem)';
  try {
    const isOf = new X509Certificate(readFileSync(certificate)).checkPrivateKey(createPrivateKey(readFileSync(key)));
    return isOf ? null : 'the private key in it is not that of its root';
  } catch {
    return 'the root in it can’t be read';
  }
}

function isOtherRoot(directory: string, staging: string): boolean {
  const [before, after] = [directory, staging].map((folder) => join(folder, 'ca', 'root.pem'));
  if (before === undefined || after === undefined || !existsSync(before) || !existsSync(after)) return false;
  return !readFileSync(before).equals(readFileSync(after));
}

function commit(staging: string, content: z.infer<typeof plan>): void {
  syncFolder(staging);
  writeFileAtomically(join(staging, PLAN_FILE), JSON.stringify(content), OWNER_ONLY);
  syncFolder(staging);
}

/**
 * Completes a restoration that was interrupted after its new content was complete, and removes one that was interrupted
 * before. Every start does this, under the folder's lock.
 */
export function finishRestore(directory: string): void {
  const staging = join(directory, RESTORE_FOLDER);
  const planFile = join(staging, PLAN_FILE);
  if (existsSync(planFile)) {
    const { aside, replaced, added } = plan.parse(JSON.parse(readFileSync(planFile, 'utf8')));
    const asidePath = join(directory, aside);
    for (const name of replaced) {
      const target = join(directory, name);
      const isDone = added.includes(name) && !existsSync(join(staging, name));
      if (!isDone && existsSync(target)) {
        mkdirSync(asidePath, { recursive: true, mode: 0o700 });
        renameSync(target, join(asidePath, name));
      }
    }
    for (const name of added) {
      if (existsSync(join(staging, name))) renameSync(join(staging, name), join(directory, name));
    }
    if (existsSync(asidePath)) syncFolder(asidePath);
    syncFolder(directory);
    rmSync(planFile);
  }
  rmSync(staging, { recursive: true, force: true });
}

const damagedBackup = (file: string, what: string): VivariumError =>
  internalError(`The backup ${file} is damaged: ${what}. Nothing was changed.`);

function explainRestoring(error: unknown, file: string, isCommitted: boolean): unknown {
  if (error instanceof VivariumError) return error;
  const code = codeOf(error);
  if (code === null) return error;
  if (/^SQLITE_(CORRUPT|NOTADB)/.test(code)) return damagedBackup(file, String(error));
  const outcome = isCommitted ? 'The next start completes it.' : 'Nothing was changed.';
  return unavailable(`${file} could not be restored (${reasonOf(error)}). ${outcome}`, { cause: error });
}
