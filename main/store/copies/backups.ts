import { orElse } from '../../contract/errors.ts';
import Sqlite from 'better-sqlite3';
import { existsSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import type { Database } from 'better-sqlite3';
import type { Clock, EpochMs } from '../../base/clock.ts';
import { shellWord } from '../../base/text/shell.ts';
import { APPLICATION_ID, closing, pageFault } from '../pages.ts';
import { beginFile, type InspectedCopy, listFiles, makeOwnFolder, readCopy } from './copy-file.ts';

/** Relative to the database. */
const BACKUP_FOLDER = 'backups';

/** Enough for a week; bounds the disk space to a small multiple of the database. */
export const BACKUPS_KEPT = 5;

/** Maximum backups of one moment (a frozen clock), which are numbered; more in one millisecond are a mistake. */
const SAME_MOMENT_MAX = 1_000;

/** The part after the database's name and `-v`: schema, moment, and a number to make it unique. */
const BACKUP_REST = /^(\d{1,9})-(\d{8}T\d{9}Z)(?:-\d{1,4})?\.db$/;

export interface BackupFile {
  path: string;
  schema: number;
  /** When it was made, on the app's clock. */
  takenAtMs: EpochMs;
}

/** The folder `backups` beside a database, and its files. */
export type Backups = ReturnType<typeof createBackups>;

export function createBackups(file: string, clock: Pick<Clock, 'now'>) {
  const folder = join(dirname(file), BACKUP_FOLDER);
  const name = basename(file, extname(file));
  const prefix = `${name}-v`;

  /** Newest first by the file's real modification time. */
  const list = (): BackupFile[] =>
    listFiles(folder, prefix, BACKUP_REST).map(({ path, match }) => ({
      path,
      schema: Number(match[1]),
      takenAtMs: parseStamp(match[2] as string),
    }));

  function freePath(schema: number): string {
    const stem = join(folder, `${prefix}${schema}-${formatStamp(clock.now())}`);
    for (let number = 1; number <= SAME_MOMENT_MAX; number++) {
      const path = number === 1 ? `${stem}.db` : `${stem}-${number}.db`;
      if (statSync(path, { throwIfNoEntry: false }) === undefined) return path;
    }
    throw new Error(`There are already ${SAME_MOMENT_MAX} backups of this moment in ${folder}.`);
  }

  /** A backup made in small steps between other work. `abandon` removes its partial file. */
  function begin(schema: number): { temporary: string; finish(): string; abandon(): void } {
    makeOwnFolder(folder);
    const begun = beginFile(folder, `.${name}-`);
    return {
      temporary: begun.temporary,
      finish() {
        begun.store();
        const path = freePath(schema);
        begun.appearAs(path);
        begun.end();
        for (const old of list().slice(BACKUPS_KEPT)) rmSync(old.path, { force: true });
        return path;
      },
      abandon: begun.end,
    };
  }

  return {
    list,
    begin,
    /** Makes a backup synchronously; returns its path once durable. Blocks while it copies. */
    takeNow(sqlite: Database, schema: number): string {
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
const formatStamp = (atMs: EpochMs): string => new Date(atMs).toISOString().replaceAll(/[-:.]/g, '');

function parseStamp(stamp: string): EpochMs {
  const match = /^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})(\d{3})Z$/.exec(stamp);
  const [year, month, day, hour, minute, second, millisecond] = (match ?? []).slice(1).map(Number);
  return Date.UTC(year ?? NaN, (month ?? NaN) - 1, day, hour, minute, second, millisecond);
}

/** A backup as its header and size describe it. */
export type BackupReading = Omit<InspectedCopy, 'id'> & Pick<BackupFile, 'path' | 'schema'>;

/** The backups of a database, newest first, and their folder, for the doctor. */
export function readBackups(file: string): { folder: string; backups: BackupReading[] } {
  const backups = createBackups(file, { now: () => 0 }).list();
  return {
    folder: join(dirname(file), BACKUP_FOLDER),
    backups: backups.map(({ path, schema: named }) => {
      const { id: _, ...read } = readCopy(path, [APPLICATION_ID]);
      return { ...read, path, schema: read.schema ?? named };
    }),
  };
}

/** Reading a larger file would block for too long; it counts as readable. */
const CHECKED_BYTES_MAX = 64 * 1024 * 1024;

/** Whether the database in `path` is fully readable, checked up to a maximum size. Changes nothing. */
export const isWhole = (path: string): boolean =>
  orElse(() => {
    if (statSync(path).size > CHECKED_BYTES_MAX) return true;
    const database = new Sqlite(path, { readonly: true, fileMustExist: true });
    return closing(database, () => pageFault(database, 'quick_check') === null);
  }, false);

/**
 * Commands that restore a backup over a database, for the user to paste. They move the old files instead of deleting
 * them, including `-wal` and `-shm`, which SQLite would apply to any database of that name.
 */
export function restoreSteps(file: string, backup: BackupFile): string {
  return ['To restore it, stop Vivarium and run:', ...restoreCommands(file, backup).map((line) => `  ${line}`)].join(
    '\n',
  );
}

/** The same commands, unquoted. */
export const restoreCommands = (file: string, backup: Pick<BackupFile, 'path'>): string[] => [
  ...moveAsideCommands(file, []),
  copyCommand(backup.path, file),
];

/** The commands that make room for a new, empty database. */
export function beginAnewSteps(file: string): string {
  const commands = moveAsideCommands(file, startedFiles(file));
  return ['To start over, stop Vivarium and run:', ...commands.map((command) => `  ${command}`)].join('\n');
}

/** Maximum folders for damaged databases; after that the last name is reused. */
const ASIDE_FOLDERS_MAX = 1_000;

/**
 * A new folder, to keep files of earlier restorations. It is inside the backups, because a data folder without a
 * database may contain only Vivarium's own files.
 */
export function asideFolder(file: string): string {
  const stem = join(dirname(file), BACKUP_FOLDER, 'set-aside');
  let number = 1;
  while (number < ASIDE_FOLDERS_MAX && existsSync(`${stem}-${number}`)) number++;
  return `${stem}-${number}`;
}

const isWindows = process.platform === 'win32';
const quote = (path: string): string => shellWord(path, process.platform);

/** Names of files that every start leaves beside its database: they show that there was one. */
export const startedFiles = (file: string): string[] =>
  ['control-token', 'demo-key.json'].filter((name) => existsSync(join(dirname(file), name)));

function moveAsideCommands(file: string, others: readonly string[]): string[] {
  const aside = quote(asideFolder(file));
  const parts = ['', '-wal', '-shm'].some((suffix) => existsSync(file + suffix))
    ? [isWindows ? quote(`${file}*`) : `${quote(file)}*`]
    : [];
  const moved = [...parts, ...others.map((name) => quote(join(dirname(file), name)))];
  if (moved.length === 0) return [];
  return [
    isWindows ? `mkdir ${aside}` : `mkdir -p ${aside}`,
    ...moved.map((what) => `${isWindows ? 'move' : 'mv'} ${what} ${aside}`),
  ];
}

const copyCommand = (from: string, to: string): string => `${isWindows ? 'copy' : 'cp'} ${quote(from)} ${quote(to)}`;
