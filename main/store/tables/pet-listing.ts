import type { Database, Statement } from 'better-sqlite3';
import { LruMap } from '../../base/lru.ts';
import { eachField, EDITABLE_FIELDS, PET_FIELDS, type PetField } from '../../contract/pet-fields.ts';
import { isInt64Text, type PetSort, type PetStatus } from '../../contract/values.ts';
import { foldName, type Pet } from '../../model/pet.ts';

/** Filters by column; all of them must match: a part of the name in any case, another value as it is. */
export type ColumnFilter = Partial<Omit<Pet, 'id' | 'status'>> & {
  /** The lowest and the highest id. */
  first?: bigint;
  last?: bigint;
};

export interface PetQuery {
  /** Only pets of this status; null for all. */
  status: PetStatus | null;
  /** A part of the name in any case, or an exact id; null or empty for all. */
  search: string | null;
  where?: ColumnFilter;
  sort: PetSort;
  descending: boolean;
  limit: number;
  /**
   * Where the page begins: after an id, in the order of ids; or at a position from 0. With `anchor`, the position is
   * `before` rows ahead of that pet's current one; `offset` applies when it no longer exists.
   */
  from: { after: bigint } | { offset: number; anchor: bigint | null; before?: number };
}

/** A page of ids, with its place in the list. */
interface IdPage {
  ids: bigint[];
  /** The total over all pages; null when the pets of the status are the list. */
  total: number | null;
  /** The position of the first item; null when the page was requested by `after`. */
  offset: number | null;
}

type Parameters = Record<string, bigint | number | string | null>;
type Key = [value: bigint | string, id: bigint];

/** The column of each order, and its index with what it covers; ids are the order of the table itself. */
const ORDERS: Partial<Record<PetField, { column: string; index: string; covers: readonly string[] }>> = {
  name: { column: 'folded_name', index: 'pets_by_name', covers: ['id', 'folded_name', 'status', 'category_id'] },
  categoryId: { column: 'category_id', index: 'pets_by_category', covers: ['id', 'category_id', 'status'] },
  status: { column: 'status', index: 'pets_by_status', covers: ['id', 'status'] },
};

/** The conditions of filters by column, and the columns that they read. */
const CONDITIONS: Record<keyof ColumnFilter, { sql: string; reads: string }> = {
  ...eachField(EDITABLE_FIELDS, (field, { column }) => ({ sql: `${column} = :${field}`, reads: column })),
  name: { sql: 'instr(folded_name, :name) > 0', reads: 'folded_name' },
  first: { sql: 'id >= :first', reads: 'id' },
  last: { sql: 'id <= :last', reads: 'id' },
};
const SEARCH = { sql: '(instr(folded_name, :text) > 0 OR id = :id)', reads: 'folded_name' };
const OF_STATUS = { sql: 'status = :status', reads: 'status' };

const STATEMENTS_KEPT = 128;

/**
 * Lists pets in any order from any position, in one turn: at most 20 ms for the 100,000 pets of a full dataset. An order
 * without a filter walks its index; a filter that reads other columns walks the table, and its matches are sorted.
 */
export function createPetListing(sqlite: Database) {
  const statements = new LruMap<Statement<[Parameters]>>(STATEMENTS_KEPT);
  const prepared = (sql: string) =>
    statements.use(sql, () => sqlite.prepare<[Parameters]>(sql).raw().safeIntegers()) as Statement<[Parameters], Key>;
  const countOf = (sql: string, parameters: Parameters): number => Number(prepared(sql).get(parameters)?.[0] ?? 0);

  /** Where a pet is; null when it does not exist or does not match. */
  function positionOf(id: bigint, { column, rows, filter, descending }: Source, parameters: Parameters): number | null {
    const key = prepared(
      `SELECT ${column}, id FROM pets NOT INDEXED WHERE dataset_id = :dataset AND id = :anchor ${filter}`,
    ).get({ ...parameters, anchor: id });
    if (key === undefined) return null;
    const ahead = `AND (${column}, id) ${descending ? '>' : '<'} (:key, :anchor)`;
    return countOf(`SELECT count(*) ${rows} ${ahead}`, { ...parameters, key: key[0], anchor: id });
  }

  return (dataset: number, query: PetQuery): IdPage => {
    const source = sourceOf(query);
    const { rows, order, filtered } = source;
    const parameters = parametersOf(dataset, query);
    const total = filtered ? countOf(`SELECT count(*) ${rows}`, parameters) : null;
    const { from, limit } = query;
    const read = (more: string, values: Parameters): bigint[] =>
      prepared(`SELECT id ${rows} ${more} ORDER BY ${order} LIMIT :limit OFFSET :offset`)
        .all({ ...parameters, limit, ...values })
        .map(([id]) => id as bigint);
    if ('after' in from) return { ids: read('AND id > :after', { after: from.after, offset: 0 }), total, offset: null };
    const there = from.anchor === null ? null : positionOf(from.anchor, source, parameters);
    const offset = there === null ? from.offset : Math.max(0, there - (from.before ?? 0));
    return { ids: read('', { offset }), total, offset };
  };
}

interface Source {
  column: string;
  /** `FROM … WHERE …`, with the filters. */
  rows: string;
  /** The filters, each with its `AND`. */
  filter: string;
  order: string;
  descending: boolean;
  /** Whether the rows have to be counted: a filter besides the status. */
  filtered: boolean;
}

function sourceOf({ status, search, where = {}, sort, descending }: PetQuery): Source {
  const conditions = Object.entries(CONDITIONS)
    .filter(([name]) => where[name as keyof ColumnFilter] !== undefined)
    .map(([, condition]) => condition);
  if (search !== null && search !== '') conditions.push(SEARCH);
  const filtered = conditions.length > 0;
  if (status !== null) conditions.push(OF_STATUS);
  // All pets of one status are in the order of ids.
  const by = status !== null && !filtered && sort === 'id' ? 'status' : sort;
  const { column, index = null, covers = [] } = ORDERS[by] ?? { column: PET_FIELDS[by].column };
  const hasAll = index !== null && conditions.every(({ reads }) => covers.includes(reads));
  const filter = conditions.map(({ sql }) => `AND ${sql}`).join(' ');
  const direction = descending ? 'DESC' : 'ASC';
  return {
    column,
    // Named, because SQLite without statistics prefers the primary key.
    rows: `FROM pets ${hasAll ? `INDEXED BY ${index}` : 'NOT INDEXED'} WHERE dataset_id = :dataset ${filter}`,
    filter,
    order: column === 'id' ? `id ${direction}` : `${column} ${direction}, id ${direction}`,
    descending,
    filtered,
  };
}

function parametersOf(dataset: number, { status, search, where = {} }: PetQuery): Parameters {
  const text = search ?? '';
  return {
    dataset,
    text: foldName(text),
    id: isInt64Text(text.trim()) ? BigInt(text.trim()) : null,
    first: where.first ?? null,
    last: where.last ?? null,
    ...eachField(EDITABLE_FIELDS, (field) => (field === 'status' ? status : (where[field] ?? null))),
    name: foldName(where.name ?? ''),
  };
}
