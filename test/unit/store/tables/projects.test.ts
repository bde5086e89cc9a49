import { describe, expect, it } from 'vitest';
import { factsOf, PLAN_IDS } from '../../../../main/contract/plans.ts';
import { STEP_ROWS } from '../../../../main/store/tables/datasets.ts';
import { PROJECTS } from '../../../../main/store/tables/projects.ts';
import type { Stored } from '../../../../main/store/tables/table.ts';
import {
  faultOf,
  HERE,
  memoryParts,
  memoryStore,
  pet,
  projectRow,
  STAGING,
  until,
  query,
  refusalOf,
} from '../parts.ts';

describe('projects', () => {
  it('return what was stored', () => {
    const { projects } = memoryStore();
    const row = projectRow('prj_full', {
      plan: 'enterprise',
      limits: { perMinute: 5, perDay: 1_000_000_000 },
      target: { kind: 'upstream', url: 'http://127.0.0.1:3000/api' },
      primary: 'pets.example.org',
      redirects: [{ from: 'www.example.org', to: 'pets.example.org', status: 308 }],
      persona: 'mintlify',
      createdAtMs: 1_795_000_000_123,
    });
    projects.insert(row);
    expect(projects.get('prj_full')).toEqual(row);
    expect(projects.getBySlug('prj-full')).toEqual(row);
    expect(projects.get('prj_none')).toBeNull();
    expect(projects.getBySlug('none')).toBeNull();
  });

  it('are owned by a vivarium.yaml until they are renamed or removed', () => {
    const { owned, projects } = memoryStore();
    projects.insert(projectRow('prj_shop', { slug: 'shop' }));
    const claims = { project: '', primary: '', requests: '', key: '/one', pets: '/one' };
    const claim = { file: '/vivarium.yaml', created: true, detail: {}, sinceMs: 1 };
    for (const end of [() => projects.update('prj_shop', { slug: 'store' }), () => projects.remove('prj_shop')]) {
      const slug = projects.get('prj_shop')?.slug;
      for (const [kind, below] of Object.entries(claims))
        owned.put({ ...claim, kind: kind as keyof typeof claims, what: slug + below });
      end();
      expect(owned.list()).toEqual([]);
    }
  });

  it('with a plan without limits need both of their own', () => {
    const { projects, sqlite } = memoryParts();
    projects.insert(projectRow('prj_half', { plan: 'enterprise', limits: { perMinute: 1, perDay: 2 } }));
    const half = sqlite
      .prepare<[], Stored>(`SELECT *, NULL AS limit_per_day FROM projects WHERE id = 'prj_half'`)
      .get();
    expect(PROJECTS.fault(half ?? {})).toContain('limit_per_minute and limit_per_day are required');
  });

  it.each(PLAN_IDS)('have the plan %s, with limits of their own where it has none', (plan) => {
    const { projects } = memoryStore();
    const row = projectRow('prj_plan', {
      plan,
      limits: factsOf(plan).limits === null ? { perMinute: 1, perDay: 2 } : null,
    });
    projects.insert(row);
    expect(projects.get('prj_plan')).toEqual(row);
  });

  it('are listed newest first, and by insertion while the clock is frozen', () => {
    const { projects } = memoryStore();
    projects.insert(projectRow('prj_b', { createdAtMs: 3_000 }));
    projects.insert(projectRow('prj_c', { createdAtMs: 3_000 }));
    projects.insert(projectRow('prj_d', { createdAtMs: 2_000 }));
    expect(projects.list().map(({ id }) => id)).toEqual(['prj_c', 'prj_b', 'prj_d', HERE.projectId]);
    expect(projects.count()).toBe(4);
  });

  it('change only in the fields that the patch names', () => {
    const { projects } = memoryStore();
    const changed = projects.update(HERE.projectId, { plan: 'enterprise', limits: { perMinute: 1, perDay: 2 } });
    expect(changed).toEqual(projectRow(HERE.projectId, { plan: 'enterprise', limits: { perMinute: 1, perDay: 2 } }));
    projects.update(HERE.projectId, { plan: 'free', limits: null, name: 'Named', persona: 'vercel' });
    expect(projects.get(HERE.projectId)).toEqual(projectRow(HERE.projectId, { name: 'Named', persona: 'vercel' }));
  });

  it('refuse a slug or an id in use, and keep nothing of the refused one', () => {
    const { projects } = memoryStore();
    projects.insert(projectRow('prj_b'));
    expect(refusalOf(() => projects.insert(projectRow('prj_c', { slug: 'prj-b' })))).toMatch(/^conflict: .*slug prj-b/);
    expect(faultOf(() => projects.insert(projectRow('prj_b', { slug: 'other' }))).message).toContain('id prj_b');
    expect(faultOf(() => projects.update('prj_b', { slug: 'prj-here' })).code).toBe('conflict');
    expect(projects.count()).toBe(2);
  });

  it('name the missing one in the error', () => {
    const { projects } = memoryStore();
    expect(refusalOf(() => projects.update('prj_none', { name: 'x' }))).toBe(
      'not_found: There is no project prj_none.',
    );
    expect(projects.remove('prj_none')).toBeNull();
  });
});

