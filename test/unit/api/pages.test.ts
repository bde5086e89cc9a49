import { describe, expect, test } from 'vitest';
import { createPages, PAGES_MAX } from '../../../main/api/pages.ts';
import { createMemoryStore } from '../../support/api-memory.ts';

const PRODUCTION = { projectId: 'prj_a', environment: 'production' } as const;
const STAGING = { projectId: 'prj_a', environment: 'staging' } as const;

function filled(count: number) {
  const store = createMemoryStore();
  for (let id = 1n; id <= BigInt(count); id++) {
    store.pets.put(PRODUCTION, {
      id,
      name: `Pet ${id}`,
      categoryId: 1n,
      status: id % 2n === 0n ? 'sold' : 'available',
    });
  }
  return { store, pages: createPages(store.pets) };
}

describe('a page', () => {
  test('links to the next page while more pets match, keeping limit and status', () => {
    const { pages } = filled(7);
    expect(pages.read(PRODUCTION, { limit: 3 }).next).toBe('?limit=3&after=3');
    expect(pages.read(PRODUCTION, { limit: 3, after: 3n }).next).toBe('?limit=3&after=6');
    expect(pages.read(PRODUCTION, { limit: 3, after: 6n }).next).toBeNull();
    expect(pages.read(PRODUCTION, { limit: 2, status: 'sold' }).next).toBe('?limit=2&status=sold&after=4');
    expect(pages.read(PRODUCTION, { limit: 2, status: 'sold', after: 4n }).next).toBeNull();
  });

  test('that is exactly full is the last one', () => {
    expect(filled(3).pages.read(PRODUCTION, { limit: 3 }).next).toBeNull();
  });

  test('is created once for a revision', () => {
    const { store, pages } = filled(3);
    const first = pages.read(PRODUCTION, { limit: 2 });
    expect(pages.read(PRODUCTION, { limit: 2 })).toBe(first);
    expect(store.pets.pagesRead()).toBe(1);
  });

  test('of one pet is created once for a revision, and null where there is none', () => {
    const { store, pages } = filled(2);
    const first = pages.one(PRODUCTION, 2n);
    expect(first?.body.text).toBe('{"id":2,"name":"Pet 2","categoryId":1,"status":"sold"}');
    expect(pages.one(PRODUCTION, 2n)).toBe(first);
    store.pets.put(PRODUCTION, { id: 4n, name: 'Pet 4', categoryId: 1n, status: 'sold' });
    expect(pages.one(PRODUCTION, 2n)).not.toBe(first);
    expect(pages.one(PRODUCTION, 3n)).toBeNull();
    expect(pages.one(STAGING, 2n)).toBeNull();
  });

  test('is created again after a change', () => {
    const { store, pages } = filled(1);
    pages.read(PRODUCTION, { limit: 5 });
    store.pets.put(PRODUCTION, { id: 2n, name: 'New', categoryId: 1n, status: 'sold' });
    expect(pages.read(PRODUCTION, { limit: 5 }).body.text).toContain('New');
  });

  test('is a different one for another dataset, status, limit or position', () => {
    const { pages } = filled(4);
    const texts = [
      pages.read(PRODUCTION, { limit: 2 }),
      pages.read(PRODUCTION, { limit: 3 }),
      pages.read(PRODUCTION, { limit: 2, status: 'sold' }),
      pages.read(PRODUCTION, { limit: 2, after: 1n }),
      pages.read(STAGING, { limit: 2 }),
    ].map(({ body }) => body.text);
    expect(new Set(texts).size).toBe(5);
    expect(texts[4]).toBe('[]');
  });

  test('is forgotten after many other pages were created', () => {
    const { store, pages } = filled(1);
    for (let after = 0n; after < BigInt(PAGES_MAX); after++) pages.read(PRODUCTION, { limit: 1, after });
    pages.read(PRODUCTION, { limit: 1, after: 1n });
    expect(store.pets.pagesRead()).toBe(PAGES_MAX);
    pages.read(PRODUCTION, { limit: 1, after: 5000n });
    pages.read(PRODUCTION, { limit: 1, after: 0n });
    expect(store.pets.pagesRead()).toBe(PAGES_MAX + 2);
  });

  test('of great size displaces others', () => {
    const store = createMemoryStore();
    for (let id = 1n; id <= 100n; id++) {
      store.pets.put(PRODUCTION, { id, name: '🐈'.repeat(1000), categoryId: 1n, status: 'sold' });
    }
    const pages = createPages(store.pets);
    // About 400 KB each; the least recent of 30 cannot be among the last 8 MiB.
    for (let after = 0n; after < 30n; after++) pages.read(PRODUCTION, { limit: 100, after: -after });
    pages.read(PRODUCTION, { limit: 100, after: 0n });
    expect(store.pets.pagesRead()).toBe(31);
  });
});
