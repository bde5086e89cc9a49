import { z } from 'zod';
import {
  type Dataset,
  foldName,
  type IdRange,
  noSuchPet,
  type NewPet,
  type PetPatch,
  type Pet,
  petWith,
} from '../../model/pet.ts';
import { nextTurn } from '../../base/turns.ts';
import { ALL_FIELDS, eachField, EDITABLE_FIELDS, type EditableField, PET_FIELDS } from '../../contract/pet-fields.ts';
import { newPetShape } from '../../contract/pets.ts';
import { INT64_MAX, INT64_MIN, type PetStatus } from '../../contract/values.ts';
import type { Connection } from '../connection.ts';
import type { DatasetHandle, Datasets } from './datasets.ts';
import { insertMany, createPetWriter } from './pet-writer.ts';
import { createPetListing, type PetQuery } from './pet-listing.ts';
import { createPetQueue } from './pet-queue.ts';
import { count as counted, table } from './table.ts';

export const PETS = table('pets', ['dataset_id', 'id'], {
  datasetId: counted,
  ...eachField(ALL_FIELDS, (field, { kind, column }) => ({
    name: column,
    schema: kind === 'int64' ? z.number() : newPetShape[field as EditableField],
  })),
  foldedName: z.string(),
});

/** A pet as an array, cheaper than an object: the id, and the other fields. */
type RawPet = [id: bigint, ...values: (bigint | string)[]];

const petOf = ([id, ...values]: RawPet): Pet => petWith(id, values);

const COLUMNS = ALL_FIELDS.map((field) => PET_FIELDS[field].column).join(', ');

interface PageQuery {
  status: PetStatus | null;
  limit: number;
  after: bigint | null;
}

export interface PetPage {
  items: Pet[];
  /** The total over all pages. */
  total: number;
  /** The position of the first item; null when the page was requested by `after`. */
  offset: number | null;
  /** The `after` of the next page; null on the last page, and in orders other than by id. */
  next: bigint | null;
}

const EVERY_ID: IdRange = { first: INT64_MIN, last: INT64_MAX };

/** The pets of all datasets. Every method throws VivariumError `not_found` for an unknown project. */
export type Pets = Omit<ReturnType<typeof createPets>, 'flush' | 'close'>;

export const PAGE_SQL = `SELECT ${COLUMNS} FROM pets WHERE dataset_id = ? AND id >= ? ORDER BY id LIMIT ?`;

/** The index is named, because SQLite without statistics prefers the primary key and would walk other statuses. */
export const PAGE_OF_STATUS_SQL = `SELECT ${COLUMNS} FROM pets INDEXED BY pets_by_status
   WHERE dataset_id = ? AND status = ? AND id >= ? ORDER BY id LIMIT ?`;

