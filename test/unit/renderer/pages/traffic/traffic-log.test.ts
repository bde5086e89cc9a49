// @vitest-environment ./test/support/page-environment.ts
import { describe, expect, it } from 'vitest';
import type { TrafficEntry } from '../../../../../main/contract/traffic.ts';
import {
  ENTRIES_MAX,
  QUIET_MS,
  RUNNING_MS,
  TrafficLog,
} from '../../../../../renderer/pages/traffic/traffic-log.svelte.ts';
import { settle } from '../../../../support/fake-clock.ts';
import { fakeTraffic, makeEntry } from '../../../../support/page/page-traffic.ts';
import { pageParts } from '../../../../support/page/page-parts.ts';

const newestFirst = (count: number, from = 1): TrafficEntry[] =>
  Array.from({ length: count }, (_, index) => makeEntry(from + count - 1 - index));

async function setUp(kept: readonly TrafficEntry[] = newestFirst(3)) {
  const traffic = fakeTraffic(kept);
  const parts = pageParts(traffic.answers);
  const log = new TrafficLog({ ...parts.source, projectId: 'prj_demo', filter: 'status:4xx' });
  await settle();
  const come = async (...entries: number[]) => {
    traffic.come(entries.map((number) => makeEntry(number)));
    await settle();
  };
  return { ...parts, log, traffic, numbers: () => log.entries.map(({ id }) => Number(id.slice(4))), come };
}

