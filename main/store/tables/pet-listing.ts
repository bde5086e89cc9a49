import { LruMap } from '../../base/lru.ts';
import { nextTurn } from '../../base/turns.ts';
import { INT64_MAX, type PetSort, type PetStatus } from '../../contract/values.ts';
import type { Connection } from '../connection.ts';
import type { DatasetHandle } from './datasets.ts';
import type { Pet } from '../../model/pet.ts';
import type { SortedPets } from './pet-sorted.ts';
import { type ColumnFilter, createPetWalks, STRETCH_ROWS, type SortKey, type Walk } from './pet-walk.ts';

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

export interface PetPage {
  items: Pet[];
  /** The total over all pages. */
  total: number;
  /** The position of the first item; null when the page was requested by `after`. */
  offset: number | null;
  /** The `after` of the next page; null on the last page, and in orders other than by id. */
  next: bigint | null;
}

/** Cached listings, valid until their dataset changes; paging then does not walk again. */
const LISTINGS_KEPT = 100;

/** Stretches per turn when rows need no inspection; each takes 0.1 ms. */
const EVERYTHING_PER_TURN = 8;

/** A stretch of a walk, and the number of matching pets before it. */
interface Landmark {
  stretch: SortKey;
  before: number;
}

/** The progress of a query: landmarks up to where it has walked. */
interface Listing {
  revision: number;
  walk: Walk;
  landmarks: Landmark[];
  /** The total; null until the walk has ended. */
  total: number | null;
}

export interface PetListings {
  /** @throws (rejects) the abort reason of `signal`. */
  list(handle: DatasetHandle, query: PetQuery, signal?: AbortSignal): Promise<PetPage>;
}

/**
 * Lists pets in any order from any position. Position 500,000 requires a walk over the 500,000 before it, and a search
 * requires reading every name. The walk runs in steps of about a millisecond between other work, and leaves landmarks
 * for other positions in the same list. Walking 1,000,000 pets takes about 30 ms, searching them 0.1 s.
 *
 * Changes during a walk may be missed or counted twice; the revision then differs from the initial one, and the next
 * call walks again.
 */
