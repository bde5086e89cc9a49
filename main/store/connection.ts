import type { Database } from 'better-sqlite3';
import { open } from 'node:fs/promises';
import { codeOf, messageOf } from '../base/error-code.ts';
import { conflict, internalError, unavailable, VivariumError } from '../contract/errors.ts';
import { iso } from '../contract/values.ts';
import { dirname } from 'node:path';
import { damageOf } from './pages.ts';
import { type Backups, beginAnewSteps, isWhole, restoreSteps } from './copies/backups.ts';
import type { Stored } from './tables/table.ts';

/** The single connection to the database, and how the aggregates call it. */
export type Connection = ReturnType<typeof connect>;

/** Replaces every method once the store is closed. */
export const closedError = (): VivariumError => unavailable('Vivarium is stopping; its database is closed.');

export function connect(sqlite: Database, place: DatabaseFile) {
  const begin = sqlite.prepare('BEGIN IMMEDIATE');
  const commit = sqlite.prepare('COMMIT');
  const rollback = sqlite.prepare('ROLLBACK');

  let onBroken: (error: unknown) => void = () => undefined;

  function explainHere(error: unknown): unknown {
    if (!sqlite.open && !(error instanceof VivariumError)) return closedError();
    const explained = explain(error, place);
    if (isBroken(error)) {
      const tell = onBroken;
      onBroken = () => undefined;
      tell(explained);
    }
    return explained;
  }

  function guarded<Args extends unknown[], Result>(work: (...args: Args) => Result): (...args: Args) => Result {
    return (...args) => {
      try {
        return work(...args);
      } catch (error) {
        throw explainHere(error);
      }
    };
  }

  function transactional<Args extends unknown[], Result>(work: (...args: Args) => Result): (...args: Args) => Result {
    return guarded((...args) => {
      if (sqlite.inTransaction) return work(...args);
      begin.run();
      try {
        const result = work(...args);
        commit.run();
        return result;
      } finally {
        // A full disk or an I/O error may already have ended the transaction.
        if (sqlite.open && sqlite.inTransaction) rollback.run();
      }
    });
  }

  function inPart<Args extends unknown[], Result>(work: (...args: Args) => Result): (...args: Args) => Result {
    const run = transactional(work);
    return guarded((...args) => {
      sqlite.pragma('synchronous = NORMAL');
      try {
        return run(...args);
      } finally {
        if (sqlite.open) sqlite.pragma('synchronous = FULL');
      }
    });
  }

  /** Statements as functions of their parameters; errors are converted as by `guarded`. */
  const statements = {
    /** All rows; `read` converts each. */
    rows<Args extends unknown[], Row>(sql: string, read?: (stored: Stored) => Row) {
      const statement = sqlite.prepare<Args, Row>(sql);
      const all = guarded((...args: Args) => statement.all(...args));
      return read === undefined ? all : (...args: Args) => all(...args).map((row) => read(row as Stored));
    },
    /** The first row; null without one. A change that returns a row has to be `transactional`, to report a failed commit. */
    row<Args extends unknown[], Row>(sql: string, read = (stored: Stored) => stored as Row) {
      const statement = sqlite.prepare<Args, Stored>(sql);
      return guarded((...args: Args) => {
        const stored = statement.get(...args);
        return stored === undefined ? null : read(stored);
      });
    },
    /** The first column of the first row; null without one. */
    value<Args extends unknown[], Value>(sql: string) {
      const statement = sqlite.prepare<Args, Value>(sql).pluck();
      return guarded((...args: Args) => statement.get(...args) ?? null);
    },
    count<Args extends unknown[] = []>(sql: string) {
      const statement = sqlite.prepare<Args, number>(sql).pluck();
      return guarded((...args: Args) => statement.get(...args) ?? 0);
    },
    run<Args extends unknown[]>(sql: string) {
      const statement = sqlite.prepare<Args>(sql);
      return guarded((...args: Args) => void statement.run(...args));
    },
  };

  return {
    sqlite,
    ...statements,
    /** Wraps a function to convert SQLite's errors into user-facing ones. */
    guarded,
    /**
     * The same in one transaction, committed when the function returns and rolled back when it throws; within another one,
     * as a part of it.
     */
    transactional,
    /**
     * The same without waiting for the disk, for parts of a long change: a power failure undoes them until `sync`, or a
     * transaction of another kind, has ended.
     */
    inPart,
    /** Resolves when all commits are on disk. */
    sync: () => syncLog(`${place.file}-wal`),
    /** Converts SQLite's error into a user-facing one if possible. */
    explain: explainHere,
    /** Sets a listener, called once with the first error after which the file must be opened again. */
    onBroken(listener: (error: unknown) => void) {
      onBroken = listener;
    },
  };
}

