import { dirname } from 'node:path';
import Sqlite from 'better-sqlite3';
import type { Database } from 'better-sqlite3';
import { z } from 'zod';
import { ownCommand } from '../../base/system/own-command.ts';
import { printable } from '../../base/text/terminal.ts';
import { nextTurn } from '../../base/turns.ts';
import { boundedText, internalError } from '../../contract/errors.ts';
import { ACME_TABLES } from './acme.ts';
import { isWhole, restoreSteps } from '../copies/backups.ts';
import { BREAKS } from './breaks.ts';
import { DATASETS, PET_COUNTS, RECOUNT } from './datasets.ts';
import { DOMAINS, LEAVES, REVOCATIONS } from './domains.ts';
import type { DatabaseFile } from '../connection.ts';
import { KEYS, LIMITS } from './keys.ts';
import { latestVersion, MIGRATIONS, readVersion } from '../migrations/migrations.ts';
import { closing } from '../pages.ts';
import { ORDERS } from './orders.ts';
import { OWNED } from './owned.ts';
import { PETS } from './pets.ts';
import { PROVIDER_ITEMS } from './provider-items.ts';
import { DEPLOYS, PROJECTS, REQUESTS } from './projects.ts';
import { RECORDS } from './records.ts';
import { CLOCK, SETTINGS } from './settings.ts';
import { count, table, type Stored } from './table.ts';
import { SERIALS, ZONES } from './zones.ts';

/** The highest ids so far: a table of SQLite's own. */
const SEQUENCES = table('sqlite_sequence', ['name'], { name: z.string(), seq: count });

/** All tables; first those that a start needs. */
export const TABLES: readonly Pick<typeof SEQUENCES, 'name' | 'by' | 'columns' | 'fault'>[] = [
  ...[SETTINGS, CLOCK, PROJECTS, DOMAINS, ZONES, SERIALS, BREAKS, OWNED, SEQUENCES, DATASETS, PET_COUNTS, KEYS],
  ...[DEPLOYS, REQUESTS, LIMITS, LEAVES, REVOCATIONS, RECORDS, ...ACME_TABLES, PROVIDER_ITEMS, ORDERS, PETS],
];

/** A row that its aggregate could not read. */
export interface BadRow {
  table: string;
  /** The values of the columns that name it. */
  key: Stored;
  /** Names the row, the column and what is allowed there, without a full stop. */
  what: string;
}

/** Rows read in one turn: about a millisecond. */
const STEP_ROWS = 200;

/** Characters of a value that names a row. */
const NAMED_MAX = 80;

/** Reads every row; yields the bad ones, and null after every step. A database of an older schema has no bad rows. */
export function* badRows(sqlite: Database): Generator<BadRow | null, void> {
  if (readVersion(sqlite) !== latestVersion(MIGRATIONS)) return;
  let rows = 0;
  for (const { name, by, columns, fault } of TABLES) {
    const all = sqlite.prepare<[], Stored>(`SELECT ${columns.join(', ')} FROM ${name}`).safeIntegers();
    for (const stored of all.iterate()) {
      const key = keyOf(by, stored);
      for (const column of columns) if (typeof stored[column] === 'bigint') stored[column] = Number(stored[column]);
      const found = fault(stored);
      if (found !== null) yield { table: name, key, what: whatOf(name, key, found) };
      else if (++rows % STEP_ROWS === 0) yield null;
    }
  }
}

const keyOf = (by: readonly string[], stored: Stored): Stored =>
  Object.fromEntries(by.map((column) => [column, stored[column]]));

function whatOf(name: string, key: Stored, found: string): string {
  const named = Object.entries(key).map(([column, value]) => {
    const isPlain = value === null || typeof value === 'bigint' || typeof value === 'number';
    return `${column} ${isPlain ? value : printable(JSON.stringify(boundedText(String(value), NAMED_MAX)))}`;
  });
  return `the row ${named.join(', ')} in the table ${name}: ${found.replace(/\.$/, '')}`;
}

/** The first bad row; null without one, or when `isOver` ends the search. Lets other work run in between. */
export async function findBadRow(sqlite: Database, isOver = () => false): Promise<BadRow | null> {
  for (const bad of badRows(sqlite)) {
    if (bad !== null) return bad;
    if (isOver()) return null;
    await nextTurn();
  }
  return null;
}

