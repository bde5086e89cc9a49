import { describe, expect, it } from 'vitest';
import { DEPLOYS_KEPT } from '../../../../main/store/tables/projects.ts';
import type { LimitRow } from '../../../../main/model/rate-decision.ts';
import { faultOf, HERE, memoryStore, pet, projectRow, STAGING, refusalOf } from '../parts.ts';

const { projectId } = HERE;

describe('API keys', () => {
  const key = (id: string, createdAtMs = 1) => ({
    id,
    projectId,
    name: 'Key',
    prefix: 'viv_abcd',
    hash: `hash of ${id}`,
    createdAtMs,
    revokedAtMs: null,
  });

  it('are listed newest first, with the revoked ones; only the others are active and counted', () => {
    const { keys } = memoryStore();
    keys.insert(key('key_a', 1));
    keys.insert(key('key_b', 3));
    keys.insert(key('key_c', 1));
    expect(keys.revoke('key_b', 9)).toEqual({ ...key('key_b', 3), revokedAtMs: 9 });
    expect(keys.list(projectId).map(({ id }) => id)).toEqual(['key_b', 'key_c', 'key_a']);
    expect(keys.active()).toEqual([
      { id: 'key_a', projectId, hash: 'hash of key_a' },
      { id: 'key_c', projectId, hash: 'hash of key_c' },
    ]);
    expect(keys.count()).toBe(2);
    expect(keys.get('key_a')).toEqual(key('key_a'));
    expect(keys.get('key_none')).toBeNull();
  });

  it('keep the moment of their first revocation', () => {
    const { keys } = memoryStore();
    keys.insert(key('key_a'));
    keys.revoke('key_a', 5);
    expect(keys.revoke('key_a', 6).revokedAtMs).toBe(5);
  });

  it('refuse a hash in use, an unknown project, and the revocation of an unknown key', () => {
    const { keys } = memoryStore();
    keys.insert(key('key_a'));
    expect(faultOf(() => keys.insert({ ...key('key_b'), hash: 'hash of key_a' })).code).toBe('conflict');
    expect(refusalOf(() => keys.insert({ ...key('key_c'), projectId: 'prj_none' }))).toBe(
      'not_found: There is no project prj_none.',
    );
    expect(faultOf(() => keys.revoke('key_none', 1)).message).toBe('There is no API key key_none.');
  });
});

it('deploys are kept up to a hundred for each project, newest first', () => {
  const { deploys, projects } = memoryStore();
  projects.insert(projectRow('prj_other'));
  const deploy = (id: string, ofProject: string) =>
    ({ id, projectId: ofProject, status: 'failed', reason: 'No answer.', createdAtMs: 7 }) as const;
  deploys.insert(deploy('dep_other', 'prj_other'));
  for (let number = 1; number <= DEPLOYS_KEPT + 5; number++) deploys.insert(deploy(`dep_${number}`, projectId));
  const listed = deploys.list(projectId);
  expect(listed).toHaveLength(100);
  expect(listed[0]).toEqual(deploy('dep_105', projectId));
  expect(listed.at(-1)?.id).toBe('dep_6');
  expect(deploys.list('prj_other')).toEqual([deploy('dep_other', 'prj_other')]);
  expect(faultOf(() => deploys.insert(deploy('dep_x', 'prj_none'))).code).toBe('not_found');
});