/** Commits are appended to this file; a checkpoint stores it before it copies them. */
async function syncLog(path: string): Promise<void> {
  const log = await open(path, 'r+').catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  });
  try {
    await log?.datasync();
  } finally {
    await log?.close();
  }
}

/** The database that an error refers to. */
export interface DatabaseFile {
  file: string;
  backups: Pick<Backups, 'list'>;
}

/** The database is unreadable: names the fault, the newest backup, and the commands to restore it. */
export function damaged(place: DatabaseFile, what: string, cause?: unknown): VivariumError {
  const backups = place.backups.list();
  // The cause of the damage may have affected its backups too.
  const newest = backups.find((backup) => isWhole(backup.path));
  const steps =
    newest === undefined
      ? `${backups.length === 0 ? 'There is no backup of it.' : 'Its backups are damaged too.'} ${RECOVERY} ${beginAnewSteps(place.file)}`
      : `The newest backup is ${newest.path}, taken ${iso(newest.takenAtMs)}. ${restoreSteps(place.file, newest)}`;
  const message = `The database ${place.file} is damaged: ${what}. Nothing was overwritten or deleted. ${steps}`;
  return internalError(message, { cause });
}

const RECOVERY = 'Put back a copy of your own; of a file with content, "sqlite3 FILE .recover" may recover a part.';

export function foreign(file: string, what: string): VivariumError {
  return conflict(
    `${file} is ${what}, not a Vivarium database, so it was left unchanged. ` +
      'Use another folder with --data-dir, or move the file away.',
  );
}

export function newerSchema(place: DatabaseFile, found: number, known: number): VivariumError {
  const usable = place.backups.list().find((backup) => backup.schema <= known);
  const restore =
    usable === undefined
      ? `(there is no backup with schema ${known} or older)`
      : `or go back to the backup ${usable.path}, taken ${iso(usable.takenAtMs)}, without later changes. ` +
        restoreSteps(place.file, usable);
  return conflict(
    `The database ${place.file} has schema ${found}, but this Vivarium supports schemas up to ${known}: a newer Vivarium ` +
      'has written it. Nothing was changed. Start the newer Vivarium, use another folder with --data-dir, ' +
      restore,
  );
}

/** The file or its folder is not writable, or cannot be opened. */
export function unwritable(file: string, what: string, cause?: unknown): VivariumError {
  return unavailable(
    `The database ${file} can't be used: ${what}. Vivarium must be able to read and write this file and the folder ` +
      `${dirname(file)}: correct their permissions, or use another folder with --data-dir.`,
    { cause },
  );
}

/**
 * Converts errors of SQLite or the file system into user-facing ones: damage, a full disk, missing permissions, another
 * program's lock. Returns other errors unchanged, because they are bugs.
 */
export function explain(error: unknown, place: DatabaseFile): unknown {
  const code = codeOf(error);
  if (error instanceof VivariumError || code === null) return error;
  const { file } = place;
  const damage = damageOf(error);
  if (damage !== null) return damaged(place, damage, error);
  // The index of the write-ahead log is a file of its own, which SQLite could not extend.
  if (/^(SQLITE_FULL|SQLITE_IOERR_SHMSIZE|ENOSPC|EDQUOT)/.test(code)) {
    return unavailable(
      `The disk that holds ${file} is full; this change was not stored. Free some space on it, then try again.`,
      { cause: error },
    );
  }
  if (/^(SQLITE_READONLY|SQLITE_CANTOPEN|SQLITE_PERM|SQLITE_AUTH|EACCES|EPERM|EROFS)/.test(code)) {
    return unwritable(file, `${messageOf(error)} (${code})`, error);
  }
  if (/^SQLITE_(BUSY|LOCKED)/.test(code)) {
    return unavailable(
      `Another program holds a lock on ${file}; this change was not stored. Close it (a database browser, a backup ` +
        'tool, a second Vivarium), then try again.',
      { cause: error },
    );
  }
  if (/^(SQLITE_IOERR|EIO)/.test(code)) {
    return unavailable(
      `${file} could not be read or written (${code}); this change was not stored. Check the disk it is on.`,
      { cause: error },
    );
  }
  return error;
}

/**
 * Whether an open file must be opened again before further use: the system failed to read or write it, or it is no
 * longer a database. Damage in one place is different: the rest is readable, and a restart would not repair it.
 */
const isBroken = (error: unknown): boolean => /^SQLITE_(IOERR|NOTADB)/.test(codeOf(error) ?? '');
