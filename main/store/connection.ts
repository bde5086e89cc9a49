import type { Database } from 'better-sqlite3';
import { VivariumError } from '../contract/errors.ts';
import { explain, isBroken, type DatabaseFile } from './faults.ts';

/** The single connection to the database, and how the aggregates call it. */
export interface Connection {
  readonly sqlite: Database;
  /** Wraps a function to convert SQLite's errors into user-facing ones. */
  guarded<Args extends unknown[], Result>(work: (...args: Args) => Result): (...args: Args) => Result;
  /** The same in one transaction, committed when the function returns and rolled back when it throws. */
  transactional<Args extends unknown[], Result>(work: (...args: Args) => Result): (...args: Args) => Result;
  /** Converts SQLite's error into a user-facing one if possible. */
  explain(error: unknown): unknown;
  /** Sets what to call, once, with the first error after which the file has to be opened again. */
  onBroken(listener: (error: unknown) => void): void;
}

/** Replaces every method once the store is closed. */
export const closedError = (): VivariumError =>
  new VivariumError('unavailable', 'Vivarium is stopping; its database is closed.');

export function connect(sqlite: Database, place: DatabaseFile): Connection {
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

  return {
    sqlite,
    guarded,
    transactional,
    explain: explainHere,
    onBroken(listener) {
      onBroken = listener;
    },
  };
}
