import type { Statement } from 'better-sqlite3';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { INT64_MAX, INT64_MIN } from '../../../main/contract/values.ts';
import { allPets, faultOf, HERE, memoryParts, memoryStore, pet, STAGING, refusalOf } from './parts.ts';
import { CHUNK_PETS } from '../../../main/store/tables/pet-writer.ts';
import type { NewPet } from '../../../main/model/pet.ts';

const SAFE = 2n ** 53n;

/** Parts whose sequence in `HERE` is at `last`. */
function partsAt(last: bigint) {
  const parts = memoryParts();
  parts.sqlite.prepare("UPDATE datasets SET last_pet_id = ? WHERE environment = 'production'").run(last);
  return parts;
}

describe('assigned ids', () => {
  it('begin at 1 in each dataset and only grow, even past removed ones', async () => {
    const { pets } = memoryParts();
    expect((await pets.add(HERE, pet('a'))).id).toBe(1n);
    expect(pets.insert(HERE, pet('b')).id).toBe(2n);
    pets.remove(HERE, 2n);
    pets.remove(HERE, 1n);
    expect(pets.insert(HERE, pet('c')).id).toBe(3n);
    expect(pets.insert(STAGING, pet('d')).id).toBe(1n);
  });

  it.each([
    { explicit: 10n, next: 11n },
    { explicit: 0n, next: 1n },
    { explicit: -1n, next: 1n },
    { explicit: INT64_MIN, next: 1n },
    { explicit: -SAFE - 1n, next: 1n },
    { explicit: SAFE - 1n, next: SAFE },
    { explicit: SAFE, next: SAFE + 1n },
    { explicit: SAFE + 1n, next: 1n },
    { explicit: INT64_MAX, next: 1n },
  ])('continue at $next after an explicit $explicit, inserted or imported', async ({ explicit, next }) => {
    const one = memoryParts();
    one.pets.insert(HERE, { ...pet('a'), id: explicit });
    expect(one.pets.insert(HERE, pet('b')).id).toBe(next);
    const many = memoryParts();
    const filler = Array.from({ length: 19 }, (_, index) => ({ ...pet('filler'), id: -100n - BigInt(index) }));
    await many.pets.insertMany(HERE, [...filler, { ...pet('a'), id: explicit }]);
    expect(many.pets.insert(HERE, pet('b')).id).toBe(next);
  });

  it('are not affected by the id of a pet that was refused', async () => {
    const { pets } = memoryParts();
    pets.insert(HERE, { ...pet('a'), id: 5n });
    pets.remove(HERE, 5n);
    pets.insert(HERE, { ...pet('a'), id: 3n });
    faultOf(() => pets.insert(HERE, { ...pet('a'), id: 3n }));
    expect(pets.insert(HERE, pet('b')).id).toBe(6n);
  });

  it.each([
    { taken: [1n], next: 2n },
    { taken: [1n, 2n, 3n], next: 4n },
    { taken: [1n, 2n, 3n, 5n, 6n], next: 4n },
    { taken: [1n, 3n], next: 2n },
  ])('skip used ones above 2^53: offsets $taken lead to $next', ({ taken, next }) => {
    const { pets } = partsAt(SAFE);
    for (const offset of taken) pets.insert(HERE, { ...pet('a'), id: SAFE + offset });
    expect(pets.insert(HERE, pet('b')).id).toBe(SAFE + next);
  });

  it('skip a long run of used ids with few probes', async () => {
    const { pets, sqlite } = partsAt(SAFE);
    const row = Array.from({ length: 50_000 }, (_, index) => ({ ...pet('a'), id: SAFE + 1n + BigInt(index) }));
    await pets.insertMany(HERE, row);
    const probes = vi.spyOn(Object.getPrototypeOf(sqlite.prepare('SELECT 1')) as Statement, 'get');
    onTestFinished(() => probes.mockRestore());
    expect(pets.insert(HERE, pet('b')).id).toBe(SAFE + 50_001n);
    expect(probes.mock.calls.length).toBeLessThan(50);
    expect(pets.insert(HERE, pet('c')).id).toBe(SAFE + 50_002n);
  });

  it('reach the highest int64 and end there with a clear conflict', async () => {
    const { pets } = partsAt(INT64_MAX - 2n);
    expect(pets.insert(HERE, pet('a')).id).toBe(INT64_MAX - 1n);
    expect((await pets.add(HERE, pet('b'))).id).toBe(INT64_MAX);
    const fault = faultOf(() => pets.insert(HERE, pet('c')));
    expect(fault.code).toBe('conflict');
    expect(fault.message).toContain('No id is left to assign in production of project prj_here');
    await expect(pets.add(HERE, pet('c'))).rejects.toMatchObject({ code: 'conflict' });
    expect(await pets.insertMany(HERE, [pet('c'), { ...pet('d'), id: 1n }])).toEqual([fault.message, 1n]);
    expect(pets.insert(HERE, { ...pet('e'), id: 2n }).id).toBe(2n);
  });

  it.each([
    { taken: [2n, 1n, 0n], next: null },
    { taken: [2n, 0n], next: 1n },
    { taken: [2n, 1n], next: 0n },
    { taken: [9n, 8n, 7n, 6n, 5n, 3n, 2n, 1n, 0n], next: 4n },
  ])('find free ones below the highest: used $taken from the top lead to $next', ({ taken, next }) => {
    const { pets } = partsAt(INT64_MAX - (taken[0] ?? 0n) - 1n);
    for (const below of taken) pets.insert(HERE, { ...pet('a'), id: INT64_MAX - below });
    if (next === null) expect(faultOf(() => pets.insert(HERE, pet('b'))).code).toBe('conflict');
    else expect(pets.insert(HERE, pet('b')).id).toBe(INT64_MAX - next);
  });
});

