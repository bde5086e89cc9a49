import type { Database, Statement } from 'better-sqlite3';
import { LruMap } from '../../base/lru.ts';
import { INT64_MAX, INT64_MIN, isInt64Text, type PetSort, type PetStatus } from '../../contract/values.ts';
import { foldName } from '../../model/pet.ts';

/** Rows inspected per step: about 1 ms, or 4 ms when names must be read from the table. */
export const STRETCH_ROWS = 4_000;

/** Selects a dataset's pets and their order. */
export interface Wanted {
  dataset: number;
  /** Only pets of this status; null for all. */
  status: PetStatus | null;
  /** A part of the name in any case, or an exact id; null or empty for all. */
  search: string | null;
  where: ColumnFilter;
  sort: PetSort;
  descending: boolean;
}

/** Filters by column; all of them must match. */
export interface ColumnFilter {
  /** A part of the name in any case. */
  name?: string;
  categoryId?: bigint;
  /** The lowest and the highest id. */
  first?: bigint;
  last?: bigint;
}

/** A row's position in a sort: the values of the sort's columns. */
export type SortKey = readonly (bigint | string | Buffer)[];

/**
 * Walks a dataset's rows in sort order, in stretches of `STRETCH_ROWS`. The key of its first row identifies a stretch.
 * Stretches include rows that do not match, which are skipped.
 */
export interface Walk {
  /** The first stretch of a walk. */
  readonly start: SortKey;
  /** Whether all walked rows match, which makes a stretch's length its count. */
  readonly everything: boolean;
  /** The next stretch; null after the last. */
  next(stretch: SortKey): SortKey | null;
  /** The number of matching pets in a stretch; with `before`, only those ahead of that key. */
  count(stretch: SortKey, before?: SortKey): number;
  /** Ids of the matching pets of a stretch, in order. */
  ids(stretch: SortKey, skip: number, limit: number): bigint[];
  /** The key of a pet; null when it does not exist or does not match. */
  keyOf(id: bigint): SortKey | null;
  /** Whether `key` is at or after `other`. */
  isFrom(key: SortKey, other: SortKey): boolean;
}

/** Sorts with a temporary table of their own; see `pet-sorted.ts`. */
export type SortedBy = 'name' | 'categoryId';

/** The columns of such a table: the sort key, the id, and the columns that filters and searches read. */
export const SORTED_COLUMNS: Record<SortedBy, readonly [string, ...string[]]> = {
  name: ['folded_name', 'id', 'status', 'category_id'],
  categoryId: ['category_id', 'id', 'status', 'folded_name'],
};

interface Sorting {
  columns: readonly string[];
  /** The table or index in sort order, named because SQLite without statistics prefers the primary key. */
  from: (table: string) => string;
  /** Sentinels before and after every row. A blob sorts after any text. */
  ends: readonly [SortKey, SortKey];
}

const BY_ID: Sorting = {
  columns: ['id'],
  from: () => 'pets NOT INDEXED WHERE dataset_id = :dataset',
  ends: [[INT64_MIN], [INT64_MAX]],
};

/** The status index keeps pets of one status together, by id, for walking them alone. */
const BY_ID_OF_STATUS: Sorting = {
  ...BY_ID,
  from: () => 'pets INDEXED BY pets_by_status WHERE dataset_id = :dataset AND status = :status',
};

const TEXT_ENDS: Sorting['ends'] = [
  ['', INT64_MIN],
  [Buffer.alloc(0), INT64_MAX],
];

const SORTINGS: Record<PetSort, Sorting> = {
  id: BY_ID,
  status: {
    columns: ['status', 'id'],
    from: () => 'pets INDEXED BY pets_by_status WHERE dataset_id = :dataset',
    ends: TEXT_ENDS,
  },
  name: { columns: ['folded_name', 'id'], from: (table) => `${table} WHERE TRUE`, ends: TEXT_ENDS },
  categoryId: {
    columns: ['category_id', 'id'],
    from: (table) => `${table} WHERE TRUE`,
    ends: [
      [INT64_MIN, INT64_MIN],
      [INT64_MAX, INT64_MAX],
    ],
  },
};

type Parameters = Record<string, bigint | number | string | Buffer | null>;

interface Statements {
  next: Statement<[Parameters], SortKey>;
  count: Statement<[Parameters], number>;
  countBefore: Statement<[Parameters], number>;
  ids: Statement<[Parameters], bigint>;
  keyOf: Statement<[Parameters], SortKey>;
}

/** Maximum cached kinds of walks, with their statements. */
const KINDS_KEPT = 64;

/** Creates walks. `table` holds the pets sorted by name or category, if needed. */
export function createPetWalks(sqlite: Database): (wanted: Wanted, table?: string) => Walk {
  const kinds = new LruMap<Statements>(KINDS_KEPT);

  function statementsOf(kind: Kind, table: string, descending: boolean): Statements {
    const source = kind.sorting.from(table);
    const name = [source, kind.sorting.columns, kind.filter, descending].join(' ');
    return kinds.use(name, () => prepare(sqlite, kind, source, descending));
  }

  return (wanted, table = 'pets') => {
    const kind = kindOf(wanted);
    const statements = statementsOf(kind, table, wanted.descending);
    const text = wanted.search ?? '';
    const parameters: Parameters = {
      dataset: wanted.dataset,
      status: wanted.status,
      text: foldName(text),
      id: isInt64Text(text.trim()) ? BigInt(text.trim()) : null,
      name: foldName(wanted.where.name ?? ''),
      category: wanted.where.categoryId ?? null,
      first: wanted.where.first ?? null,
      last: wanted.where.last ?? null,
    };
    const at = (stretch: SortKey, more: Parameters = {}): Parameters => ({
      ...parameters,
      key0: stretch[0] ?? null,
      key1: stretch[1] ?? null,
      ...more,
    });
    const [lowest, highest] = kind.sorting.ends;
    return {
      start: wanted.descending ? highest : lowest,
      everything: kind.filter === EVERYTHING,
      next: (stretch) => statements.next.get(at(stretch)) ?? null,
      count(stretch, before) {
        if (before === undefined) return statements.count.get(at(stretch)) ?? 0;
        return statements.countBefore.get(at(stretch, { before0: before[0] ?? null, before1: before[1] ?? null })) ?? 0;
      },
      ids: (stretch, skip, limit) => statements.ids.all(at(stretch, { skip, limit })),
      keyOf: (id) => statements.keyOf.get({ ...parameters, pet: id }) ?? null,
      isFrom: (key, other) => compareKeys(key, other) * (wanted.descending ? -1 : 1) >= 0,
    };
  };
}

