import type { Clock, Timer } from '../../base/clock.ts';
import { nextTurn } from '../../base/turns.ts';
import { INT64_MIN } from '../../contract/values.ts';
import type { Connection } from '../connection.ts';
import type { DatasetHandle } from './datasets.ts';
import { SORTED_COLUMNS, type SortedBy } from './pet-walk.ts';

/** Pets indexed per turn: about 2 ms. */
const STEP_PETS = 500;

/** Maximum indexes, each of one dataset; for 1,000,000 pets one takes about 60 MB of memory. */
const SORTED_MAX = 4;

/** How long an unused index is kept, in real time. */
const IDLE_MS_MAX = 5 * 60_000;

/** An in-memory index of one dataset's pets. */
interface Sorted {
  key: string;
  table: string;
  /** Pets after this id may still be missing; null when the index is complete. */
  enteredTo: bigint | null;
  users: number;
  idle: Timer | null;
}

/**
 * Indexes by name and category, built for a list and dropped when unused. They are temporary tables in memory, kept up
 * to date by triggers: no cost on disk, none without such lists. Permanent ones would make adding pets five times as
 * slow.
 */
export interface SortedPets {
  /** Runs `work` with the table in that sort order; building it takes about 5 s for 1,000,000 pets, in turns. */
  use<Result>(
    handle: DatasetHandle,
    by: SortedBy,
    work: (table: string) => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result>;
  /** Call before all pets are replaced: updating the indexes takes longer than rebuilding them. */
  dropUnused(): void;
  close(): void;
}

export function createSortedPets(connection: Connection, clock: Pick<Clock, 'realTimer'>): SortedPets {
  const { sqlite, guarded } = connection;
  const kept = new Map<string, Sorted>();
  let made = 0;

  const make = guarded((handle: DatasetHandle, by: SortedBy): Sorted => {
    const table = `sorted_${++made}`;
    sqlite.exec(tableSql(table, by, handle.id));
    return { key: keyOf(handle, by), table, enteredTo: INT64_MIN, users: 0, idle: null };
  });

  /** Adds the next rows. Triggers may have added some already. */
  const enter = guarded((sorted: Sorted, handle: DatasetHandle, by: SortedBy): void => {
    const from = sorted.enteredTo;
    if (from === null) return;
    const [columns, id] = [SORTED_COLUMNS[by].join(', '), handle.id];
    const step = 'FROM pets NOT INDEXED WHERE dataset_id = ? AND id >= ? ORDER BY id';
    sqlite
      .prepare<[number, bigint, number]>(
        `INSERT OR IGNORE INTO ${sorted.table} (${columns}) SELECT ${columns}
           FROM (SELECT ${columns} ${step} LIMIT ?) ORDER BY ${columns}`,
      )
      .run(id, from, STEP_PETS);
    sorted.enteredTo =
      sqlite
        .prepare<[number, bigint, number], bigint>(`SELECT id ${step} LIMIT 1 OFFSET ?`)
        .pluck()
        .safeIntegers()
        .get(id, from, STEP_PETS) ?? null;
  });

  function drop({ key, table }: Sorted): void {
    kept.delete(key);
    // Dropping a table does not drop the triggers that fill it.
    if (sqlite.open)
      sqlite.exec(`${TRIGGERS.map((kind) => `DROP TRIGGER ${table}_${kind};`).join(' ')} DROP TABLE ${table};`);
  }

  function makeRoom(): void {
    if (kept.size < SORTED_MAX) return;
    const oldest = kept.values().find(({ users }) => users === 0);
    if (oldest === undefined) return;
    oldest.idle?.cancel();
    drop(oldest);
  }

  function take(handle: DatasetHandle, by: SortedBy): Sorted {
    const key = keyOf(handle, by);
    const known = kept.get(key);
    if (known === undefined) makeRoom();
    const sorted = known ?? make(handle, by);
    kept.delete(key);
    kept.set(key, sorted);
    sorted.idle?.cancel();
    sorted.users++;
    return sorted;
  }

  function release(sorted: Sorted): void {
    if (--sorted.users > 0) return;
    sorted.idle = clock.realTimer(IDLE_MS_MAX, () => drop(sorted));
  }

  return {
    async use(handle, by, work, signal) {
      const sorted = take(handle, by);
      try {
        while (sorted.enteredTo !== null) {
          signal?.throwIfAborted();
          enter(sorted, handle, by);
          await nextTurn();
        }
        return await work(sorted.table);
      } finally {
        release(sorted);
      }
    },
    dropUnused() {
      for (const sorted of kept.values()) {
        if (sorted.users > 0) continue;
        sorted.idle?.cancel();
        drop(sorted);
      }
    },
    close() {
      for (const { idle } of kept.values()) idle?.cancel();
      kept.clear();
    },
  };
}

const keyOf = (handle: DatasetHandle, by: SortedBy): string => `${handle.id} ${by}`;

const TRIGGERS = ['added', 'removed', 'changed'] as const;

const TYPES: Record<string, string> = { id: 'INTEGER', category_id: 'INTEGER', folded_name: 'TEXT', status: 'TEXT' };

function tableSql(table: string, by: SortedBy, dataset: number): string {
  const columns = SORTED_COLUMNS[by];
  const [first] = columns;
  const of = (row: 'NEW' | 'OLD') => columns.map((column) => `${row}.${column}`).join(', ');
  const put = `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${of('NEW')});`;
  const take = `DELETE FROM ${table} WHERE ${first} = OLD.${first} AND id = OLD.id;`;
  const whenAny = (...rows: string[]) => `WHEN ${rows.map((row) => `${row}.dataset_id = ${dataset}`).join(' OR ')}`;
  return `
    CREATE TEMP TABLE ${table} (
      ${columns.map((column) => `${column} ${TYPES[column]} NOT NULL`).join(', ')},
      PRIMARY KEY (${first}, id)
    ) STRICT, WITHOUT ROWID;
    CREATE TEMP TRIGGER ${table}_added AFTER INSERT ON main.pets ${whenAny('NEW')} BEGIN ${put} END;
    CREATE TEMP TRIGGER ${table}_removed AFTER DELETE ON main.pets ${whenAny('OLD')} BEGIN ${take} END;
    CREATE TEMP TRIGGER ${table}_changed AFTER UPDATE ON main.pets ${whenAny('NEW')} BEGIN ${take} ${put} END;`;
}