describe('orders', () => {
  it('are numbered from 1 in each dataset, and stay when their pet is removed', () => {
    const { orders, pets } = memoryStore();
    const petId = pets.insert(HERE, { ...pet('Rex'), id: -(2n ** 63n) }).id;
    const order = { petId, quantity: 1_000_000, createdAtMs: 1_795_000_000_123 };
    expect(orders.insert(HERE, order)).toEqual({ id: 1n, status: 'placed', ...order });
    expect(orders.insert(HERE, order).id).toBe(2n);
    pets.remove(HERE, petId);
    expect(orders.list(HERE)).toEqual([
      { id: 1n, status: 'placed', ...order },
      { id: 2n, status: 'placed', ...order },
    ]);
    expect(orders.list(STAGING)).toEqual([]);
  });

  it('are listed for one pet, limited to the latest', () => {
    const { orders, pets } = memoryStore();
    const [rex, tom] = ['Rex', 'Tom'].map((name) => pets.insert(HERE, pet(name)).id);
    for (const petId of [rex, tom, rex, rex]) orders.insert(HERE, { petId: petId ?? 0n, quantity: 1, createdAtMs: 1 });
    const listed = (which?: Parameters<typeof orders.list>[1]) => orders.list(HERE, which).map(({ id }) => id);
    expect(listed()).toEqual([1n, 2n, 3n, 4n]);
    expect(listed({ limit: 2 })).toEqual([3n, 4n]);
    expect(listed({ petId: rex ?? 0n })).toEqual([1n, 3n, 4n]);
    expect(listed({ petId: rex ?? 0n, limit: 1 })).toEqual([4n]);
  });

  it('can be removed, and their numbers are not reused', () => {
    const { orders, pets } = memoryStore();
    const petId = pets.insert(HERE, pet('Rex')).id;
    const order = orders.insert(HERE, { petId, quantity: 2, createdAtMs: 1 });
    expect(orders.remove(HERE, order.id)).toEqual(order);
    expect(refusalOf(() => orders.remove(HERE, order.id))).toBe(
      'not_found: There is no order 1 in production of project prj_here.',
    );
    expect(orders.insert(HERE, { petId, quantity: 2, createdAtMs: 1 }).id).toBe(2n);
  });

  it('are for pets of the same dataset only', () => {
    const { orders, pets } = memoryStore();
    const { id } = pets.insert(STAGING, pet('Rex'));
    expect(refusalOf(() => orders.insert(HERE, { petId: id, quantity: 1, createdAtMs: 1 }))).toBe(
      'not_found: There is no pet 1 in production to order.',
    );
    expect(orders.list(HERE)).toEqual([]);
  });
});

it('settings and the clock return the last values', () => {
  const { settings, clock } = memoryStore();
  expect([settings.get(), clock.get()]).toEqual([{}, null]);
  settings.set('banAfter', 20);
  settings.set('cors', '*');
  settings.set('cors', ['http://localhost:5173']);
  settings.set('__proto__', null);
  expect(Object.entries(settings.get())).toEqual([
    ['__proto__', null],
    ['banAfter', 20],
    ['cors', ['http://localhost:5173']],
  ]);
  clock.set({ offsetMs: -172_800_000, frozenAtMs: null });
  clock.set({ offsetMs: 172_800_000, frozenAtMs: 1_795_000_000_123 });
  expect(clock.get()).toEqual({ offsetMs: 172_800_000, frozenAtMs: 1_795_000_000_123 });
});

describe('rate counters', () => {
  const row = (caller: string, minuteUsed: number, ofProject = projectId): LimitRow => ({
    projectId: ofProject,
    caller,
    minuteStartedAtMs: 1_795_000_000_123,
    minuteUsed,
    dayStartedAtMs: null,
    dayUsed: 1_000_000_000,
    strikes: 0,
    strikesUntilMs: null,
    bannedUntilMs: null,
    lastRequestAtMs: 1_795_000_001_456,
  });

  it('are replaced by caller, and removed by caller', () => {
    const { limits } = memoryStore();
    limits.save([row('key:key_a', 1), row('address:::1', 2)]);
    limits.save([row('key:key_a', 3)]);
    expect(limits.load()).toEqual([row('address:::1', 2), row('key:key_a', 3)]);
    limits.remove([{ projectId, caller: 'key:key_a' }]);
    expect(limits.load()).toEqual([row('address:::1', 2)]);
  });

  it('of a removed project do not affect the others', () => {
    const { limits } = memoryStore();
    limits.save([row('key:key_a', 1, 'prj_none'), row('key:key_b', 1)]);
    expect(limits.load()).toEqual([row('key:key_b', 1)]);
  });
});