export function createPetListings(
  { sqlite, guarded }: Connection,
  sortedPets: SortedPets,
  rows: {
    get(handle: DatasetHandle, id: bigint): Pet | null;
    /** At most `limit` pets by id, from `start`. */
    byId(handle: DatasetHandle, status: PetStatus | null, start: bigint, limit: number): Pet[];
    count(handle: DatasetHandle, status: PetStatus | null): number;
  },
): PetListings {
  const walkOver = createPetWalks(sqlite);
  const listings = new LruMap<Listing>(LISTINGS_KEPT);

  function listingOf(handle: DatasetHandle, query: PetQuery, table: string | undefined): Listing {
    const { status, search, where = {}, sort, descending } = query;
    const filter = [where.name, where.categoryId, where.first, where.last].map(String);
    const key = JSON.stringify([handle.id, status, search, filter, sort, descending, table]);
    const known = listings.get(key);
    if (known?.revision === handle.revision) return known;
    const listing = begin(
      handle.revision,
      walkOver({ dataset: handle.id, status, search, where, sort, descending }, table),
    );
    listings.set(key, listing);
    return listing;
  }

  const step = guarded(takeStep);

  /** Walks until `isThere`, or to the end. */
  async function walkUntil(listing: Listing, isThere: (last: Landmark) => boolean, signal?: AbortSignal) {
    const perTurn = listing.walk.everything ? EVERYTHING_PER_TURN : 1;
    for (let steps = 1; listing.total === null && !isThere(lastOf(listing)); steps++) {
      signal?.throwIfAborted();
      step(listing);
      if (steps % perTurn === 0) await nextTurn();
    }
  }

  /** The number of matching pets before `key`. */
  async function positionOf(listing: Listing, key: SortKey, signal?: AbortSignal): Promise<number> {
    const { walk, landmarks } = listing;
    await walkUntil(listing, ({ stretch }) => stretch !== walk.start && walk.isFrom(stretch, key), signal);
    const landmark = landmarks.findLast(({ stretch }) => stretch === walk.start || walk.isFrom(key, stretch));
    return landmark === undefined ? 0 : landmark.before + count(walk, landmark.stretch, key);
  }

  const count = guarded((walk: Walk, stretch: SortKey, before: SortKey) => walk.count(stretch, before));
  const ids = guarded((walk: Walk, stretch: SortKey, skip: number, limit: number) => walk.ids(stretch, skip, limit));
  const keyOf = guarded((walk: Walk, id: bigint) => walk.keyOf(id));

  async function idsAt(listing: Listing, offset: number, limit: number, signal?: AbortSignal): Promise<bigint[]> {
    await walkUntil(listing, ({ before }) => before >= offset + limit, signal);
    const { walk, landmarks, total } = listing;
    const found: bigint[] = [];
    let index = landmarks.findLastIndex(({ before }) => before <= offset);
    for (; index < landmarks.length && found.length < limit; index++) {
      const { stretch, before } = landmarks[index] as Landmark;
      const end = landmarks[index + 1]?.before ?? total ?? before;
      const skip = Math.max(0, offset - before);
      if (end - before <= skip) continue;
      signal?.throwIfAborted();
      found.push(...ids(walk, stretch, skip, limit - found.length));
      await nextTurn();
    }
    return found;
  }

  /** The rows of those ids that still exist. */
  const read = guarded((handle: DatasetHandle, wanted: readonly bigint[]): Pet[] =>
    wanted.map((id) => rows.get(handle, id)).filter((row) => row !== null),
  );

  async function totalOf(handle: DatasetHandle, query: PetQuery, listing: Listing, signal?: AbortSignal) {
    if (isSearch(query)) await walkUntil(listing, () => false, signal);
    return isSearch(query) ? (listing.total ?? 0) : rows.count(handle, query.status);
  }

  /** The start position of a page. */
  async function startOf(listing: Listing, from: PetQuery['from'], signal?: AbortSignal): Promise<number> {
    if ('after' in from) return positionOf(listing, [from.after + 1n], signal);
    const key = from.anchor === null ? null : keyOf(listing.walk, from.anchor);
    if (key === null) return from.offset;
    return Math.max(0, (await positionOf(listing, key, signal)) - (from.before ?? 0));
  }

  /** A list by id can continue from any id, without the number of pets before it. */
  function pageAfter(handle: DatasetHandle, { status, limit }: PetQuery, after: bigint): PetPage {
    const items = after === INT64_MAX ? [] : rows.byId(handle, status, after + 1n, limit + 1);
    const more = items.length > limit;
    if (more) items.pop();
    return {
      items,
      total: rows.count(handle, status),
      offset: null,
      next: more ? (items.at(-1)?.id ?? null) : null,
    };
  }

  async function pageAt(
    handle: DatasetHandle,
    query: PetQuery,
    table?: string,
    signal?: AbortSignal,
  ): Promise<PetPage> {
    const { from, limit, sort, descending } = query;
    const listing = listingOf(handle, query, table);
    const total = await totalOf(handle, query, listing, signal);
    const isPastAll = 'after' in from && from.after === INT64_MAX;
    const start = isPastAll ? total : await startOf(listing, from, signal);
    const items = read(handle, await idsAt(listing, start, limit, signal));
    const continuesById = sort === 'id' && !descending && start + items.length < total;
    return {
      items,
      total,
      offset: 'after' in from ? null : start,
      next: continuesById ? (items.at(-1)?.id ?? null) : null,
    };
  }

  return {
    async list(handle, query, signal) {
      const { from, sort } = query;
      if ('after' in from && !isSearch(query)) return pageAfter(handle, query, from.after);
      if (sort === 'id' || sort === 'status') return pageAt(handle, query, undefined, signal);
      return sortedPets.use(handle, sort, (table) => pageAt(handle, query, table, signal), signal);
    },
  };
}

/** Whether rows must be read to count the matching ones. */
const isSearch = ({ search, where = {} }: PetQuery): boolean =>
  (search !== null && search !== '') || Object.keys(where).length > 0;

const lastOf = ({ landmarks }: Listing): Landmark => landmarks.at(-1) as Landmark;

const begin = (revision: number, walk: Walk): Listing => ({
  revision,
  walk,
  landmarks: [{ stretch: walk.start, before: 0 }],
  total: null,
});

/** Walks one more stretch. */
function takeStep(listing: Listing): void {
  const { walk, landmarks } = listing;
  const { stretch, before } = lastOf(listing);
  const next = walk.next(stretch);
  const end = before + (walk.everything && next !== null ? STRETCH_ROWS : walk.count(stretch));
  if (next === null) listing.total = end;
  else landmarks.push({ stretch: next, before: end });
}
