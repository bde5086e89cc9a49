import { describe, expect, it } from 'vitest';
import type { PetStatus } from '../../../main/contract/values.ts';
import { HERE, memoryParts, memoryStore, pet, STAGING } from './parts.ts';

function found(names: readonly string[], search: string): string[] {
  const { pets } = memoryStore();
  for (const name of names) pets.insert(HERE, pet(name));
  const { items, total, next } = pets.search(HERE, { status: null, search, limit: 100, after: null });
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
  ])('for $search among $among finds $finds', ({ search, among, finds }) => {
    expect(found(among, search)).toEqual(finds);
  });

  it('finds a pet by its exact id as well, blanks around it aside', () => {
    expect(found(['one', 'two', 'with 2', '12'], ' 2 ')).toEqual(['two']);
    expect(found(['one', 'two', 'with 2', '12'], '2')).toEqual(['two', 'with 2', '12']);
    expect(found(['one'], '99999999999999999999')).toEqual([]);
  });

  it('pages by id, with the total of all pages', () => {
    const { pets } = memoryStore();
    for (let number = 1; number <= 5; number++) pets.insert(HERE, pet(`Rex ${'abcde'[number - 1]}`));
    pets.insert(HERE, pet('Tom'));
    const page = (after: bigint | null, search: string | null) => {
      const { items, total, next } = pets.search(HERE, { status: null, search, limit: 2, after });
      return [items.map(({ id }) => id), total, next];
    };
    for (const [search, total, last] of [
      ['rex', 5, [[5n], 5, null]],
      [null, 6, [[5n, 6n], 6, null]],
      ['', 6, [[5n, 6n], 6, null]],
    ] as const) {
      expect(page(null, search)).toEqual([[1n, 2n], total, 2n]);
      expect(page(2n, search)).toEqual([[3n, 4n], total, 4n]);
      expect(page(4n, search)).toEqual(last);
    }
  });

  it('holds one status only when it is asked for, and one dataset only', () => {
    const { pets } = memoryStore();
    const statuses: PetStatus[] = ['available', 'sold', 'sold', 'pending'];
    for (const status of statuses) pets.insert(HERE, pet('Rex', status));
    pets.insert(STAGING, pet('Rex', 'sold'));
    const query = { status: 'sold', limit: 10, after: null } as const;
    expect(pets.search(HERE, { ...query, search: 'rex' })).toMatchObject({ items: [{ id: 2n }, { id: 3n }], total: 2 });
    expect(pets.search(HERE, { ...query, search: null })).toMatchObject({ items: [{ id: 2n }, { id: 3n }], total: 2 });
    expect(pets.search(HERE, { ...query, search: '1' })).toEqual({ items: [], total: 0, next: null });
  });

  it('counts again after a change', () => {
    const { pets } = memoryStore();
    const total = () => pets.search(HERE, { status: null, search: 'rex', limit: 1, after: null }).total;
    pets.insert(HERE, pet('Rex'));
    expect([total(), total()]).toEqual([1, 1]);
    pets.insert(HERE, pet('Rex'));
    expect(total()).toBe(2);
    pets.update(HERE, 1n, { name: 'Tom' });
    expect(total()).toBe(1);
  });
});

describe('counts', () => {
  it('agree with the rows after any sequence of operations', async () => {
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
        // A missing or taken id is part of the mixture.
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
});
