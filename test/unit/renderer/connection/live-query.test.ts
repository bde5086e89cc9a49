// @vitest-environment ./test/support/page-environment.ts
import { describe, expect, it } from 'vitest';
import type { Change } from '../../../../renderer/connection/connection.svelte.ts';
import { ConnectionLostError } from '../../../../renderer/connection/transport.ts';
import { LiveQuery, READ_GAP_MS_MAX, READ_GAP_MS_MIN } from '../../../../renderer/connection/live-query.svelte.ts';
import { fakeChanges, refusal } from '../../../support/fake-client.ts';
import { createFakeClock, settle } from '../../../support/fake-clock.ts';

const at = '2026-11-20T09:00:00.000Z';
const PETS: Change = { type: 'pets.changed', at };
const KEYS: Change = { type: 'keys.changed', at };

function setUp(options: { following?: boolean; read?: () => Promise<number> } = {}) {
  const time = createFakeClock();
  const changes = { ...fakeChanges(), following: options.following ?? true };
  let reads = 0;
  const query = new LiveQuery({ changes, time }, ['pets.changed'], () => {
    reads += 1;
    return options.read?.() ?? Promise.resolve(reads);
  });
  return { time, query, ...changes, reads: () => reads };
}

describe('a live query', () => {
  it('waits for the connection, then reads', async () => {
    const { query, tell, reads } = setUp({ following: false });
    await settle();
    expect([reads(), query.state]).toEqual([0, 'loading']);
    tell({ type: 'everything' });
    await settle();
    expect([reads(), query.state, query.value]).toEqual([1, 'ready', 1]);
  });

  it('reads at once when connected', async () => {
    const { query } = setUp();
    await settle();
    expect(query.value).toBe(1);
  });

  it('reads again at once after a relevant change, and only then', async () => {
    const { time, query, tell } = setUp();
    await settle();
    await time.pass(READ_GAP_MS_MIN);
    tell(KEYS);
    await settle();
    expect(query.value).toBe(1);
    tell(PETS);
    await settle();
    expect(query.value).toBe(2);
  });

  it('answers a burst of changes with one read, after the gap', async () => {
    const { time, reads, tell } = setUp();
    await settle();
    for (let change = 0; change < 100; change++) tell(PETS);
    await settle();
    expect(reads()).toBe(1);
    await time.pass(READ_GAP_MS_MIN);
    expect(reads()).toBe(2);
    await time.pass(10 * READ_GAP_MS_MIN);
    expect(reads()).toBe(2);
  });

  it('answers a change during a read with one more read', async () => {
    const first = Promise.withResolvers<number>();
    const answers = [first.promise, Promise.resolve(2)];
    const { time, query, reads, tell } = setUp({ read: () => answers.shift() ?? Promise.resolve(3) });
    tell(PETS);
    first.resolve(1);
    await settle();
    expect([reads(), query.value]).toEqual([1, 1]);
    await time.pass(READ_GAP_MS_MIN);
    expect([reads(), query.value]).toEqual([2, 2]);
    await time.pass(READ_GAP_MS_MAX);
    expect(reads()).toBe(2);
  });

  it.each([
    [1_000, 4_000],
    [60_000, READ_GAP_MS_MAX],
  ])('that took %i ms is read again after %i ms at the earliest', async (tookMs, gapMs) => {
    const slow = Promise.withResolvers<number>();
    const { time, reads, tell } = setUp({ read: () => slow.promise });
    await time.pass(tookMs);
    slow.resolve(1);
    await settle();
    tell(PETS);
    await time.pass(gapMs - 100);
    expect(reads()).toBe(1);
    await time.pass(200);
    expect(reads()).toBe(2);
    expect(READ_GAP_MS_MAX).toBe(5_000);
  });

  it('keeps the last good answer during a failure, and drops the failure after the next success', async () => {
    let failing = false;
    const { time, query } = setUp({
      read: () => (failing ? Promise.reject(refusal('not_found', 'There is no such project.')) : Promise.resolve(7)),
    });
    await settle();
    failing = true;
    await time.pass(READ_GAP_MS_MIN);
    query.reread();
    await settle();
    expect([query.state, query.value, query.failure]).toEqual(['ready', 7, 'There is no such project.']);
    failing = false;
    await time.pass(READ_GAP_MS_MIN);
    query.reread();
    await settle();
    expect(query.failure).toBeUndefined();
  });

  it('has failed if its first read failed', async () => {
    const { query } = setUp({ read: () => Promise.reject(refusal('internal_error', 'Broken.')) });
    await settle();
    expect([query.state, query.failure]).toEqual(['failed', 'Broken.']);
  });

  it('does not report a lost connection, which the page already shows', async () => {
    const { query } = setUp({ read: () => Promise.reject(new ConnectionLostError()) });
    await settle();
    expect([query.state, query.failure]).toEqual(['loading', undefined]);
  });

  it('gives followers the current answer and every later one', async () => {
    const { time, query, tell } = setUp();
    await settle();
    const told: number[] = [];
    const unfollow = query.follow((value) => told.push(value));
    await time.pass(READ_GAP_MS_MIN);
    tell(PETS);
    await settle();
    query.amend((value) => value + 10);
    unfollow();
    query.amend(() => 0);
    expect(told).toEqual([1, 2, 12]);
  });

  it('has nothing to amend before its first answer', () => {
    const { query } = setUp({ following: false });
    query.amend(() => 7);
    expect(query.value).toBeUndefined();
  });

  it('ignores answers and changes once closed', async () => {
    const late = Promise.withResolvers<number>();
    const { query, listeners } = setUp({ read: () => late.promise });
    query.close();
    late.resolve(1);
    await settle();
    expect([query.value, listeners.size]).toEqual([undefined, 0]);
  });
});