describe('the list of traffic', () => {
  it('has the engine’s entries, newest first, and new ones', async () => {
    const { log, numbers, come, asked } = await setUp();
    expect([log.state, numbers()]).toEqual(['ready', [3, 2, 1]]);
    await come(4, 5);
    expect(numbers()).toEqual([5, 4, 3, 2, 1]);
    expect(asked('traffic.list')).toContainEqual({ projectId: 'prj_demo', filter: 'status:4xx', limit: 1_000 });
  });

  it('reads a long list in parts, and keeps as many entries as the engine does', async () => {
    const { log, time, numbers, come } = await setUp(newestFirst(ENTRIES_MAX));
    expect(log.entries).toHaveLength(1_000);
    await time.pass(5_000);
    expect(log.entries).toHaveLength(ENTRIES_MAX);
    await come(ENTRIES_MAX + 1);
    expect([numbers()[0], numbers().at(-1)]).toEqual([ENTRIES_MAX + 1, 2]);
  });

  it('shows nothing twice that was both listed and announced', async () => {
    const { traffic, numbers } = await setUp();
    traffic.tell({ entries: [2, 3, 4].map((number) => makeEntry(number)), missed: 0, dropped: 0, cleared: false });
    await settle();
    expect(numbers()).toEqual([4, 3, 2, 1]);
  });

  describe('the list with running requests', () => {
    const at = (second: number) => ({ realAt: `2026-11-20T09:00:0${second}.000Z` });
    const runs = (second: number, rest: Partial<TrafficEntry> = {}) =>
      makeEntry(0, { id: 'trf_a_r1', status: null, running: true, ...at(second), ...rest });

    it('has a row from the start of a request, which stays in its place to the end', async () => {
      const { log, time, traffic } = await setUp([makeEntry(1, at(1))]);
      const shown = () => log.entries.map(({ id, status, running }) => [id, status, running === true]);
      traffic.running.push(runs(3));
      await time.pass(RUNNING_MS);
      expect(shown()).toEqual([
        ['trf_a_r1', null, true],
        ['trf_1', 200, false],
      ]);
      log.hold(true);
      traffic.running.splice(0, 1, runs(3, { status: 200 }));
      await time.pass(RUNNING_MS);
      expect(shown()[0]).toEqual(['trf_a_r1', 200, true]);
      traffic.running.pop();
      await time.pass(RUNNING_MS);
      expect(shown()).toHaveLength(2);
      traffic.come([makeEntry(5, at(5)), makeEntry(0, { id: 'trf_a_r1', ...at(3) })]);
      await settle();
      expect(shown()[0]).toEqual(['trf_a_r1', 200, false]);
      expect(log.waiting).toBe(1);
      log.hold(false);
      expect(shown().map(([id]) => id)).toEqual(['trf_5', 'trf_a_r1', 'trf_1']);
    });

    it('sorts late entries by their start, and removes what no longer matches the filter', async () => {
      const { log, time, traffic } = await setUp([makeEntry(1, at(1))]);
      traffic.come([makeEntry(2, at(4)), makeEntry(3, at(2))]);
      await settle();
      expect(log.entries.map(({ id }) => id)).toEqual(['trf_2', 'trf_3', 'trf_1']);
      traffic.running.push(runs(5));
      await time.pass(RUNNING_MS);
      traffic.running.pop();
      await time.pass(2 * RUNNING_MS);
      expect(log.entries.map(({ id }) => id)).toEqual(['trf_2', 'trf_3', 'trf_1']);
      log.hold(true);
      traffic.come([makeEntry(6, at(6))]);
      traffic.running.push(runs(7));
      await time.pass(RUNNING_MS);
      expect(log.waiting).toBe(2);
      traffic.running.pop();
      await time.pass(2 * RUNNING_MS);
      log.hold(false);
      expect(log.entries.map(({ id }) => id)).toEqual(['trf_6', 'trf_2', 'trf_3', 'trf_1']);
    });
  });

  it('tells how many entries the engine has dropped', async () => {
    const { log, traffic } = await setUp();
    expect(log.dropped).toBe(0);
    traffic.come([makeEntry(4)], { dropped: 7 });
    await settle();
    expect(log.dropped).toBe(7);
  });

  it('shows what the user sent again, paused or not', async () => {
    const { log, numbers, come } = await setUp();
    log.hold(true);
    log.reveal('trf_5');
    await come(4);
    expect(numbers()).toEqual([3, 2, 1]);
    await come(5);
    expect(numbers()).toEqual([5, 4, 3, 2, 1]);
    await come(6);
    expect(numbers()[0]).toBe(5);
  });

  it('lets new entries wait while it is paused', async () => {
    const { log, numbers, come } = await setUp();
    log.hold(true);
    await come(4);
    await come(5);
    expect([numbers(), log.waiting]).toEqual([[3, 2, 1], 2]);
    log.take();
    expect([numbers(), log.waiting]).toEqual([[5, 4, 3, 2, 1], 0]);
    await come(6);
    expect([numbers()[0], log.waiting]).toEqual([5, 1]);
    log.hold(false);
    expect([numbers()[0], log.waiting]).toEqual([6, 0]);
  });

  it('reads again what arrived too fast, after a moment of quiet', async () => {
    const { log, time, traffic, numbers } = await setUp();
    traffic.all.unshift(makeEntry(6), makeEntry(5), makeEntry(4));
    traffic.tell({ entries: [makeEntry(6)], missed: 2, dropped: 0, cleared: false });
    await settle();
    expect([log.missed, numbers()]).toEqual([2, [6, 3, 2, 1]]);
    await time.pass(QUIET_MS);
    expect([log.missed, numbers()]).toEqual([0, [6, 5, 4, 3, 2, 1]]);
  });

  it('does not load more while the user reads, and does so afterwards', async () => {
    const { log, time, traffic, numbers } = await setUp();
    log.hold(true);
    traffic.all.unshift(makeEntry(5), makeEntry(4));
    traffic.tell({ entries: [makeEntry(5)], missed: 1, dropped: 0, cleared: false });
    await settle();
    await time.pass(QUIET_MS * 3);
    expect(numbers()).toEqual([3, 2, 1]);
    log.hold(false);
    await time.pass(QUIET_MS);
    expect(numbers()).toEqual([5, 4, 3, 2, 1]);
  });

  it('is empty when all entries were deleted, from any place', async () => {
    const { log, traffic, numbers, come } = await setUp();
    log.hold(true);
    await come(4);
    traffic.tell({ entries: [], missed: 0, dropped: 0, cleared: true });
    await settle();
    expect([numbers(), log.waiting]).toEqual([[], 0]);
  });

  it('is read again after a lost connection, and when the stream ends', async () => {
    const { time, changes, traffic, numbers } = await setUp();
    traffic.all.unshift(makeEntry(4));
    changes.tell({ type: 'everything' });
    await settle();
    expect(numbers()).toEqual([4, 3, 2, 1]);
    traffic.all.unshift(makeEntry(5));
    traffic.end();
    await settle();
    await time.pass(5_000);
    expect(numbers()).toEqual([5, 4, 3, 2, 1]);
  });

  it('shows why it could not be read, and tries again', async () => {
    const { answers } = fakeTraffic([makeEntry(1)]);
    const parts = pageParts({ ...answers, 'traffic.list': () => Promise.reject(new Error('no memory')) });
    const log = new TrafficLog({ ...parts.source, projectId: undefined, filter: '' });
    await settle();
    expect([log.state, log.failure]).toEqual(['failed', 'The answer could not be read: no memory']);
    Object.assign(parts.answers, answers);
    await parts.time.pass(5_000);
    expect([log.state, log.failure, log.entries.length]).toEqual(['ready', undefined, 1]);
  });
});