/** Reads pets: one, many, pages and their numbers. */
function createPetReading({ sqlite, guarded, count }: Connection, { resolve }: Pick<Datasets, 'resolve'>) {
  const exact = <Args extends unknown[]>(sql: string) => sqlite.prepare<Args, RawPet>(sql).raw().safeIntegers();
  const page = exact<[number, bigint, number]>(PAGE_SQL);
  const pageOfStatus = exact<[number, PetStatus, bigint, number]>(PAGE_OF_STATUS_SQL);
  const one = exact<[number, bigint]>(`SELECT ${COLUMNS} FROM pets WHERE dataset_id = ? AND id = ?`);
  const countOfStatus = count<[number, PetStatus]>('SELECT pets FROM pet_counts WHERE dataset_id = ? AND status = ?');
  const countOfAll = count<[number]>('SELECT coalesce(sum(pets), 0) FROM pet_counts WHERE dataset_id = ?');
  const total = sqlite.prepare<[], number>('SELECT coalesce(sum(pets), 0) FROM pet_counts').pluck();

  function readPage(handle: DatasetHandle, status: PetStatus | null, start: bigint, limit: number): Pet[] {
    const rows =
      status === null ? page.all(handle.id, start, limit) : pageOfStatus.all(handle.id, status, start, limit);
    return rows.map(petOf);
  }

  const countIn = (handle: DatasetHandle, status: PetStatus | null): number =>
    status === null ? countOfAll(handle.id) : countOfStatus(handle.id, status);

  function readOne(handle: DatasetHandle, id: bigint): Pet | null {
    const row = one.get(handle.id, id);
    return row === undefined ? null : petOf(row);
  }

  const readMany = (handle: DatasetHandle, ids: readonly bigint[]): Pet[] =>
    ids.map((id) => readOne(handle, id)).filter((pet) => pet !== null);

  const listing = createPetListing(sqlite);
  const list = guarded((dataset: Dataset, query: PetQuery): PetPage => {
    const handle = resolve(dataset);
    const { sort, descending, from, limit } = query;
    // One more than requested: it exists exactly when there is a next page.
    const { ids, total, offset } = listing(handle.id, { ...query, limit: limit + 1 });
    const items = readMany(handle, ids.slice(0, limit));
    const continues = ids.length > limit && ('after' in from || (sort === 'id' && !descending));
    return {
      items,
      total: total ?? countIn(handle, query.status),
      offset,
      next: continues ? (items.at(-1)?.id ?? null) : null,
    };
  });

  const pageOf = guarded((dataset: Dataset, { status, limit, after }: PageQuery): { pets: Pet[]; more: boolean } => {
    const handle = resolve(dataset);
    if (after === INT64_MAX) return { pets: [], more: false };
    // One more than requested: it exists exactly when there is a next page.
    const pets = readPage(handle, status, after === null ? INT64_MIN : after + 1n, limit + 1);
    const more = pets.length > limit;
    if (more) pets.pop();
    return { pets, more };
  });

  return {
    one: readOne,
    many: readMany,
    /** A page by id, ascending. Its cost depends on `limit`, not on the number of pets. */
    page: pageOf,
    /** A page of any order, filter and search, from any position. See `pet-listing.ts`. */
    list,
    /** The number of pets in a dataset, of one status or of all. */
    count: guarded((dataset: Dataset, status: PetStatus | null) => countIn(resolve(dataset), status)),
    total: guarded(() => total.get() ?? 0),
  };
}

