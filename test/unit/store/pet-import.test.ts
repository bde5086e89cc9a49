import { describe, expect, it } from 'vitest';
import { CHUNK_PETS } from '../../../main/store/tables/pet-writer.ts';
import type { NewPet } from '../../../main/model/pet.ts';
import { allPets, HERE, memoryParts, memoryStore, pet } from './parts.ts';

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