/** The SQL of a walk. */
interface Kind {
  sorting: Sorting;
  /** The filter on each row. */
  filter: string;
  /** The columns that the filter reads. */
  reads: readonly string[];
}

const EVERYTHING = 'TRUE';

/** The conditions of filters by column, and the columns that they read. */
const CONDITIONS: Record<keyof ColumnFilter, { sql: string; reads: string }> = {
  name: { sql: 'instr(folded_name, :name) > 0', reads: 'folded_name' },
  // The plus keeps SQLite from dropping the column from the order, which it would then sort anew.
  categoryId: { sql: '+category_id = :category', reads: 'category_id' },
  first: { sql: 'id >= :first', reads: 'id' },
  last: { sql: 'id <= :last', reads: 'id' },
};

function kindOf({ status, search, where, sort }: Wanted): Kind {
  const conditions = Object.entries(CONDITIONS)
    .filter(([name]) => where[name as keyof ColumnFilter] !== undefined)
    .map(([, condition]) => condition);
  if (search !== null && search !== '') {
    conditions.push({ sql: '(instr(folded_name, :text) > 0 OR id = :id)', reads: 'folded_name' });
  }
  const searching = conditions.length > 0;
  const byId = sort === 'id' || sort === 'status';
  // A search reads names, which the table contains and the status index does not.
  if (status !== null && byId && !searching) {
    return { sorting: BY_ID_OF_STATUS, filter: EVERYTHING, reads: [] };
  }
  const ofStatus = status === null ? [] : ['status = :status'];
  return {
    sorting: SORTINGS[status !== null && byId ? 'id' : sort],
    filter: [...ofStatus, ...conditions.map(({ sql }) => sql)].join(' AND ') || EVERYTHING,
    reads: [...(status === null ? [] : ['status']), ...conditions.map(({ reads }) => reads)],
  };
}

function prepare(sqlite: Database, { sorting, filter, reads }: Kind, source: string, descending: boolean): Statements {
  const { columns } = sorting;
  const list = columns.join(', ');
  const row = (names: readonly string[]) => `(${names.join(', ')})`;
  const key = row(columns.map((_, number) => `:key${number}`));
  const before = row(columns.map((_, number) => `:before${number}`));
  const order = columns.map((column) => `${column} ${descending ? 'DESC' : 'ASC'}`).join(', ');
  const from = `FROM ${source} AND ${row(columns)} ${descending ? '<=' : '>='} ${key} ORDER BY ${order}`;
  // Only the needed columns, which lets SQLite stay within a covering index.
  const used = [...new Set([...columns, ...reads])].join(', ');
  const stretch = `(SELECT ${used} ${from} LIMIT ${STRETCH_ROWS})`;
  return {
    next: sqlite
      .prepare<[Parameters], SortKey>(`SELECT ${list} ${from} LIMIT 1 OFFSET ${STRETCH_ROWS}`)
      .raw()
      .safeIntegers(),
    count: sqlite.prepare<[Parameters], number>(`SELECT count(*) FROM ${stretch} WHERE ${filter}`).pluck(),
    countBefore: sqlite
      .prepare<[Parameters], number>(
        `SELECT count(*) FROM ${stretch} WHERE ${filter} AND ${row(columns)} ${descending ? '>' : '<'} ${before}`,
      )
      .pluck(),
    ids: sqlite
      .prepare<[Parameters], bigint>(
        `SELECT id FROM ${stretch} WHERE ${filter} ORDER BY ${order} LIMIT :limit OFFSET :skip`,
      )
      .pluck()
      .safeIntegers(),
    keyOf: sqlite
      .prepare<[Parameters], SortKey>(
        `SELECT ${list} FROM pets NOT INDEXED WHERE dataset_id = :dataset AND id = :pet
           AND (:status IS NULL OR status = :status) AND ${filter}`,
      )
      .raw()
      .safeIntegers(),
  };
}

/** Compares as SQLite does: integers by value, texts by their UTF-8 bytes. */
function compareKeys(key: SortKey, other: SortKey): number {
  for (const [index, value] of key.entries()) {
    const compared = compareValues(value, other[index] ?? value);
    if (compared !== 0) return compared;
  }
  return 0;
}

function compareValues(value: SortKey[number], other: SortKey[number]): number {
  if (typeof value === 'bigint' && typeof other === 'bigint') return value < other ? -1 : value > other ? 1 : 0;
  if (typeof value === 'string' && typeof other === 'string') {
    return Buffer.compare(Buffer.from(value), Buffer.from(other));
  }
  return Number(typeof value === 'object') - Number(typeof other === 'object');
}
