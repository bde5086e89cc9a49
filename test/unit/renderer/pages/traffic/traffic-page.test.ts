// @vitest-environment ./test/support/page-environment.ts
import { describe, expect, it } from 'vitest';
import { Navigator } from '../../../../../renderer/shared/navigation/navigator.svelte.ts';
import { SELECT_DELAY_MS, TrafficPage } from '../../../../../renderer/pages/traffic/traffic-page.svelte.ts';
import { settingsQuery } from '../../../../../renderer/shared/session/settings-query.ts';
import { refuses } from '../../../../support/fake-client.ts';
import { settle } from '../../../../support/fake-clock.ts';
import { fakeBar } from '../../../../support/page/page-address.ts';
import { noViews, pageParts } from '../../../../support/page/page-parts.ts';
import { fakeTraffic, makeDetail, makeEntry } from '../../../../support/page/page-traffic.ts';
import { makeKey, makeProject } from '../../../../support/page/page-world.ts';

async function setUp(path = '/projects/demo/traffic', views = noViews()) {
  const traffic = fakeTraffic([makeEntry(2), makeEntry(1)]);
  let recording = { record: true, bodies: true };
  const parts = pageParts({
    ...traffic.answers,
    'settings.get': () => ({ traffic: recording }),
    'settings.update': (patch: { traffic: typeof recording }) => (recording = patch.traffic),
    'keys.list': () => [makeKey('key_demo', 'Demo key')],
    'traffic.replay': () => makeDetail(3, { replayOf: 'trf_1' }),
    'traffic.har': ({ after }: { after?: string }) =>
      after === undefined
        ? { log: { version: '1.2', entries: [{ n: 1 }, { n: 2 }] }, next: 'trf_2' }
        : { log: { version: '1.2', entries: [{ n: 3 }] } },
    'traffic.clear': () => ({ cleared: 2 }),
    'examinations.requests': ({ run }: { run: number }) => {
      if (run > 1) refuses('NOT_FOUND', 'No requests are kept of run 2.')();
      const request = { method: 'POST', url: 'http://shop.test/v1/pets' };
      const made = { startedDateTime: '2026-11-28T10:30:00Z', request, _fault: { entry: 'api.sunset', breakId: 'b' } };
      return { name: 'sunset.har', har: JSON.stringify({ log: { entries: [made] } }) };
    },
  });
  const bar = fakeBar(path);
  const app = { ...makeProject('App'), target: { kind: 'upstream' as const, url: 'http://localhost:3000' } };
  const page = new TrafficPage({
    ...parts.source,
    ...{ settings: settingsQuery(parts.source), navigator: new Navigator(bar), toasts: parts.toasts, views },
    project: () => makeProject('Demo'),
    projects: () => [makeProject('Demo'), app],
  });
  await settle();
  return {
    ...{ ...parts, page, traffic },
    lists: () => parts.asked('traffic.list'),
    address: () => bar.entries.at(-1),
    recording: () => recording,
  };
}

