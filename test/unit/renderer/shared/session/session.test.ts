// @vitest-environment ./test/support/page-environment.ts
import { ORPCError } from '@orpc/client';
import { describe, expect, it } from 'vitest';
import { KeptValues } from '../../../../../renderer/shared/session/storage.ts';
import { ProjectOverview } from '../../../../../renderer/pages/home/project-overview.svelte.ts';
import { Session } from '../../../../../renderer/shared/session/session.svelte.ts';
import { ProjectSelection } from '../../../../../renderer/shared/session/session.svelte.ts';
import { createMemoryStorage } from '../../../../../renderer/shared/session/storage.ts';
import { createFakeClock, FAKE_NOW_MS, settle } from '../../../../support/fake-clock.ts';
import { createFakeTransport } from '../../../../support/page/page-link.ts';
import { makePets, makeProject, makeStatus } from '../../../../support/page/page-world.ts';

function setUp(storage = createMemoryStorage()) {
  const time = createFakeClock();
  const transport = createFakeTransport();
  const newest = makeProject('Newest');
  const world = { status: makeStatus(), projects: [newest, makeProject('Demo')] };
  transport.stub('status.get', () => world.status);
  transport.stub('projects.list', () => world.projects);
  transport.stub('keys.list', () => []);
  transport.stub('limits.usage', () => []);
  transport.stub('pets.list', () => ({ items: makePets(8), total: 30 }));
  const session = new Session({
    transport,
    time,
    storage,
    drafts: new KeptValues(createMemoryStorage(), ''),
    named: () => undefined,
  });
  const overview = () =>
    new ProjectOverview({ client: session.client, changes: session.connection, time, projectId: newest.id });
  return { time, transport, world, session, newest, overview };
}

describe('a session', () => {
  it('reads the status, the projects and the clock', async () => {
    const { session, world } = setUp();
    session.start();
    await settle();
    expect(session.status.value).toEqual(world.status);
    expect(session.projects.value).toHaveLength(2);
    expect(session.clock.nowMs).toBe(FAKE_NOW_MS);
  });

  it('shows the newest project until another is chosen, and remembers the choice', async () => {
    const storage = createMemoryStorage();
    const { session, world, newest } = setUp(storage);
    session.start();
    await settle();
    expect(session.selection.current?.id).toBe(newest.id);
    const other = world.projects[1]?.id ?? '';
    session.selection.choose({ id: other, slug: 'demo' });
    expect(session.selection.current?.id).toBe(other);
    const later = setUp(storage).session;
    later.start();
    await settle();
    expect(later.selection.current?.id).toBe(other);
  });

  it('switches to the newest project when the chosen one is removed', async () => {
    const { time, session, world, transport, newest } = setUp();
    session.start();
    await settle();
    session.selection.choose({ id: world.projects[1]?.id ?? '', slug: 'demo' });
    world.projects = [newest];
    await time.pass(1_000);
    transport.tell({ type: 'projects.changed' });
    await settle();
    expect(session.selection.current?.id).toBe(newest.id);
  });

  it('stays with a project whose slug changes, and resolves an old slug to its current project', () => {
    const [demo, shop] = [makeProject('Demo'), makeProject('Shop')];
    let projects = [demo, shop];
    let named = 'demo';
    const selection = new ProjectSelection({
      list: () => projects,
      named: () => named,
      storage: createMemoryStorage(),
    });
    selection.choose(demo);
    projects = [{ ...demo, slug: 'zoo' }, shop];
    expect([selection.current?.name, selection.missing]).toEqual(['Demo', undefined]);
    projects = [
      { ...demo, slug: 'zoo' },
      { ...shop, slug: 'demo' },
    ];
    expect(selection.current?.name).toBe('Shop');
    named = 'never';
    expect([selection.current, selection.missing]).toEqual([undefined, 'never']);
  });

  it('follows the clock when it is moved', async () => {
    const { transport, session } = setUp();
    session.start();
    await settle();
    const now = new Date(FAKE_NOW_MS + 3_600_000).toISOString();
    const realNow = new Date(FAKE_NOW_MS).toISOString();
    transport.stub('clock.get', () => ({ now, realNow, offset: 'PT1H', frozen: false }));
    transport.tell({ type: 'clock.changed' });
    await settle();
    expect([session.clock.moved, session.clock.offsetMs]).toEqual([true, 3_600_000]);
  });
});

describe('the overview of a project', () => {
  it('reads again only what a change concerns', async () => {
    const { time, transport, session, overview, newest } = setUp();
    session.start();
    await settle();
    const shown = overview();
    await time.pass(1_000);
    const before = transport.asked('pets.list');
    transport.tell({ type: 'pets.changed', projectId: newest.id, environment: 'staging' });
    transport.tell({ type: 'pets.changed', projectId: 'prj_other', environment: 'production' });
    transport.tell({ type: 'limits.changed', projectId: 'prj_other' });
    await settle();
    expect(transport.asked('pets.list') - before).toBe(1);
    expect(transport.asked('limits.usage')).toBe(1);
    expect(transport.calls.findLast(({ procedure }) => procedure === 'pets.list')?.input).toMatchObject({
      environment: 'staging',
    });
    shown.close();
  });

  it('adds sample pets to the visible dataset, once at a time', async () => {
    const { transport, session, overview, newest } = setUp();
    session.start();
    await settle();
    const shown = overview();
    shown.environment = 'staging';
    const seeded = Promise.withResolvers<unknown>();
    transport.stub('pets.seed', () => seeded.promise);
    const first = shown.seed();
    void shown.seed();
    await settle();
    expect([shown.seeding, transport.asked('pets.seed')]).toEqual([true, 1]);
    expect(transport.calls.at(-1)?.input).toEqual({ projectId: newest.id, environment: 'staging', count: 30 });
    seeded.resolve({ created: 30, rejected: [], rejectedTotal: 0 });
    await first;
    expect([shown.seeding, shown.seedFailure]).toEqual([false, undefined]);
  });

  it('tells why no pets were added, with the engine’s issues', async () => {
    const { transport, session, overview } = setUp();
    session.start();
    await settle();
    const shown = overview();
    const error = new ORPCError('invalid_request', {
      message: 'The input is not acceptable.',
      data: { issues: [{ path: 'count', message: 'must be at most 10' }] },
    });
    transport.stub('pets.seed', () => Promise.reject(error));
    await shown.seed();
    expect(shown.seedFailure).toBe('The input is not acceptable. · count must be at most 10');
    shown.environment = 'staging';
    expect(shown.seedFailure).toBeUndefined();
  });
});
