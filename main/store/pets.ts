import type { Dataset } from '../base/dataset.ts';
import { INT64_MAX, INT64_MIN, type PetStatus } from '../contract/values.ts';
import type { Connection } from './connection.ts';
import type { DatasetHandle, Datasets } from './datasets.ts';
import { insertMany } from './pet-import.ts';
import { createPetQueue } from './pet-queue.ts';
import { foldName, noSuchPet, petOf, type NewPetRow, type PetPatch, type PetRow, type RawPet } from './pet-row.ts';
import { createPetSearch, type PetPage, type PetQuery } from './pet-search.ts';
import { createPetWriter } from './pet-writer.ts';

/** The pets of all datasets. Everything throws VivariumError `not_found` when there is no such project. */
export interface Pets {
  /** A page by id, ascending. Its cost depends on `limit`, not on how many pets there are. */
  page(
    dataset: Dataset,
    query: { status: PetStatus | null; limit: number; after: bigint | null },
  ): { pets: PetRow[]; more: boolean };
  get(dataset: Dataset, id: bigint): PetRow | null;
  /** Adds a pet with the next id. Resolves once it is durable; see `pet-queue.ts`. */
  add(dataset: Dataset, pet: Omit<PetRow, 'id'>): Promise<PetRow>;
  /** @throws VivariumError `conflict` when the id is taken. */
  insert(dataset: Dataset, pet: NewPetRow): PetRow;
  /** Any number; for each, in order, null when it was taken, or why not; see `pet-import.ts`. */
  insertMany(dataset: Dataset, pets: Iterable<NewPetRow>): Promise<(string | null)[]>;
  /** @throws VivariumError `not_found`. */
  update(dataset: Dataset, id: bigint, patch: PetPatch): PetRow;
  /** @throws VivariumError `not_found`. */
  remove(dataset: Dataset, id: bigint): PetRow;
  search(dataset: Dataset, query: PetQuery): PetPage;
  /** How many pets a dataset has, of one status or of all. */
  count(dataset: Dataset, status: PetStatus | null): number;
  /** How many there are in all datasets. */
  total(): number;
  /** A number that is another one after every committed change of the dataset; 0 when it does not exist. */
  revision(dataset: Dataset): number;
  /** Calls `listener` after every committed change. Returns the function that ends it. */
  onChanged(listener: (dataset: Dataset) => void): () => void;
}

export const PAGE_SQL =
  'SELECT id, name, category_id, status FROM pets WHERE dataset_id = ? AND id >= ? ORDER BY id LIMIT ?';

/** The index is named, because without statistics SQLite prefers the primary key and would walk over the other statuses. */
export const PAGE_OF_STATUS_SQL = `SELECT id, name, category_id, status FROM pets INDEXED BY pets_by_status
   WHERE dataset_id = ? AND status = ? AND id >= ? ORDER BY id LIMIT ?`;

export function createPets(connection: Connection, datasets: Datasets): Pets & { close(): void } {
  const { sqlite, guarded } = connection;
  const { resolve } = datasets;
  const writer = createPetWriter(connection);
  const queue = createPetQueue(connection, datasets, writer);
  const searcher = createPetSearch(connection);

  const page = sqlite.prepare<[number, bigint, number], RawPet>(PAGE_SQL).raw().safeIntegers();
  const pageOfStatus = sqlite
    .prepare<[number, PetStatus, bigint, number], RawPet>(PAGE_OF_STATUS_SQL)
    .raw()
    .safeIntegers();
  const one = sqlite
    .prepare<[number, bigint], RawPet>('SELECT id, name, category_id, status FROM pets WHERE dataset_id = ? AND id = ?')
    .raw()
    .safeIntegers();
  const update = sqlite.prepare<[string, bigint, PetStatus, string, number, bigint]>(
    'UPDATE pets SET name = ?, category_id = ?, status = ?, folded_name = ? WHERE dataset_id = ? AND id = ?',
  );
  const remove = sqlite.prepare<[number, bigint]>('DELETE FROM pets WHERE dataset_id = ? AND id = ?');
  const countOfStatus = sqlite
    .prepare<[number, PetStatus], number>('SELECT pets FROM pet_counts WHERE dataset_id = ? AND status = ?')
    .pluck();
  const countOfAll = sqlite
    .prepare<[number], number>('SELECT coalesce(sum(pets), 0) FROM pet_counts WHERE dataset_id = ?')
    .pluck();
  const total = sqlite.prepare<[], number>('SELECT coalesce(sum(pets), 0) FROM pet_counts').pluck();

  function readPage(handle: DatasetHandle, status: PetStatus | null, limit: number, after: bigint | null): RawPet[] {
    if (after === INT64_MAX) return [];
    const start = after === null ? INT64_MIN : after + 1n;
    return status === null ? page.all(handle.id, start, limit) : pageOfStatus.all(handle.id, status, start, limit);
  }

  function find(dataset: Dataset, id: bigint): { handle: DatasetHandle; pet: PetRow } {
    const handle = resolve(dataset);
    const row = one.get(handle.id, id);
    if (row === undefined) throw noSuchPet(id, dataset);
    return { handle, pet: petOf(row) };
  }

  const count = guarded((dataset: Dataset, status: PetStatus | null): number => {
    const { id } = resolve(dataset);
    return (status === null ? countOfAll.get(id) : countOfStatus.get(id, status)) ?? 0;
  });

  const pageOf = guarded<Parameters<Pets['page']>, ReturnType<Pets['page']>>((dataset, { status, limit, after }) => {
    // One more than asked for: it is there exactly when there is a next page.
    const rows = readPage(resolve(dataset), status, limit + 1, after);
    const more = rows.length > limit;
    if (more) rows.pop();
    return { pets: rows.map(petOf), more };
  });

  return {
    page: pageOf,
    get: guarded((dataset: Dataset, id: bigint) => {
      const row = one.get(resolve(dataset).id, id);
      return row === undefined ? null : petOf(row);
    }),
    add: (dataset, pet) => queue.add(dataset, pet),
    insert(dataset, pet) {
      const handle = resolve(dataset);
      const row = writer.write(() => writer.insert(handle, pet));
      datasets.changed(dataset);
      return row;
    },
    insertMany: (dataset, pets) => insertMany(writer, datasets, dataset, pets),
    update: guarded((dataset: Dataset, id: bigint, patch: PetPatch) => {
      const { handle, pet } = find(dataset, id);
      const { name = pet.name, categoryId = pet.categoryId, status = pet.status } = patch;
      update.run(name, categoryId, status, foldName(name), handle.id, id);
      datasets.changed(dataset);
      return { id, name, categoryId, status };
    }),
    remove: guarded((dataset: Dataset, id: bigint) => {
      const { handle, pet } = find(dataset, id);
      remove.run(handle.id, id);
      datasets.changed(dataset);
      return pet;
    }),
    search: guarded((dataset: Dataset, query: PetQuery) => {
      const isSearch = query.search !== null && query.search !== '';
      const handle = resolve(dataset);
      const { items, more } = isSearch ? searcher.find(handle, query) : plain(pageOf(dataset, query));
      const found = isSearch ? searcher.total(handle, query) : count(dataset, query.status);
      return { items, total: found, next: more ? (items.at(-1)?.id ?? null) : null };
    }),
    count,
    total: guarded(() => total.get() ?? 0),
    revision: (dataset) => datasets.revision(dataset),
    onChanged: (listener) => datasets.onChanged(listener),
    close: () => queue.close(),
  };
}

const plain = ({ pets, more }: { pets: PetRow[]; more: boolean }): { items: PetRow[]; more: boolean } => ({
  items: pets,
  more,
});