describe('the Traffic page', () => {
  it('keeps filter and scope in the address, and lists what they select', async () => {
    const { page, address, lists } = await setUp();
    expect(lists()).toEqual([{ projectId: 'prj_demo', limit: 1_000 }]);
    page.setQuery({ filter: 'status:4xx ', scope: 'all' });
    page.follow();
    expect(address()).toBe('/projects/demo/traffic?filter=status%3A4xx&of=all');
    const before = page.log;
    await settle();
    expect(lists().at(-1)).toEqual({ filter: 'status:4xx', limit: 1_000 });
    expect([page.log === before, page.log.query.filter]).toEqual([false, 'status:4xx']);
    expect(page.hrefOf('trf_1')).toBe('/projects/demo/traffic/trf_1?filter=status%3A4xx&of=all');
  });

  it('reports what is wrong with a link’s filter, and lists without it', async () => {
    const { page, lists } = await setUp('/projects/demo/traffic?filter=status:6xx');
    expect(page.fault).toBe('status:6xx is not valid; use 429, 4xx, >=500');
    expect(lists()).toEqual([{ projectId: 'prj_demo', limit: 1_000 }]);
  });

  it('stops the list while it is paused, and while the user reads', async () => {
    const { page, traffic } = await setUp();
    page.pause(true);
    page.read(true);
    traffic.come([makeEntry(3)]);
    await settle();
    page.pause(false);
    expect([page.log.entries.length, page.log.waiting]).toEqual([2, 1]);
    page.read(false);
    expect([page.log.entries.length, page.log.waiting]).toEqual([3, 0]);
  });

  it('shows the entry of a request that was sent again', async () => {
    const { page, address, toasts } = await setUp('/projects/demo/traffic/trf_1');
    await page.replay.start('trf_1');
    expect(address()).toBe('/projects/demo/traffic/trf_3');
    expect(toasts.list[0]?.text).toBe('Sent again: 200.');
  });

  it('shows the last of the entries that the arrow keys pass', async () => {
    const { page, time, address } = await setUp('/projects/demo/traffic/trf_1');
    page.showSoon('trf_2');
    await time.pass(SELECT_DELAY_MS - 1);
    page.showSoon('trf_3');
    await time.pass(SELECT_DELAY_MS);
    expect(address()).toBe('/projects/demo/traffic/trf_3');
  });

  it('omits the place where a request went if that is obvious', async () => {
    const entries = [
      makeEntry(1),
      makeEntry(2, { environment: 'staging', authority: 'demo-staging.vivarium.localhost:8080' }),
      makeEntry(3, { authority: 'shop.acme.test' }),
      makeEntry(4, { authority: null }),
    ];
    const own = await setUp();
    expect(entries.map((entry) => own.page.hostOf(entry))).toEqual(['', 'staging', 'shop.acme.test', '']);
    const all = await setUp('/projects/demo/traffic?of=all');
    expect(entries.map((entry) => all.page.hostOf(entry))).toEqual([
      'demo.vivarium.localhost',
      'demo-staging.vivarium.localhost',
      'shop.acme.test',
      '',
    ]);
  });

  it('remembers the columns of each scope and their order, and can reset them', async () => {
    const views = noViews();
    const { page } = await setUp(undefined, views);
    const { columns } = page;
    const usual = columns.shown;
    for (const id of ['time', 'method', 'caller', 'size'] as const) columns.show(id, false);
    columns.show('host', true);
    expect(columns.shown).toEqual(['status', 'target', 'host', 'took']);
    columns.move('took', 'status');
    columns.move('status', 'host');
    columns.move('size', 'host');
    expect(columns.shown).toEqual(['took', 'target', 'host', 'status']);
    columns.show('caller', true);
    expect(columns.shown).toEqual(['took', 'target', 'host', 'caller', 'status']);
    const again = await setUp('/projects/demo/traffic', views);
    expect(again.page.columns.shown).toEqual(columns.shown);
    again.page.setQuery({ scope: 'all' });
    expect(again.page.columns.shown).toContain('project');
    columns.reset();
    expect(columns.shown).toEqual(usual);
    const read = async (kept: unknown) => {
      views.keep('traffic.columns.project', kept);
      return (await setUp(undefined, views)).page.columns.shown;
    };
    expect(await read(undefined)).toEqual(usual);
    expect(await read({ no: 'list' })).toEqual(usual);
    expect(await read(['took', 'took', 'nothing', 4, 'time'])).toEqual(['took', 'time', 'status', 'target']);
  });

  it('remembers filters by name, replaces and removes them, and refuses invalid ones', async () => {
    const views = noViews();
    const { page } = await setUp(undefined, views);
    expect(page.saved.save('', ' ')).toContain('type one first');
    expect(page.saved.save(' ', 'status:4xx')).toBeUndefined();
    page.saved.save('مرفوض', 'is:refused');
    page.saved.save('a'.repeat(1_000), 'is:replay');
    page.saved.save('مرفوض', 'status:429');
    const { saved } = (await setUp(undefined, views)).page;
    expect(saved.list.map(({ name, filter }) => [name.length, filter])).toEqual([
      [80, 'is:replay'],
      [10, 'status:4xx'],
      [5, 'status:429'],
    ]);
    saved.remove('status:4xx');
    expect((await setUp(undefined, views)).page.saved.list).toHaveLength(2);
    for (let count = 2; count < 50; count++) saved.save(`f${count}`, 'is:failed');
    expect(saved.save('one more', 'is:failed')).toContain('remove one');
    views.keep('traffic.filters', [{ name: 'x', filter: 'nothing:1' }, { name: 1 }, null]);
    expect((await setUp(undefined, views)).page.saved.list).toEqual([]);
  });

  it('sorts by a column of the address, reversed, and newest first again', async () => {
    const { page, traffic, address } = await setUp();
    traffic.come([makeEntry(3, { durationMs: 50 }), makeEntry(4, { durationMs: 1 })]);
    await settle();
    const order = () => page.entries.map(({ id }) => id).join(' ');
    page.sortBy('took');
    expect([address(), order()]).toEqual(['/projects/demo/traffic?sort=-took', 'trf_3 trf_2 trf_1 trf_4']);
    page.sortBy('took');
    expect([address(), order()]).toEqual(['/projects/demo/traffic?sort=took', 'trf_4 trf_2 trf_1 trf_3']);
    page.sortBy('took');
    expect([address(), order()]).toEqual(['/projects/demo/traffic', 'trf_4 trf_3 trf_2 trf_1']);
    page.sortBy('time');
    page.sortBy(undefined);
    expect(address()).toBe('/projects/demo/traffic');
  });

  it('names callers in readable form', async () => {
    const { page } = await setUp();
    const { keyId: _key, ...stranger } = makeEntry(2);
    const entries = [makeEntry(1), makeEntry(1, { keyId: 'key_other' }), stranger];
    expect(entries.map((entry) => page.callerOf(entry))).toEqual(['Demo key', 'key_other', '127.0.0.1']);
    const requestHeaders = [{ name: 'Authorization', value: 'Bearer viv_…' }];
    expect(page.keylessOf({ ...stranger, requestHeaders })).toBe('without a valid key');
    expect(page.keylessOf({ ...stranger, requestHeaders: [] })).toBe('without a key');
    expect(page.keylessOf({ ...stranger, requestHeaders, projectId: 'prj_app' })).toBe('without a key');
    expect(page.readable('status:429 key:key_demo')).toBe('status:429 key:"Demo key"');
  });

  it('opens the requests of an examination that the address names, until another list is chosen', async () => {
    const { page, address } = await setUp('/projects/demo/traffic?of=file&examined=20261128103000000-7.1');
    expect([page.examined, page.scope]).toEqual(['20261128103000000-7.1', 'project']);
    await page.openExamined(page.examined ?? '');
    expect([page.scope, page.opened?.name]).toEqual(['file', 'sunset.har']);
    expect(page.entries).toMatchObject([{ method: 'POST', fault: { entry: 'api.sunset' } }]);
    expect(address()).toBe('/projects/demo/traffic?of=file&examined=20261128103000000-7.1');
    await page.open(new File([''], 'mine.har'));
    expect([page.openFailure, page.opened?.name]).toEqual(['It is empty.', 'sunset.har']);
    page.base = page.entries[0];
    page.closeArchive();
    expect([page.base, address()]).toEqual([undefined, '/projects/demo/traffic']);
    await page.openExamined('20261128103000000-7.2');
    expect([page.openFailure, page.opened]).toEqual(['No requests are kept of run 2.', undefined]);
  });

  it('makes a HAR file of the filtered entries, and deletes all', async () => {
    const { page, calls, said } = await setUp('/projects/demo/traffic/trf_1?filter=method:GET');
    const files: string[][] = [];
    await page.download.start((name, pieces) => files.push([name, pieces.join('')]));
    expect(files).toEqual([['demo-traffic.har', '{"log":{"version":"1.2","entries":[{"n":1},{"n":2},{"n":3}]}}']]);
    expect(calls.slice(-2).map(({ input }) => input)).toEqual([
      { projectId: 'prj_demo', filter: 'method:GET', limit: 250 },
      { projectId: 'prj_demo', filter: 'method:GET', limit: 250, after: 'trf_2' },
    ]);
    await page.forget();
    expect([page.item, said().at(-1)]).toEqual([undefined, 'Cleared 2 entries.']);
  });

  it('turns recording off and on', async () => {
    const { page, said, undo, recording } = await setUp();
    await page.record({ record: false });
    expect([recording(), said().at(-1)]).toEqual([{ record: false, bodies: true }, 'Recording is off.']);
    await undo();
    expect(recording()).toEqual({ record: true, bodies: true });
  });
});
