import type { Dataset } from '../base/dataset.ts';
import { LruMap } from '../base/lru.ts';
import { bodyOf, type Body } from '../base/http/answer.ts';
import { pets as petsSchema, type ListQuery } from './schemas.ts';
import { serializerOf } from './serializer.ts';
import type { PetSource } from './sources.ts';

/** One answer to listPets, as it goes out. */
export interface Page {
  body: Body;
  /** The query that leads to the next page, with its question mark; null on the last page. */
  next: string | null;
}

interface Kept extends Page {
  revision: number;
  bytes: number;
}

/** How many pages are kept; a view that polls a few of them has them all. */
export const PAGES_MAX = 256;

/** How large they may be together. A page of a hundred names of the greatest length has about half a MiB. */
export const PAGES_BYTES_MAX = 8 * 1024 * 1024;

export interface Pages {
  read(dataset: Dataset, query: ListQuery): Page;
}

/** Pages of pets as JSON, kept for as long as the dataset's revision stays the same. */
export function createPages(pets: PetSource): Pages {
  const serialize = serializerOf(petsSchema);
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

  function make(dataset: Dataset, query: ListQuery, revision: number): Kept {
    const { limit, status = null, after = null } = query;
    const page = pets.page(dataset, { limit, status, after });
    const body = bodyOf(serialize(page.pets));
    const last = page.pets.at(-1);
    const next = page.more && last !== undefined ? nextQuery(query, last.id) : null;
    return { body, next, revision, bytes: Number(body.length) };
  }

  return {
    read(dataset, query) {
      const key = `${dataset.projectId} ${dataset.environment} ${query.limit} ${query.status ?? ''} ${query.after ?? ''}`;
      const revision = pets.revision(dataset);
      const known = kept.get(key);
      if (known?.revision === revision) return known;
      const page = make(dataset, query, revision);
      keep(key, page);
      return page;
    },
  };
}

function nextQuery({ limit, status }: ListQuery, lastId: bigint): string {
  return `?limit=${limit}${status === undefined ? '' : `&status=${status}`}&after=${lastId}`;
}
