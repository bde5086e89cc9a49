// @vitest-environment ./test/support/page-environment.ts
import { describe, expect, it } from 'vitest';
import { alike, ProjectHome } from '../../../../../renderer/pages/home/project-home.svelte.ts';
import type { ZoneInfo } from '../../../../../main/contract/zones.ts';
import { commandOf } from '../../../../../renderer/shared/project/runs.svelte.ts';
import { ProjectSelection } from '../../../../../renderer/shared/session/session.svelte.ts';
import { createMemoryStorage } from '../../../../../renderer/shared/session/storage.ts';
import { createFakeClock, FAKE_NOW_MS, settle } from '../../../../support/fake-clock.ts';
import { createFakeTransport } from '../../../../support/page/page-link.ts';
import { openSession } from '../../../../support/page/page-parts.ts';
import { makeProject, makeStatus } from '../../../../support/page/page-world.ts';

function setUp(storage = createMemoryStorage()) {
  const time = createFakeClock();
  const transport = createFakeTransport();
  const newest = makeProject('Newest');
  const world = { status: makeStatus(), projects: [newest, makeProject('Demo')] };
  transport.stub('status.get', () => world.status);
  transport.stub('projects.list', () => world.projects);
  transport.stub('keys.list', () => []);
  transport.stub('limits.usage', () => []);
  for (const list of ['runs.list', 'domains.list', 'deploys.list']) transport.stub(list, () => []);
  transport.stub('traffic.list', () => ({ items: [], kept: 0, dropped: 0, recording: true }));
  transport.stub('traffic.summary', () => ({ stepSeconds: 5, ageMs: 0 }));
  const session = openSession(transport, time, storage);
  const home = () =>
    new ProjectHome({ client: session.client, changes: session.connection, time, projectId: newest.id });
  return { time, transport, world, session, newest, home };
}

async function start(storage = createMemoryStorage()) {
  const parts = setUp(storage);
  parts.session.start();
  await settle();
  return parts;
}
describe('a session', () => {
  it('reads the status, the projects and the clock', async () => {
    const { session, world } = await start();
    expect(session.status.value).toEqual(world.status);
    expect(session.projects.value).toHaveLength(2);
    expect(session.clock.nowMs).toBe(FAKE_NOW_MS);
  });

  it('shows the newest project until another is chosen, and remembers the choice', async () => {
    const storage = createMemoryStorage();
    const { session, world, newest } = await start(storage);
    expect(session.selection.current?.id).toBe(newest.id);
    const other = world.projects[1]?.id ?? '';
    session.selection.choose({ id: other, slug: 'demo' });
    expect(session.selection.current?.id).toBe(other);
    expect((await start(storage)).session.selection.current?.id).toBe(other);
  });

  it('switches to the newest project when the chosen one is removed', async () => {
    const { time, session, world, transport, newest } = await start();
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
    const storage = createMemoryStorage();
    const selection = new ProjectSelection({ list: () => projects, named: () => named, storage });
    selection.choose(demo);
    const zoo = { ...demo, slug: 'zoo' };
    projects = [zoo, shop];
    expect([selection.current?.name, selection.missing]).toEqual(['Demo', undefined]);
    projects = [zoo, { ...shop, slug: 'demo' }];
    expect(selection.current?.name).toBe('Shop');
    named = 'never';
    expect([selection.current, selection.missing]).toEqual([undefined, 'never']);
  });

  it('follows the clock when it is moved', async () => {
    const { transport, session } = await start();
    const now = new Date(FAKE_NOW_MS + 3_600_000).toISOString();
    const realNow = new Date(FAKE_NOW_MS).toISOString();
    transport.stub('clock.get', () => ({ now, realNow, offset: 'PT1H', frozen: false }));
    transport.tell({ type: 'clock.changed' });
    await settle();
    expect([session.clock.moved, session.clock.offsetMs]).toEqual([true, 3_600_000]);
  });
});

describe('Home of a project', () => {
  it('reads again only what a change concerns', async () => {
    const { time, transport, home, newest } = await start();
    const shown = home();
    await time.pass(1_000);
    const before = transport.asked('keys.list');
    transport.tell({ type: 'keys.changed', projectId: newest.id });
    transport.tell({ type: 'keys.changed', projectId: 'prj_other' });
    transport.tell({ type: 'limits.changed', projectId: 'prj_other' });
    await settle();
    expect(transport.asked('keys.list') - before).toBe(1);
    // A revoked key stops calling.
    expect(transport.asked('limits.usage')).toBe(2);
    shown.close();
  });

  it('shows requests that follow each other and are alike as one row', () => {
    const of = { method: 'GET', target: '/', authority: 'demo.test', status: 200, address: '127.0.0.1' };
    const entries = [
      { ...of, id: '4' },
      { ...of, id: '3' },
      { ...of, id: '2', status: 429 },
      { ...of, id: '1' },
    ];
    expect(alike(entries as never).map(({ of: { id }, count }) => [id, count])).toEqual([
      ['4', 2],
      ['2', 1],
      ['1', 1],
    ]);
  });
});

describe('the runs of a session', () => {
  const RUN = {
    ...{ id: 'run_1', projectId: 'prj_newest', project: 'newest', created: true, urls: [], pid: 7 },
    // In the worktree of the branch fix-ui, whose label another run puts in front again.
    hostnames: ['fix-ui.app.acme.test', '*.fix-ui.app.acme.test'],
    ...{ folder: '/home/me/my app', command: 'npm run dev', asked: 'app.acme.test --wildcard -- npm run dev' },
    since: '2026-11-20T09:00:00.000Z',
  };

  it('have the last one of a project that has ended, with the command that starts it again', async () => {
    const { time, transport, session, newest } = setUp();
    const become = async (...runs: object[]) => {
      transport.stub('runs.list', () => runs);
      transport.tell({ type: 'projects.changed', projectId: newest.id });
      await time.pass(1_000);
    };
    session.start();
    await settle();
    await become(RUN);
    expect([session.runs.of(newest.id)?.id, session.runs.ended('newest')]).toEqual(['run_1', undefined]);
    const zones = ['acme.test', 'app.acme.test'].map((name) => ({ name }) as ZoneInfo);
    expect(zones.map(({ name }) => session.runs.inZone(name, zones)?.id)).toEqual([undefined, 'run_1']);
    const over = { ...RUN, target: 'http://localhost:5173', endedAt: '2026-11-20T10:00:00.000Z' };
    await become(over);
    expect(session.runs.of(newest.id)).toBeUndefined();
    expect([session.runs.ended('newest')?.id, session.runs.ended('demo')]).toEqual(['run_1', undefined]);
    const project = { ...newest, id: RUN.projectId, target: { kind: 'upstream', url: over.target } as const };
    expect(session.runs.left(project)?.id).toBe('run_1');
    expect(session.runs.left({ ...project, target: { kind: 'api' } })).toBeUndefined();
    expect(session.runs.left({ ...project, id: 'prj_of-the-same-name' })).toBeUndefined();
    await become(over, { ...RUN, id: 'run_2' });
    expect([session.runs.of(newest.id)?.id, session.runs.ended('newest')]).toEqual(['run_2', undefined]);
    expect(commandOf(RUN, 'vivarium')).toBe(
      "cd '/home/me/my app' && vivarium run app.acme.test --wildcard -- npm run dev",
    );
    expect(commandOf({ ...RUN, asked: undefined }, 'npx vivarium')).toContain('npx vivarium run newest -- npm run dev');
  });
});