it('an explicit id that is in use is a conflict that names it, and changes nothing', () => {
  const { pets } = memoryParts();
  pets.insert(HERE, { ...pet('Rex'), id: 5n });
  expect(refusalOf(() => pets.insert(HERE, { ...pet('Tom'), id: 5n }))).toBe(
    'conflict: There is a pet 5 in production of project prj_here already; choose another id, or leave it out to get the next one.',
  );
  expect(allPets(pets, HERE)).toEqual([{ id: 5n, ...pet('Rex') }]);
});

describe('the import of many pets', () => {
  it('has one result per pet, in order, and accepts the valid ones', async () => {
    const { pets } = memoryStore();
    pets.insert(HERE, { ...pet('There'), id: 5n });
    const rows: NewPet[] = [
      pet('a'),
      { ...pet('taken'), id: 5n },
      { ...pet('b'), id: 7n },
      { ...pet('twice'), id: 7n },
      pet('c'),
    ];
    const results = await pets.insertMany(HERE, rows);
    expect(results).toEqual([
      6n,
      expect.stringContaining('There is a pet 5 in production') as string,
      7n,
      expect.stringContaining('There is a pet 7 in production') as string,
      8n,
    ]);
    expect(allPets(pets, HERE).map(({ id, name }) => `${id} ${name}`)).toEqual(['5 There', '6 a', '7 b', '8 c']);
  });

  it('gives the same results and ids in bulk as one by one, wherever a conflict is', async () => {
    const bulk = memoryStore().pets;
    const single = memoryStore().pets;
    const rows: NewPet[] = Array.from({ length: CHUNK_PETS * 7 + 3 }, (_, index) => ({
      ...pet(`Pet ${index}`),
      ...(index % 11 === 3 ? { id: BigInt((index * 7) % 60) } : {}),
    }));
    const expected = rows.map((row) => {
      try {
        return single.insert(HERE, row).id;
      } catch (error) {
        return (error as Error).message;
      }
    });
    expect(expected.filter((result) => typeof result === 'string').length).toBeGreaterThan(2);
    expect(await bulk.insertMany(HERE, rows)).toEqual(expected);
    expect(allPets(bulk, HERE)).toEqual(allPets(single, HERE));
    expect(bulk.count(HERE, null)).toBe(allPets(single, HERE).length);
  });

  it('tells why the database refuses a pet, and accepts the others', async () => {
    const { pets } = memoryStore();
    const odd = { ...pet('odd'), status: 'lost' } as unknown as NewPet;
    const results = await pets.insertMany(HERE, [...Array<NewPet>(CHUNK_PETS - 1).fill(pet('good')), odd]);
    expect(results.filter((result) => typeof result === 'bigint')).toHaveLength(CHUNK_PETS - 1);
    expect(results.at(-1)).toContain('CHECK constraint failed');
  });

  it('lets other work run between its transactions', async () => {
    const { pets } = memoryStore();
    let turns = 0;
    let running = true;
    const tick = () => {
      turns++;
      if (running) setImmediate(tick);
    };
    setImmediate(tick);
    await pets.insertMany(HERE, Array<NewPet>(20_000).fill(pet('Rex')));
    running = false;
    expect(turns).toBeGreaterThan(5);
    expect(pets.total()).toBe(20_000);
  });

  it('of nothing is empty', async () => {
    expect(await memoryStore().pets.insertMany(HERE, [])).toEqual([]);
  });

  it('ends with the removal of its project, and tells how many were stored', async () => {
    const { pets, projects } = memoryParts();
    function* rows(): Generator<NewPet> {
      for (let number = 0; number < 10_000; number++) {
        if (number === 5_000) projects.remove(HERE.projectId);
        yield pet('Rex');
      }
    }
    await expect(pets.insertMany(HERE, rows())).rejects.toMatchObject({
      code: 'not_found',
      message: 'There is no project prj_here. 5000 pets had been stored before.',
    });
    expect(pets.total()).toBe(0);
  });
});