describe('the removal of a project', () => {
  const tables = ['keys', 'deploys', 'datasets', 'pets', 'pet_counts', 'orders', 'rate_counters'];

  it('includes its keys, deploys, pets, orders and counters, and nothing of others', async () => {
    const { projects, keys, deploys, pets, orders, limits } = memoryStore();
    projects.insert(projectRow('prj_other'));
    for (const projectId of [HERE.projectId, 'prj_other']) {
      const dataset = { projectId, environment: 'production' } as const;
      const of = { projectId, createdAtMs: 1 };
      keys.insert({ id: `key_${projectId}`, name: '', prefix: '', hash: projectId, revokedAtMs: null, ...of });
      deploys.insert({ id: `dep_${projectId}`, status: 'succeeded', reason: null, ...of });
      const { id } = pets.insert(dataset, pet('Rex'));
      orders.insert(dataset, { petId: id, quantity: 1, createdAtMs: 1 });
      limits.save([limitRow(projectId)]);
    }
    expect(projects.remove(HERE.projectId)).toEqual(projectRow(HERE.projectId));
    expect(keys.active().map((key) => key.projectId)).toEqual(['prj_other']);
    expect(deploys.list(HERE.projectId)).toEqual([]);
    expect(limits.load()).toEqual([limitRow('prj_other')]);
    expect(pets.total()).toBe(1);
    expect(faultOf(() => pets.get(HERE, 1n)).code).toBe('not_found');
    expect(faultOf(() => orders.list(STAGING)).code).toBe('not_found');
    await expect(pets.add(HERE, pet('Rex'))).rejects.toMatchObject({ code: 'not_found' });
    expect(projects.list().map(({ id }) => id)).toEqual(['prj_other']);
  });

  it('leaves no row behind, however many there were, and works in bounded steps', async () => {
    const { projects, pets, sqlite } = memoryParts();
    const count = STEP_ROWS * 2 + 10;
    await pets.insertMany(HERE, Array(count).fill(pet('Rex')) as ReturnType<typeof pet>[]);
    await pets.insertMany(STAGING, [pet('Tom')]);
    const rows = (table: string) => Number(sqlite.prepare(`SELECT count(*) FROM ${table}`).pluck().get());
    projects.remove(HERE.projectId);
    expect(pets.total()).toBe(0);
    expect(rows('pets')).toBe(count + 1);
    const seen: number[] = [];
    await until(() => {
      seen.push(rows('pets'));
      return rows('datasets') === 0;
    });
    const steps = seen.map((left, index) => (seen[index - 1] ?? left) - left);
    expect(Math.max(...steps)).toBe(STEP_ROWS);
    for (const table of tables) expect([table, rows(table)]).toEqual([table, 0]);
  });

  it('makes its id free for a new project, whose ids begin at 1', async () => {
    const { projects, pets } = memoryStore();
    pets.insert(HERE, pet('Rex'));
    projects.remove(HERE.projectId);
    projects.insert(projectRow(HERE.projectId));
    expect(await pets.list(HERE, query({ limit: 10 }))).toEqual({ items: [], total: 0, offset: 0, next: null });
    expect(pets.insert(HERE, pet('Tom')).id).toBe(1n);
  });
});

function limitRow(projectId: string) {
  return {
    projectId,
    caller: 'address:127.0.0.1',
    minuteStartedAtMs: 1,
    minuteUsed: 2,
    dayStartedAtMs: null,
    dayUsed: 0,
    strikes: 3,
    strikesUntilMs: null,
    bannedUntilMs: 4,
    lastRequestAtMs: null,
  };
}