/** Rows that every start reads: some 50 ms. Later bad rows show when they are used, and to the doctor. */
const START_ROWS_MAX = 5_000;

/** @throws VivariumError that names a bad row, the command that leaves it out, and the newest copy without bad rows */
export function refuseBadRows(sqlite: Database, place: DatabaseFile, rowsMax = START_ROWS_MAX): void {
  let bad: BadRow | null | undefined;
  try {
    bad = badRows(sqlite)
      .take(Math.ceil(rowsMax / STEP_ROWS))
      .find((each) => each !== null);
  } catch {
    // A damaged page, which is reported when it is needed.
  }
  if (!bad) return;
  const newest = place.backups.list().find(({ path }) => isWhole(path) && hasGoodRows(path));
  const restore =
    newest === undefined
      ? 'There is no backup without such rows.'
      : `The newest backup without such rows is ${newest.path}. ${restoreSteps(place.file, newest)}`;
  throw internalError(
    `The database ${place.file} can't be used because of ${bad.what}. To leave out such rows, with ` +
      `what belongs to them, after a copy: ${ownCommand(dirname(place.file))(DROP_COMMAND)}\n${restore}`,
  );
}

/** Leaves out the rows that a start refuses; `main/offline/at-rest.ts`. */
export const DROP_COMMAND = 'vivarium doctor --drop-bad-rows';

const hasGoodRows = (path: string): boolean =>
  closing(new Sqlite(path, { readonly: true }), (sqlite) => badRows(sqlite).every((bad) => bad === null));

/** What a world needs, where a row of it was bad: the row of serials, two datasets a project, the counts of pets. */
const REFILL = `
  INSERT OR IGNORE INTO serials (id, last, platform, platform_contents)
    SELECT 1, coalesce(max(serial), 1), 1, '' FROM zones;
  INSERT OR IGNORE INTO datasets (project_id, environment)
    SELECT projects.id, value FROM projects, json_each('["production", "staging"]');
  ${RECOUNT}`;

/** A row that is removed can leave others bad, but not endlessly. */
const ROUNDS_MAX = 10;

/** Removes all bad rows, with the rows that refer to them; returns what was wrong. */
export function dropBadRows(sqlite: Database): string[] {
  const dropped: string[] = [];
  sqlite.pragma('foreign_keys = ON');
  sqlite.transaction(() => {
    for (let round = 0; round < ROUNDS_MAX; round++) {
      const found = [...badRows(sqlite)].filter((bad) => bad !== null);
      for (const { table: name, key, what } of found) {
        const of = name === DATASETS.name ? [key['id']] : [];
        for (const id of of)
          for (const each of [PETS, ORDERS]) sqlite.prepare(`DELETE FROM ${each.name} WHERE dataset_id = ?`).run(id);
        const condition = Object.keys(key).map((column) => `${column} IS ?`);
        sqlite.prepare(`DELETE FROM ${name} WHERE ${condition.join(' AND ')}`).run(...Object.values(key));
        dropped.push(what);
      }
      if (found.length === 0) break;
    }
    sqlite.exec(REFILL);
  })();
  return dropped;
}

/** A row of `pragma foreign_key_list`. */
interface Reference {
  id: number;
  from: string;
  table: string;
  to: string;
}

/** A row that refers to a row that does not exist, named as bad rows are. */
export function brokenReference(sqlite: Database): string | null {
  const [broken] = sqlite.pragma('foreign_key_check') as { table: string; fkid: number }[];
  const named = TABLES.find(({ name }) => name === broken?.table);
  if (broken === undefined || named === undefined) return null;
  const references = sqlite.pragma(`foreign_key_list(${named.name})`) as Reference[];
  const { from, table: parent, to } = references.find(({ id }) => id === broken.fkid) as Reference;
  const row = sqlite
    .prepare<[], Stored>(`SELECT * FROM ${named.name} WHERE ${from} NOT IN (SELECT ${to} FROM ${parent})`)
    .get();
  return whatOf(named.name, keyOf(named.by, row ?? {}), `${from} must be the ${to} of a row of ${parent}`);
}
