import { describe, expect, it } from 'vitest';
import { INT64_MAX, INT64_MIN, petSort, type PetSort, type PetStatus } from '../../../../main/contract/values.ts';
import { type ColumnFilter, createPetListing, type PetQuery } from '../../../../main/store/tables/pet-listing.ts';
import type { NewPet, Pet } from '../../../../main/model/pet.ts';
import { allPets, HERE, memoryParts, memoryStore, pet, query, STAGING } from '../parts.ts';

async function found(names: readonly string[], search: string): Promise<string[]> {
  const { pets } = memoryStore();
  for (const name of names) pets.insert(HERE, pet(name));
  const { items, total, next } = await pets.list(HERE, query({ search }));
  expect([total, next]).toEqual([items.length, null]);
  return items.map(({ name }) => name);
}

describe('a search', () => {
  it.each([
    { search: 'rex', among: ['Rex', 'TYREX', 'Tom'], finds: ['Rex', 'TYREX'] },
    { search: '%', among: ['100% wool', 'percent'], finds: ['100% wool'] },
    { search: '_', among: ['a_b', 'ab'], finds: ['a_b'] },
    { search: '\\', among: ['a\\b', 'ab'], finds: ['a\\b'] },
    { search: `'"`, among: [`O'"Neill`, 'ONeill'], finds: [`O'"Neill`] },
    { search: '\0', among: ['a\0b', 'ab'], finds: ['a\0b'] },
    { search: 'b', among: ['a\0b', 'a\0c'], finds: ['a\0b'] },
    { search: 'ä', among: ['ÄGYPTEN', 'a', 'ägäis'], finds: ['ÄGYPTEN', 'ägäis'] },
    { search: 'STRASSE', among: ['Straßenhund', 'Strauß'], finds: ['Straßenhund'] },
    { search: 'οδοσ', among: ['ΟΔΟΣ', 'οδος', 'οδοσα'], finds: ['ΟΔΟΣ', 'οδος', 'οδοσα'] },
    { search: 'é', among: ['Re\u0301my', 'Rémy', 'Remy'], finds: ['Re\u0301my', 'Rémy'] },
    { search: '🦊', among: ['🦊 fox', '🐕 dog'], finds: ['🦊 fox'] },
    { search: ' ', among: ['a b', 'ab'], finds: ['a b'] },
    { search: 'x', among: [], finds: [] },
  ])('for $search among $among finds $finds', async ({ search, among, finds }) => {
    expect(await found(among, search)).toEqual(finds);
  });

  it('also finds a pet by its exact id, ignoring blanks around it', async () => {
    expect(await found(['one', 'two', 'with 2', '12'], ' 2 ')).toEqual(['two']);
    expect(await found(['one', 'two', 'with 2', '12'], '2')).toEqual(['two', 'with 2', '12']);
    expect(await found(['one'], '99999999999999999999')).toEqual([]);
  });

  it('pages by id, with the total of all pages', async () => {
    const { pets } = memoryStore();
    for (let number = 1; number <= 5; number++) pets.insert(HERE, pet(`Rex ${'abcde'[number - 1]}`));
    pets.insert(HERE, pet('Tom'));
    const page = async (after: bigint | null, search: string | null) => {
      const from = after === null ? { offset: 0, anchor: null } : { after };
      const { items, total, next } = await pets.list(HERE, query({ search, limit: 2, from }));
      return [items.map(({ id }) => id), total, next];
    };
    for (const search of ['rex', null, '']) {
      const total = search === 'rex' ? 5 : 6;
      expect(await page(null, search)).toEqual([[1n, 2n], total, 2n]);
      expect(await page(2n, search)).toEqual([[3n, 4n], total, 4n]);
      expect(await page(4n, search)).toEqual([total === 5 ? [5n] : [5n, 6n], total, null]);
      expect(await page(INT64_MAX, search)).toEqual([[], total, null]);
    }
  });

  it('is limited to one status on request, and always to one dataset', async () => {
    const { pets } = memoryStore();
    const statuses: PetStatus[] = ['available', 'sold', 'sold', 'pending'];
    for (const status of statuses) pets.insert(HERE, pet('Rex', status));
    pets.insert(STAGING, pet('Rex', 'sold'));
    const sold = (search: string | null) => pets.list(HERE, query({ status: 'sold', search }));
    for (const search of ['rex', null])
      expect(await sold(search)).toMatchObject({ items: [{ id: 2n }, { id: 3n }], total: 2 });
    expect(await sold('1')).toEqual({ items: [], total: 0, offset: 0, next: null });
  });

  it('counts again after a change', async () => {
    const { pets } = memoryStore();
    const total = async () => (await pets.list(HERE, query({ search: 'rex', limit: 1 }))).total;
    pets.insert(HERE, pet('Rex'));
    expect([await total(), await total()]).toEqual([1, 1]);
    pets.insert(HERE, pet('Rex'));
    expect(await total()).toBe(2);
    pets.update(HERE, 1n, { name: 'Tom' });
    expect(await total()).toBe(1);
  });
});

