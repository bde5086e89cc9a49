import { readFileSync, statSync } from 'node:fs';
import Sqlite from 'better-sqlite3';
import { nextTurn } from '../base/turns.ts';
import { createBackups, isWhole, restoreCommands } from './copies/backups.ts';
import { lossOf } from './inspect.ts';
import { closing, damageOf, FULL_CHECK_BYTES_MAX, pageFault, sizeOf, walksOf } from './pages.ts';
import { type BadRow, badRows, DROP_COMMAND, findBadRow } from './tables/rows.ts';
import { messageOf } from '../base/error-code.ts';

/** The result of reading a database to its end. */
export type IntegrityReading =
  | { state: 'whole' }
  /** This many rows and index entries were read without a fault when the time ran out. */
  | { state: 'partly'; rows: number }
  | { state: 'damaged'; what: string }
  /** Every page can be read, but not this row. */
  | { state: 'bad-row'; what: string; command: string }
  | { state: 'unread'; why: string };

/** Rows read before other work runs and the time is checked: about a millisecond. */
const STEP_ROWS = 1_000;

/** Databases not in use are read in memory; larger ones would need too much of it. */
const AT_REST_BYTES_MAX = 256 * 1024 * 1024;

/** The header's write version: 2 is a write-ahead log (sqlite.org/fileformat2.html, section 1.3.3). */
const WRITE_VERSION_OFFSET = 18;
const READ_VERSION_OFFSET = 19;
const ROLLBACK_JOURNAL = 1;

/**
 * Reads a database in use by this process, on a read-only connection, with other work in between. Checks a small one
 * completely; of a larger one, reads every row and index until `isOver`.
 */
export async function readIntegrity(file: string, isOver: () => boolean): Promise<IntegrityReading> {
  try {
    const opened = new Sqlite(file, { readonly: true, fileMustExist: true, timeout: 0 });
    return await closing(opened, async (sqlite) => {
      const bad = await findBadRow(sqlite, isOver);
      if (bad !== null) return badRowReading(bad);
      return statSync(file).size <= FULL_CHECK_BYTES_MAX ? quickCheck(sqlite) : await walk(sqlite, isOver);
    });
  } catch (error) {
    return readFailure(error);
  }
}

/**
 * Reads a database not in use and leaves no files beside it. Loads it into memory first, because even a read-only
 * connection would create a log.
 */
export function readIntegrityAtRest(file: string): IntegrityReading {
  try {
    const loss = sizeOf(file) > 0 ? null : lossOf({ file, backups: createBackups(file, { now: () => 0 }) });
    if (loss !== null) return { state: 'damaged', what: loss };
    if (sizeOf(`${file}-wal`) > 0) {
      return {
        state: 'unread',
        why: 'it was not closed properly, for example after a crash. The next start applies its log (-wal) and checks it.',
      };
    }
    const { size } = statSync(file);
    if (size > AT_REST_BYTES_MAX)
      return { state: 'unread', why: 'it is too large to read in memory; the next start checks it.' };
    const octets = readFileSync(file);
    // A copy in memory has no log; the file contains all data.
    if (octets.length > READ_VERSION_OFFSET) {
      octets[WRITE_VERSION_OFFSET] = ROLLBACK_JOURNAL;
      octets[READ_VERSION_OFFSET] = ROLLBACK_JOURNAL;
    }
    return closing(new Sqlite(octets), (sqlite) => {
      const bad = badRows(sqlite).find((each) => each !== null) ?? null;
      return bad === null ? quickCheck(sqlite) : badRowReading(bad);
    });
  } catch (error) {
    return readFailure(error);
  }
}

/** The commands that restore the newest readable backup over a database; null without one. */
export function restoration(file: string): string[] | null {
  const usable = createBackups(file, { now: () => 0 })
    .list()
    .find(({ path }) => isWhole(path));
  return usable === undefined ? null : restoreCommands(file, usable);
}

/** The version of the SQLite library in use. */
export const sqliteVersion = (): string =>
  closing(new Sqlite(':memory:'), (sqlite) => String(sqlite.prepare('SELECT sqlite_version()').pluck().get()));

const badRowReading = ({ what }: BadRow): IntegrityReading => ({ state: 'bad-row', what, command: DROP_COMMAND });

function quickCheck(sqlite: Sqlite.Database): IntegrityReading {
  const what = pageFault(sqlite, 'quick_check');
  return what === null ? { state: 'whole' } : { state: 'damaged', what };
}

async function walk(sqlite: Sqlite.Database, isOver: () => boolean): Promise<IntegrityReading> {
  let rows = 0;
  for (const tree of walksOf(sqlite)) {
    for (const _row of sqlite.prepare(tree).raw().safeIntegers().iterate()) {
      if (++rows % STEP_ROWS !== 0) continue;
      if (isOver()) return { state: 'partly', rows };
      await nextTurn();
    }
  }
  return { state: 'whole' };
}

function readFailure(error: unknown): IntegrityReading {
  const damage = damageOf(error);
  if (damage !== null) return { state: 'damaged', what: damage };
  return { state: 'unread', why: `${messageOf(error)}.` };
}
