import type { Database } from 'better-sqlite3';
import { open } from 'node:fs/promises';
import { codeOf } from '../base/error-code.ts';
import { VivariumError } from '../contract/errors.ts';
import { explain, isBroken, type DatabaseFile } from './faults.ts';

/** The single connection to the database, and how the aggregates call it. */
export type Connection = ReturnType<typeof connect>;

/** Replaces every method once the store is closed. */
export const closedError = (): VivariumError =>
  new VivariumError('unavailable', 'Vivarium is stopping; its database is closed.');

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

  return {
    sqlite,
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
    async sync() {
      // Commits are appended to this file; a checkpoint stores it before it copies them.
      const log = await open(`${place.file}-wal`, 'r+').catch((error: unknown) => {
        if (codeOf(error) === 'ENOENT') return null;
        throw error;
      });
      try {
        await log?.datasync();
      } finally {
        await log?.close();
      }
    },
    /** Converts SQLite's error into a user-facing one if possible. */
    explain: explainHere,
    /** Sets a listener, called once with the first error after which the file must be opened again. */
    onBroken(listener: (error: unknown) => void) {
      onBroken = listener;
    },
  };
}