describe('a sorted list', () => {
  /** Many pets with equal names and categories, and the extremes of int64. */
  async function manyPets() {
    const { pets, sqlite } = memoryParts();
    const names = ['ägäis', 'Zoë', 'ada', 'ADA', '🦊 fox', '\uFFFD', 'a\0b', 'Rex'];
    const statuses: PetStatus[] = ['sold', 'available', 'pending'];
    const rows: NewPet[] = Array.from({ length: 2_500 }, (_, index) => ({
      name: index % 3 === 0 ? 'Rex' : (names[(index * 7) % names.length] ?? 'Rex'),
      categoryId: [INT64_MIN, -1n, 5n, INT64_MAX][(index * 5) % 4] ?? 0n,
      status: statuses[(index * 11) % 3] ?? 'sold',
    }));
    await pets.insertMany(HERE, [...rows, { ...pet('Lowest'), id: INT64_MIN }, { ...pet('Highest'), id: INT64_MAX }]);
    await pets.insertMany(STAGING, [pet('Elsewhere')]);
    return { pets, sqlite };
  }

  const bytes = (text: string) => Buffer.from(text.toUpperCase().normalize('NFC'));
  const compareIds = (a: Pet, b: Pet) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
  const COMPARISONS: Record<PetSort, (a: Pet, b: Pet) => number> = {
    id: compareIds,
    name: (a, b) => Buffer.compare(bytes(a.name), bytes(b.name)) || compareIds(a, b),
    categoryId: (a, b) => Number(a.categoryId > b.categoryId) - Number(a.categoryId < b.categoryId) || compareIds(a, b),
    status: (a, b) => Buffer.compare(bytes(a.status), bytes(b.status)) || compareIds(a, b),
  };

  it.each<[string, ColumnFilter, (row: Pet) => boolean]>([
    ['part of the name', { name: 'aD' }, ({ name }) => name.toLowerCase().includes('ad')],
    ['a category', { categoryId: INT64_MIN }, ({ categoryId }) => categoryId === INT64_MIN],
    ['ids from one on', { first: 2_000n }, ({ id }) => id >= 2_000n],
    ['ids between two', { first: 3n, last: 1_010n }, ({ id }) => id >= 3n && id <= 1_010n],
    [
      'several of them',
      { name: 'rex', categoryId: 5n, last: 1_500n },
      ({ id, name, categoryId }) => id <= 1_500n && name === 'Rex' && categoryId === 5n,
    ],
  ])('has only pets with %s, in every order', async (_what, where, matches) => {
    const { pets } = await manyPets();
    const all = allPets(pets, HERE).filter(matches);
    for (const sort of petSort.options) {
      for (const status of [null, 'sold'] as const) {
        const expected = all.filter((row) => status === null || row.status === status).sort(COMPARISONS[sort]);
        const from = { offset: Math.max(0, expected.length - 2), anchor: null };
        const page = await pets.list(HERE, query({ sort, status, where, limit: 5, from }));
        expect([page.total, page.items]).toEqual([expected.length, expected.slice(-2)]);
      }
    }
    const after = await pets.list(HERE, query({ where, limit: 1, from: { after: 1_000n } }));
    expect([after.total, after.items]).toEqual([all.length, all.filter(({ id }) => id > 1_000n).slice(0, 1)]);
  });

  it('has every order, filter and search right, at every position', async () => {
    const { pets } = await manyPets();
    const all = allPets(pets, HERE);
    for (const sort of petSort.options) {
      for (const descending of [false, true]) {
        for (const status of [null, 'sold'] as const) {
          for (const search of [null, 'ad', '7']) {
            const id = search === '7' ? 7n : null;
            const expected = all
              .filter((row) => status === null || row.status === status)
              .filter((row) => search === null || row.id === id || row.name.toLowerCase().includes(search))
              .sort(COMPARISONS[sort]);
            if (descending) expected.reverse();
            for (const offset of [0, 1, 950, 1_000, 2_000, Math.max(0, expected.length - 1)]) {
              const from = { offset, anchor: null };
              const listed = await pets.list(HERE, query({ sort, descending, status, search, from }));
              const what = JSON.stringify({ sort, descending, status, search, offset });
              expect([what, listed.total, listed.offset]).toEqual([what, expected.length, offset]);
              expect([what, listed.items]).toEqual([what, expected.slice(offset, offset + 100)]);
            }
          }
        }
      }
    }
  });

  it('begins with an anchor at its current position, and at the given position when it is gone', async () => {
    const { pets } = await manyPets();
    for (const sort of petSort.options) {
      for (const descending of [false, true]) {
        for (const search of [null, 're']) {
          const of = (from: PetQuery['from'], limit = 1) =>
            pets.list(HERE, query({ sort, descending, search, limit, from }));
          for (const offset of [0, 7, 1_001]) {
            const [there] = (await of({ offset, anchor: null })).items;
            if (there === undefined) continue;
            expect(await of({ offset: 3, anchor: there.id })).toMatchObject({ offset, items: [there] });
          }
          expect(await of({ offset: 3, anchor: 123_456_789n })).toMatchObject({ offset: 3 });
        }
      }
    }
    const anchored = (anchor: bigint) => pets.list(HERE, query({ search: 'zoë', from: { offset: 5, anchor } }));
    const [rex] = (await pets.list(HERE, query({ search: 'rex', limit: 1 }))).items;
    expect(await anchored(rex?.id ?? 0n)).toMatchObject({ offset: 5 });
  });

  it('stays at its anchor while others add and remove before it', async () => {
    const { pets } = memoryStore();
    for (const name of ['b', 'd', 'f', 'h']) pets.insert(HERE, pet(name));
    const from = { offset: 2, anchor: 3n };
    const at = async () => (await pets.list(HERE, query({ sort: 'name', limit: 1, from }))).offset;
    expect(await at()).toBe(2);
    pets.insert(HERE, pet('a'));
    pets.insert(HERE, pet('c'));
    expect(await at()).toBe(4);
    pets.remove(HERE, 1n);
    expect(await at()).toBe(3);
    const above = async (before: number) => {
      const { offset, items } = await pets.list(HERE, query({ sort: 'name', from: { ...from, before } }));
      return [offset, items.map(({ name }) => name).join('')];
    };
    expect([await above(2), await above(20)]).toEqual([
      [1, 'cdfh'],
      [0, 'acdfh'],
    ]);
  });

  it('stays sorted while pets are added, changed and removed in the middle of it', async () => {
    const { pets } = memoryParts();
    const many = Array.from({ length: 3_000 }, (_, index) => ({
      ...pet(`Rex ${(index * 37) % 50}`),
      categoryId: BigInt(index % 9),
    }));
    await pets.insertMany(HERE, many);
    const idsOf = (rows: readonly Pet[]) => rows.slice(0, 1_000).map(({ id }) => id);
    const listed = async (sort: PetSort) => idsOf((await pets.list(HERE, query({ sort, limit: 1_000 }))).items);
    const expected = (sort: PetSort) => idsOf(allPets(pets, HERE).sort(COMPARISONS[sort]));
    // The first list begins to sort; changes meanwhile must not be lost.
    const first = listed('name');
    pets.update(HERE, 2_990n, { name: 'Ada' });
    pets.insert(STAGING, pet('Aaa'));
    await first;
    for (let round = 0; round < 5; round++) {
      pets.insert(HERE, pet(`Ada ${round}`));
      pets.update(HERE, BigInt(round + 10), { name: `Rex ${round}`, categoryId: -1n, status: 'sold' });
      pets.remove(HERE, BigInt(round * 500 + 1));
      await pets.insertMany(HERE, [pet('Rex 1'), pet('Abe')]);
      for (const sort of ['name', 'categoryId'] as const) expect(await listed(sort)).toEqual(expected(sort));
    }
    await pets.clear(HERE, 2_000);
    expect(await listed('name')).toEqual(expected('name'));
  });

  it.each(petSort.options)('by %s walks an index in the order of its rows, without sorting', (sort) => {
    const { sqlite } = memoryParts();
    const texts: string[] = [];
    const watched = { prepare: (sql: string) => (texts.push(sql), sqlite.prepare(sql)) } as unknown as typeof sqlite;
    const list = createPetListing(watched);
    list(1, query({ sort, descending: true, from: { offset: 5, anchor: 1n } }));
    list(1, query({ sort }));
    expect(texts).toHaveLength(3);
    for (const text of texts) {
      const plan = sqlite.prepare(`EXPLAIN QUERY PLAN ${text.replaceAll(/:\w+/g, '1')}`).all();
      const details = plan.map((step) => (step as { detail: string }).detail).join(', ');
      expect(details).toMatch(/SEARCH pets USING (PRIMARY KEY|COVERING INDEX)/);
      expect(details).not.toMatch(/TEMP B-TREE|SCAN/);
    }
  });
});

