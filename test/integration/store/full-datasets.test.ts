import Sqlite from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { DATASET_PETS_MAX } from '../../../main/contract/pet-fields.ts';
import type { NewPet } from '../../../main/model/pet.ts';
import { faultOf, HERE, pet, query } from '../../unit/store/parts.ts';
import { newDatabase, openFile } from './files.ts';

const MORE = DATASET_PETS_MAX + 200;

/** A file whose dataset was filled before the bound. */
async function fullFile(pets: number): Promise<string> {
  const file = await newDatabase();
  const sqlite = new Sqlite(file);
  sqlite
    .prepare<[number]>(
      `INSERT INTO pets (dataset_id, id, name, category_id, status, folded_name)
       WITH RECURSIVE numbers (number) AS (VALUES (1) UNION ALL SELECT number + 1 FROM numbers WHERE number < ?)
       SELECT (SELECT id FROM datasets WHERE environment = 'production'), number, 'Rex ' || number, number % 7, 'sold',
         'REX ' || number FROM numbers`,
    )
    .run(pets);
  sqlite.exec(`UPDATE datasets SET last_pet_id = ${pets} WHERE environment = 'production'`);
  sqlite.close();
  return file;
}

const REFUSED = `There are 100,000 pets in production of project ${HERE.projectId}, the most that it holds; remove some first.`;

describe('a dataset', () => {
  it('takes pets up to its bound, and names it when it refuses one', async () => {
    const { pets } = openFile(await fullFile(DATASET_PETS_MAX - 3));
    const outcomes = await pets.insertMany(HERE, Array<NewPet>(25).fill(pet('imported')));
    expect(outcomes.slice(0, 4)).toEqual([99_998n, 99_999n, 100_000n, REFUSED]);
    expect(new Set(outcomes.slice(3))).toEqual(new Set([REFUSED]));
    expect(faultOf(() => pets.insert(HERE, { ...pet('with an id'), id: -1n }))).toEqual({
      code: 'unavailable',
      message: REFUSED,
    });
    await expect(pets.add(HERE, pet('added'))).rejects.toThrow(REFUSED);
    pets.remove(HERE, 7n);
    expect((await pets.add(HERE, pet('added'))).id).toBe(100_001n);
    expect(pets.insert({ ...HERE, environment: 'staging' }, pet('elsewhere')).id).toBe(1n);
    expect(pets.count(HERE, null)).toBe(DATASET_PETS_MAX);
  });

  it('with more than that keeps and serves them: edited, removed, listed, and restored from a snapshot', async () => {
    const file = await fullFile(MORE);
    const store = openFile(file);
    const { pets } = store;
    const last = BigInt(MORE);
    await store.snapshots.save({
      ...{ name: 'full', createdAtMs: 1, root: 'aa11', file: null },
      ...{ force: false, demoKey: null, traffic: null },
    });
    expect(faultOf(() => pets.insert(HERE, pet('one more'))).message).toBe(REFUSED);
    pets.update(HERE, last, { name: 'Ada' });
    expect(pets.list(HERE, query({ sort: 'name', limit: 1 }))).toMatchObject({ total: MORE, items: [{ id: last }] });
    pets.remove(HERE, 1n);
    expect(await pets.clear(HERE, 600)).toBe(600);
    expect(pets.page(HERE, { status: null, limit: 1, after: last - 1n }).pets).toEqual([
      { id: last, name: 'Ada', categoryId: last % 7n, status: 'sold' },
    ]);
    expect(pets.insert(HERE, pet('one more')).id).toBe(last + 1n);
    const snapshot = await store.snapshots.open({ name: 'full' });
    store.snapshots.restore(snapshot, { root: 'aa11', demoKey: null });
    snapshot.close();
    expect(pets.count(HERE, null)).toBe(MORE);
    expect(pets.get(HERE, last)?.name).toBe(`Rex ${MORE}`);
  });
});