export function createPets(connection: Connection, datasets: Datasets) {
  const { sqlite, guarded, transactional } = connection;
  const { resolve } = datasets;
  const writer = createPetWriter(connection);
  const queue = createPetQueue(connection, datasets, writer);
  const { one, many, ...reading } = createPetReading(connection, datasets);

  const update = sqlite.prepare<(bigint | number | string)[]>(
    `UPDATE pets SET ${EDITABLE_FIELDS.map((field) => `${PET_FIELDS[field].column} = ?`).join(', ')}, folded_name = ?
       WHERE dataset_id = ? AND id = ?`,
  );
  const remove = sqlite.prepare<[number, bigint]>('DELETE FROM pets WHERE dataset_id = ? AND id = ?');
  function find(dataset: Dataset, id: bigint): { handle: DatasetHandle; pet: Pet } {
    const handle = resolve(dataset);
    const pet = one(handle, id);
    if (pet === null) throw noSuchPet(id, dataset);
    return { handle, pet };
  }

  function write(handle: DatasetHandle, pet: Pet, patch: PetPatch): Pet {
    const values = EDITABLE_FIELDS.map((field) => patch[field] ?? pet[field]);
    update.run(...values, foldName(patch.name ?? pet.name), handle.id, pet.id);
    return petWith(pet.id, values);
  }

  const writeMany = transactional((handle: DatasetHandle, changes: readonly Change[]): Pet[] => {
    const before: Pet[] = [];
    for (const change of changes) {
      const pet = one(handle, change.id);
      if (pet === null) continue;
      write(handle, pet, change);
      before.push(pet);
    }
    return before;
  });

  const deleteMany = transactional((handle: DatasetHandle, ids: readonly bigint[]): Pet[] => {
    const found = many(handle, ids);
    for (const { id } of found) remove.run(handle.id, id);
    return found;
  });

  /** Announces a change to many pets, unless none of them existed. */
  function told(dataset: Dataset, found: Pet[]): Pet[] {
    if (found.length > 0) datasets.changed(dataset);
    return found;
  }

  return {
    ...reading,
    get: guarded((dataset: Dataset, id: bigint) => one(resolve(dataset), id)),
    /** Adds a pet with the next id. Resolves once it is durable; see `pet-queue.ts`. */
    add: queue.add,
    /** @throws VivariumError `conflict` when the id exists. */
    insert(dataset: Dataset, pet: NewPet): Pet {
      const handle = resolve(dataset);
      const row = writer.write(() => writer.insert(handle, pet));
      datasets.changed(dataset);
      return row;
    },
    /** Any number; returns, for each in order, its id or the reason for its rejection. */
    insertMany: (dataset: Dataset, pets: Iterable<NewPet>, signal?: AbortSignal) =>
      insertMany({ writer, datasets, dataset, pets, signal }),
    /** @throws VivariumError `not_found`. */
    update: guarded((dataset: Dataset, id: bigint, patch: PetPatch) => {
      const { handle, pet } = find(dataset, id);
      const changed = write(handle, pet, patch);
      datasets.changed(dataset);
      return changed;
    }),
    /** @throws VivariumError `not_found`. */
    remove: guarded((dataset: Dataset, id: bigint) => {
      const { handle, pet } = find(dataset, id);
      remove.run(handle.id, id);
      datasets.changed(dataset);
      return pet;
    }),
    /** The existing pets among `ids`, in that order; a turn reads about a thousand. */
    getMany: guarded((dataset: Dataset, ids: readonly bigint[]) => many(resolve(dataset), ids)),
    /** Changes pets in one transaction; returns those that exist as they were. */
    updateMany: (dataset: Dataset, changes: readonly Change[]) => told(dataset, writeMany(resolve(dataset), changes)),
    /** Removes pets in one transaction; returns them. */
    removeMany: (dataset: Dataset, ids: readonly bigint[]) => told(dataset, deleteMany(resolve(dataset), ids)),
    /** Removes at most `limit` pets, lowest ids first, of `ids` or of all, in turns; resolves to their number. */
    clear: createPetClearing(connection, datasets),
    /** Differs after every committed change to the dataset; 0 when it does not exist. */
    revision: datasets.revision,
    /** Calls `listener` after every committed change. Returns its unsubscribe function. */
    onChanged: datasets.onChanged,
    flush: queue.flush,
    close: queue.close,
  };
}

type Change = PetPatch & { id: bigint };

/** Pets per transaction, some 5 ms, to let other work run. */
const BATCH_PETS = 500;

export function createPetClearing({ sqlite, transactional }: Connection, datasets: Datasets) {
  const remove = sqlite.prepare<[number, number, bigint, bigint, number]>(
    `DELETE FROM pets WHERE dataset_id = ? AND id IN
       (SELECT id FROM pets WHERE dataset_id = ? AND id BETWEEN ? AND ? ORDER BY id LIMIT ?)`,
  );
  const removeSome = transactional(
    (id: number, { first, last }: IdRange, limit: number): number => remove.run(id, id, first, last, limit).changes,
  );

  /**
   * Removes at most `limit` pets of a dataset in transactions of bounded size; resolves to their number. Aborting keeps
   * the rest.
   */
  return async (dataset: Dataset, limit: number, signal?: AbortSignal, ids: IdRange = EVERY_ID): Promise<number> => {
    let removed = 0;
    while (removed < limit) {
      signal?.throwIfAborted();
      const wanted = Math.min(BATCH_PETS, limit - removed);
      const gone = removeSome(datasets.resolve(dataset).id, ids, wanted);
      removed += gone;
      if (gone > 0) datasets.changed(dataset);
      if (gone < wanted) break;
      await nextTurn();
    }
    return removed;
  };
}
