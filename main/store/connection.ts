import type { Database } from 'better-sqlite3';
import { VivariumError } from '../contract/errors.ts';
import { explain, type Place } from './faults.ts';

/** The one connection to the database, and the two ways in which the aggregates call it. */
export interface Connection {
  readonly sqlite: Database;
  /** The function, with what SQLite throws turned into errors for people. */
  guarded<Args extends unknown[], Result>(work: (...args: Args) => Result): (...args: Args) => Result;
  /** The same in one transaction: all of it is stored when the function returns, or nothing when it throws. */
  transactional<Args extends unknown[], Result>(work: (...args: Args) => Result): (...args: Args) => Result;
  /** What SQLite threw, as an error for people where it is one. */
  explain(error: unknown): unknown;
}

/** What everything answers once the store is closed. */
export const closedError = (): VivariumError =>
  new VivariumError('unavailable', 'Vivarium is stopping; its database is closed.');

export function connect(sqlite: Database, place: Place): Connection {
  const begin = sqlite.prepare('BEGIN IMMEDIATE');
  const commit = sqlite.prepare('COMMIT');
  const rollback = sqlite.prepare('ROLLBACK');

  const explainHere = (error: unknown): unknown =>
    sqlite.open || error instanceof VivariumError ? explain(error, place) : closedError();

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
        // A full disk or an I/O error may have ended the transaction already.
        if (sqlite.open && sqlite.inTransaction) rollback.run();
      }
    });
  }

  return { sqlite, guarded, transactional, explain: explainHere };
}
