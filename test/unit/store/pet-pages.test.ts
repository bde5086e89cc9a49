import { describe, expect, it } from 'vitest';
import { INT64_MAX, INT64_MIN } from '../../../main/contract/values.ts';
import { PAGE_OF_STATUS_SQL, PAGE_SQL } from '../../../main/store/tables/pets.ts';
import { allPets, faultOf, HERE, memoryParts, memoryStore, pet, query, STAGING, refusalOf } from './parts.ts';

describe('pages of pets', () => {
  const first = { status: null, limit: 2, after: null };

  it('are ordered by id, and tell whether there are more', () => {
    const { pets } = memoryStore();
    for (const id of [INT64_MAX, 0n, INT64_MIN, 7n]) pets.insert(HERE, { ...pet(`Pet ${id}`), id });
    const page = (after: bigint | null) => {
      const { pets: found, more } = pets.page(HERE, { ...first, after });
      return [found.map(({ id }) => id), more];
    };
    expect(page(null)).toEqual([[INT64_MIN, 0n], true]);
    expect(page(0n)).toEqual([[7n, INT64_MAX], false]);
    expect(page(INT64_MIN)).toEqual([[0n, 7n], true]);
    expect(page(7n)).toEqual([[INT64_MAX], false]);
    expect(page(INT64_MAX)).toEqual([[], false]);
  });

  it('are limited to one status on request', () => {
    const { pets } = memoryStore();
    for (const status of ['sold', 'available', 'sold', 'pending', 'sold'] as const)
      pets.insert(HERE, pet('Rex', status));
    const page = (after: bigint | null) => pets.page(HERE, { status: 'sold', limit: 2, after });
    expect(page(null)).toMatchObject({ pets: [{ id: 1n }, { id: 3n }], more: true });
    expect(page(3n)).toMatchObject({ pets: [{ id: 5n, status: 'sold' }], more: false });
  });

  it('read only the rows they show: by the primary key, or by the index of statuses', () => {
    const { sqlite } = memoryParts();
    const plan = (sql: string) =>
      JSON.stringify(sqlite.prepare(`EXPLAIN QUERY PLAN ${sql.replaceAll('?', '1')}`).all());
    expect(plan(PAGE_SQL)).toContain('SEARCH pets USING PRIMARY KEY (dataset_id=? AND id>?)');
    expect(plan(PAGE_OF_STATUS_SQL)).toContain('INDEX pets_by_status (dataset_id=? AND status=? AND id>?)');
    expect(plan(PAGE_SQL) + plan(PAGE_OF_STATUS_SQL)).not.toMatch(/SCAN|TEMP/);
  });

  it('keep the datasets of a project apart', () => {
    const { pets } = memoryStore();
    pets.insert(HERE, pet('Rex'));
    pets.insert(STAGING, pet('Tom'));
    expect(allPets(pets, HERE)).toEqual([{ id: 1n, ...pet('Rex') }]);
    expect(allPets(pets, STAGING)).toEqual([{ id: 1n, ...pet('Tom') }]);
    expect(refusalOf(() => pets.page({ ...HERE, projectId: 'prj_none' }, first))).toBe(
      'not_found: There is no project prj_none.',
    );
  });
});