it('counts agree with the rows after any sequence of operations', async () => {
  const { pets, sqlite } = memoryParts();
  const statuses: PetStatus[] = ['available', 'pending', 'sold'];
  let state = 12345;
  const random = (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
  const status = () => statuses[random(3)] ?? 'sold';
  const quietly = (work: () => unknown) => {
    try {
      work();
    } catch {
      // Missing and used ids are included.
    }
  };
  for (let round = 0; round < 3_000; round++) {
    const dataset = random(2) === 0 ? HERE : STAGING;
    const id = BigInt(random(400));
    const kind = random(6);
    if (kind === 0) await pets.add(dataset, pet('a', status()));
    else if (kind === 1) quietly(() => pets.insert(dataset, { ...pet('b', status()), id }));
    else if (kind === 2) await pets.insertMany(dataset, [pet('c', status()), { ...pet('d', status()), id }]);
    else if (kind === 3) quietly(() => pets.update(dataset, id, { status: status() }));
    else quietly(() => pets.remove(dataset, id));
  }
  const counted = sqlite
    .prepare('SELECT dataset_id, status, count(*) AS pets FROM pets GROUP BY dataset_id, status ORDER BY 1, 2')
    .all();
  const kept = sqlite.prepare('SELECT dataset_id, status, pets FROM pet_counts ORDER BY 1, 2').all();
  expect(kept).toEqual(counted);
  expect(counted).toHaveLength(6);
  expect(pets.total()).toBe(pets.count(HERE, null) + pets.count(STAGING, null));
  expect(pets.count(HERE, null)).toBe(statuses.reduce((sum, each) => sum + pets.count(HERE, each), 0));
});
