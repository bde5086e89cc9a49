import type { PetStatus } from '../contract/values.ts';
import type { Dataset, NewPet, Pet, Order } from '../model/pet.ts';
import { LruMap } from '../base/lru.ts';
import { bodyOf, type Body } from '../base/http/answer.ts';
import { pet as petSchema, pets as petsSchema, type ListQuery, serializerOf } from './schemas.ts';

export interface PetPage {
  pets: Pet[];
  /** Whether more matching pets follow. */
  more: boolean;
}

export interface PetSource {
  /** Up to `limit` pets by ascending id, filtered by `status` and by id greater than `after` unless null. */
  page(dataset: Dataset, query: { status: PetStatus | null; limit: number; after: bigint | null }): PetPage;
  get(dataset: Dataset, id: bigint): Pet | null;
  /** Resolves with the pet and its new id, once it is durably stored. */
  add(dataset: Dataset, pet: Omit<NewPet, 'id'>): Promise<Pet>;
  /** Changes with every committed change to the dataset's pets. */
  revision(dataset: Dataset): number;
}

export interface OrderSource {
  /** All orders of the dataset by ascending id. */
  list(dataset: Dataset): Order[];
}

/** One answer to listPets or getPet, ready to send. */
export interface Page {
  body: Body;
  /** The query of the next page, with its question mark; null on the last page, and for one pet. */
  next: string | null;
}

interface Kept extends Page {
  revision: number;
  bytes: number;
}

/** Enough for a client that polls several pages and pets. */
export const PAGES_MAX = 256;

/** Limit on their total size. A page of a hundred names of maximum length has about half a MiB. */
export const PAGES_BYTES_MAX = 8 * 1024 * 1024;

export type Pages = ReturnType<typeof createPages>;

/** Caches pages of pets, and single pets, as JSON until the dataset's revision changes. */
export function createPages(pets: PetSource) {
  const serialize = serializerOf(petsSchema);
  const serializeOne = serializerOf(petSchema);
  let bytesKept = 0;
  const kept = new LruMap<Kept>(PAGES_MAX, ({ bytes }) => {
    bytesKept -= bytes;
  });

  function keep(key: string, page: Kept): void {
    kept.set(key, page);
    bytesKept += page.bytes;
    for (const [unused] of kept) {
      if (bytesKept <= PAGES_BYTES_MAX) return;
      kept.delete(unused);
    }
  }

  /** The answer called `name` as it was, or made anew if the dataset has changed since. */
  function current<Made extends Page | null>(dataset: Dataset, name: string, make: () => Made): Page | Made {
    const key = `${dataset.projectId} ${dataset.environment} ${name}`;
    const revision = pets.revision(dataset);
    const known = kept.get(key);
    if (known?.revision === revision) return known;
    const made = make();
    if (made === null) return made;
    const page = { ...made, revision, bytes: Number(made.body.length) };
    keep(key, page);
    return page;
  }

  function make(dataset: Dataset, query: ListQuery): Page {
    const { limit, status = null, after = null } = query;
    const page = pets.page(dataset, { limit, status, after });
    const last = page.pets.at(-1);
    const next = page.more && last !== undefined ? nextQuery(query, last.id) : null;
    return { body: bodyOf(serialize(page.pets)), next };
  }

  return {
    read: (dataset: Dataset, query: ListQuery): Page =>
      current(dataset, `${query.limit} ${query.status ?? ''} ${query.after ?? ''}`, () => make(dataset, query)),
    /** Null if there is no such pet. */
    one: (dataset: Dataset, id: bigint): Page | null =>
      current(dataset, `#${id}`, () => {
        const pet = pets.get(dataset, id);
        return pet === null ? null : { body: bodyOf(serializeOne(pet)), next: null };
      }),
  };
}

const nextQuery = ({ limit, status }: ListQuery, lastId: bigint): string =>
  `?limit=${limit}${status === undefined ? '' : `&status=${status}`}&after=${lastId}`;