describe('a stored pet', () => {
  it.each([
    ['plain', 'Rex'],
    ['NUL inside', 'a\0b'],
    ['NUL alone at both ends', '\0 \0'],
    ['outside the basic plane', '🦊\u{10FFFF}'],
    ['decomposed letters', 'e\u0301\u0323'],
    ['a byte order mark and noncharacters', '\uFEFF\uFFFE\uFFFF'],
    ['quotes and SQL', `'; DROP TABLE pets; --"`],
    ['1,000 characters of four bytes', '🐕'.repeat(1000)],
  ])('is returned unchanged: %s', (_case, name) => {
    const { pets } = memoryStore();
    const { id } = pets.insert(HERE, pet(name));
    expect(pets.get(HERE, id)?.name).toBe(name);
    expect(allPets(pets, HERE)[0]?.name).toBe(name);
    pets.update(HERE, id, { name: `${name}!` });
    expect(pets.get(HERE, id)?.name).toBe(`${name}!`);
  });

  it.each([INT64_MIN, INT64_MIN + 1n, -(2n ** 53n) - 1n, 0n, 2n ** 53n + 1n, INT64_MAX - 1n, INT64_MAX])(
    'is exact for %d as id and as category',
    async (value) => {
      const { pets } = memoryStore();
      const row = { id: value, name: 'Rex', categoryId: value, status: 'sold' } as const;
      expect(pets.insert(HERE, row)).toEqual(row);
      expect(pets.get(HERE, value)).toEqual(row);
      expect(allPets(pets, HERE)).toEqual([row]);
      expect((await pets.list(HERE, query({ search: String(value), limit: 1 }))).items).toEqual([row]);
      expect(pets.remove(HERE, value)).toEqual(row);
      expect(pets.get(HERE, value)).toBeNull();
    },
  );

  it('changes only in the fields that the patch names', () => {
    const { pets } = memoryStore();
    const { id } = pets.insert(HERE, pet('Rex'));
    expect(pets.update(HERE, id, { status: 'sold' })).toEqual({ id, ...pet('Rex', 'sold') });
    expect(pets.update(HERE, id, { name: 'Tom', categoryId: undefined })).toEqual({ id, ...pet('Tom', 'sold') });
    expect(pets.get(HERE, id)).toEqual({ id, ...pet('Tom', 'sold') });
  });

  it('is named in the error if it is missing', () => {
    const { pets } = memoryStore();
    const fault = 'not_found: There is no pet 404 in staging of project prj_here.';
    expect(refusalOf(() => pets.update(STAGING, 404n, { name: 'x' }))).toBe(fault);
    expect(refusalOf(() => pets.remove(STAGING, 404n))).toBe(fault);
  });
});

describe('the revision of a dataset', () => {
  it('changes with every change of this dataset only', async () => {
    const { pets } = memoryStore();
    const seen = new Set<number>([pets.revision(HERE)]);
    const staging = pets.revision(STAGING);
    const changes: (() => unknown)[] = [
      () => pets.insert(HERE, pet('Rex')),
      () => pets.add(HERE, pet('Tom')),
      () => pets.insertMany(HERE, [pet('Kim')]),
      () => pets.update(HERE, 1n, { status: 'sold' }),
      () => pets.remove(HERE, 1n),
      () => pets.clear(HERE, 1),
    ];
    for (const change of changes) {
      await change();
      expect(seen).not.toContain(pets.revision(HERE));
      seen.add(pets.revision(HERE));
    }
    expect(pets.revision(STAGING)).toBe(staging);
  });

  it('stays if nothing was changed', async () => {
    const { pets } = memoryStore();
    pets.insert(HERE, { ...pet('Rex'), id: 5n });
    const before = pets.revision(HERE);
    faultOf(() => pets.insert(HERE, { ...pet('Rex'), id: 5n }));
    faultOf(() => pets.remove(HERE, 6n));
    await pets.insertMany(HERE, [{ ...pet('Rex'), id: 5n }]);
    expect(pets.revision(HERE)).toBe(before);
  });

  it('is 0 for a dataset that does not exist, and never the old one if it is created again', () => {
    const { projects, pets } = memoryStore();
    const before = pets.revision(HERE);
    const row = projects.remove(HERE.projectId);
    expect(pets.revision(HERE)).toBe(0);
    if (row !== null) projects.insert(row);
    expect(pets.revision(HERE)).not.toBe(before);
  });

  it('is reported to listeners once per change, and a failing listener does not undo the change', () => {
    const { pets } = memoryStore();
    const told: string[] = [];
    const end = pets.onChanged(({ environment }) => {
      told.push(environment);
      throw new Error('listener');
    });
    expect(pets.insert(HERE, pet('Rex')).id).toBe(1n);
    pets.insert(STAGING, pet('Rex'));
    end();
    pets.insert(HERE, pet('Rex'));
    expect(told).toEqual(['production', 'staging']);
  });
});
