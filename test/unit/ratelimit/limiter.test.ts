import { describe, expect, it } from 'vitest';
import type { Caller, LimitRow } from '../../../main/model/rate-decision.ts';
import { createLimiter, type LimitStorage } from '../../../main/ratelimit/limiter.ts';
import { PLANS } from '../../../main/contract/plans.ts';
import { createFakeClock, type FakeClock } from '../../support/fake-clock.ts';

const FREE = PLANS.free.limits;
const key = (keyId: string, projectId = 'p'): Caller => ({ kind: 'key', keyId, projectId });
const address = (ip: string): Caller => ({ kind: 'address', address: ip, projectId: 'p' });

/** Rows in memory, with a count of writes and a switch that makes them fail. */
function createRows() {
  const rows = new Map<string, LimitRow>();
  const storage: LimitStorage & { rows: typeof rows; saves: number; failing: boolean } = {
    rows,
    saves: 0,
    failing: false,
    load: () => [...rows.values()],
    save(changed) {
      if (storage.failing) throw new Error('disk full');
      storage.saves++;
      for (const row of changed) rows.set(`${row.projectId} ${row.caller}`, { ...row });
    },
    remove(callers) {
      if (storage.failing) throw new Error('disk full');
      for (const { projectId, caller } of callers) rows.delete(`${projectId} ${caller}`);
    },
  };
  return storage;
}

function create(
  options: {
    clock?: FakeClock;
    rows?: ReturnType<typeof createRows>;
    callersMax?: number;
    onError?: (error: unknown) => void;
  } = {},
) {
  const { clock = createFakeClock(), rows = createRows(), ...more } = options;
  const bans: Caller[] = [];
  const limiter = createLimiter({
    ...{ clock, storage: rows, ...more },
    banRule: () => ({ afterRefusals: 20, durationMs: 600_000 }),
    onBan: (caller) => bans.push(caller),
  });
  /** The callers of the project, latest first: each with its requests in this minute and this day. */
  const usage = () => limiter.usage('p').map(({ caller, state }) => `${caller} ${state.minute.used} ${state.day.used}`);
  const callers = () => limiter.usage('p').map(({ caller }) => caller);
  /** Takes a request of a key; returns the code of its refusal. */
  const codeOf = (keyId: string) => limiter.take(key(keyId), FREE).refusal?.code;
  return { clock, rows, limiter, bans, usage, callers, codeOf };
}

const takeMany = (limiter: ReturnType<typeof create>['limiter'], caller: Caller, times: number) => {
  for (let request = 0; request < times; request++) limiter.take(caller, FREE);
};

describe('a clock that is set back and forth again', () => {
  const HOUR_MS = 3_600_000;
  const setBack = async () => {
    const made = create();
    const { clock, limiter } = made;
    await clock.advance(HOUR_MS);
    takeMany(limiter, key('a'), 62);
    await clock.set(clock.now() - HOUR_MS);
    return made;
  };

  it.each([0, 1, 5])('finds a used-up limit as it was, after %i requests in between', async (requests) => {
    const { clock, limiter } = await setBack();
    for (let count = 1; count <= requests; count++)
      expect(limiter.take(key('a'), FREE)).toMatchObject({ refusal: null, rate: { remaining: 60 - count } });
    // Further back and part of the way forth, the limit is not reached yet.
    await clock.set(clock.now() - HOUR_MS);
    expect(limiter.take(key('a'), FREE).refusal).toBeNull();
    await clock.advance(HOUR_MS);
    expect(limiter.peek(key('a'), FREE).rate.remaining).toBe(60);
    await clock.advance(HOUR_MS);
    expect(limiter.peek(key('a'), FREE).rate.remaining).toBe(0);
    expect(limiter.usage('p')).toMatchObject([{ state: { minute: { used: 60 }, day: { used: 60 }, strikes: 2 } }]);
    expect(limiter.take(key('a'), FREE)).toMatchObject({ refusal: { window: 'minute' }, rate: { remaining: 0 } });
    await clock.advance(60_000);
    expect(limiter.take(key('a'), FREE).refusal).toBeNull();
    expect(limiter.usage('p')).toMatchObject([{ state: { minute: { used: 1 }, day: { used: 61 } } }]);
  });

  it('keeps a ban that began on the way', async () => {
    const { clock, limiter, bans, codeOf } = await setBack();
    await clock.advance(HOUR_MS - 60_000);
    takeMany(limiter, key('a'), 80);
    expect(bans).toHaveLength(1);
    await clock.advance(60_000);
    expect(codeOf('a')).toBe('api_key_banned');
    expect(limiter.unban('p', 'a')).toBe(true);
    expect(codeOf('a')).toBe('rate_limit_exceeded');
  });

  it('does not find it again after a reset', async () => {
    const { clock, limiter } = await setBack();
    takeMany(limiter, key('a'), 1);
    limiter.reset('p');
    await clock.advance(HOUR_MS);
    expect(limiter.take(key('a'), FREE)).toMatchObject({ refusal: null, rate: { remaining: 59 } });
  });
});

describe('callers', () => {
  it('are counted separately: keys, addresses, projects', () => {
    const { limiter, codeOf } = create();
    takeMany(limiter, key('a'), 60);
    expect(codeOf('a')).toBe('rate_limit_exceeded');
    for (const other of [key('b'), key('a', 'q'), address('127.0.0.1'), address('::1')]) {
      expect(limiter.take(other, FREE)).toMatchObject({ refusal: null, rate: { remaining: 59 } });
    }
  });

  it('with an address are limited and never banned', () => {
    const { limiter, bans } = create();
    takeMany(limiter, address('::1'), 1_000);
    expect(limiter.take(address('::1'), FREE).refusal?.code).toBe('rate_limit_exceeded');
    expect(bans).toEqual([]);
  });

  it('are counted across all projects: open windows, and active bans', async () => {
    const { clock, limiter } = create();
    limiter.take(address('::1'), FREE);
    limiter.take(key('a', 'q'), FREE);
    takeMany(limiter, key('banned'), 80);
    expect(limiter.totals()).toEqual({ minutes: 3, days: 3, bans: 1 });
    await clock.advance(60_000);
    expect(limiter.totals()).toEqual({ minutes: 0, days: 3, bans: 1 });
    await clock.advance(86_400_000);
    expect(limiter.totals()).toEqual({ minutes: 0, days: 0, bans: 0 });
  });

  it('that are unknown are not remembered by a peek', () => {
    const { limiter } = create();
    expect(limiter.peek(key('a'), FREE).rate.remaining).toBe(60);
    expect(limiter.usage('p')).toEqual([]);
  });

  it.each([
    [
      'displace the longest silent one, and a banned one last',
      3,
      ['banned!', 'old', 'young', 'new'],
      'new young banned',
    ],
    ['that call again are not the longest silent ones', 2, ['first', 'second', 'first', 'third'], 'third first'],
    ['are forgotten even when all are banned', 2, ['a!', 'b!', 'c!'], 'c b'],
  ])('beyond the limit %s', (_what, callersMax, calls, kept) => {
    const { limiter, callers } = create({ callersMax });
    for (const call of calls) takeMany(limiter, key(call.replace('!', '')), call.endsWith('!') ? 80 : 1);
    expect(callers()).toEqual(kept.split(' ').map((name) => `key:${name}`));
  });
});

describe('usage, reset and unban', () => {
  it('usage shows the current counts, latest caller first', async () => {
    const { limiter, clock, usage } = create();
    takeMany(limiter, key('a'), 3);
    takeMany(limiter, address('::1'), 1);
    expect(usage()).toEqual(['address:::1 1 1', 'key:a 3 3']);
    await clock.advance(60_000);
    expect(usage()).toEqual(['address:::1 0 1', 'key:a 0 3']);
    await clock.advance(86_400_000);
    expect(usage()).toEqual([]);
  });

  it('reset clears the counters of one caller or of all; a ban stays', () => {
    const { limiter, callers, codeOf } = create();
    takeMany(limiter, key('a'), 5);
    takeMany(limiter, key('b'), 80);
    limiter.reset('p', 'key:a');
    expect(callers()).toEqual(['key:b']);
    limiter.reset('p');
    expect(limiter.usage('p')).toMatchObject([{ caller: 'key:b', state: { minute: { used: 0 }, strikes: 0 } }]);
    expect(codeOf('b')).toBe('api_key_banned');
  });

  it('shows a key’s last request, refused or not, even after a reset', async () => {
    const { limiter, rows, clock, codeOf } = create();
    expect(limiter.lastRequestOf('p', 'a')).toBeNull();
    takeMany(limiter, key('a'), 60);
    await clock.advance(5_000);
    const refusedAtMs = clock.now();
    expect(codeOf('a')).toBeDefined();
    await clock.advance(2 * 86_400_000);
    limiter.peek(key('a'), FREE);
    limiter.reset('p');
    expect(limiter.lastRequestOf('p', 'a')).toBe(refusedAtMs);
    expect(limiter.lastRequestOf('q', 'a')).toBeNull();
    limiter.stop();
    expect(create({ rows, clock }).limiter.lastRequestOf('p', 'a')).toBe(refusedAtMs);
  });

  it('unban lifts a ban and its strikes, and tells whether there was one', () => {
    const { limiter, bans, codeOf } = create();
    takeMany(limiter, key('a'), 80);
    expect(bans).toEqual([key('a')]);
    expect(['a', 'a', 'unknown'].map((keyId) => limiter.unban('p', keyId))).toEqual([true, false, false]);
    expect(codeOf('a')).toBe('rate_limit_exceeded');
    takeMany(limiter, key('a'), 18);
    expect(bans).toHaveLength(1);
  });

  it('forget removes a project’s callers from memory and storage', () => {
    const { limiter, rows } = create();
    takeMany(limiter, key('a'), 1);
    limiter.take(key('b'), FREE);
    limiter.take(key('a', 'q'), FREE);
    limiter.flush();
    limiter.forget('p', 'key:b');
    expect(limiter.usage('p')).toMatchObject([{ caller: 'key:a' }]);
    limiter.forget('p');
    expect(limiter.usage('p')).toEqual([]);
    expect([...rows.rows.keys()]).toEqual(['q key:a']);
  });

  it('a forgotten caller that returns starts from zero', () => {
    const { limiter, rows, usage } = create();
    takeMany(limiter, key('a'), 3);
    limiter.forget('p');
    takeMany(limiter, key('a'), 1);
    limiter.flush();
    expect([usage(), [...rows.rows.keys()]]).toEqual([['key:a 1 1'], ['p key:a']]);
  });
});

describe('storage', () => {
  it('restores counters and bans after a restart', async () => {
    const { limiter, rows, clock } = create();
    takeMany(limiter, key('a'), 10);
    takeMany(limiter, key('b'), 80);
    limiter.stop();
    const again = create({ rows, clock });
    expect(again.limiter.take(key('a'), FREE).rate.remaining).toBe(49);
    expect(again.codeOf('b')).toBe('api_key_banned');
  });

  it('receives a ban at once, and counters within a second', async () => {
    const { limiter, rows, clock } = create();
    takeMany(limiter, key('a'), 10);
    expect(rows.rows.size).toBe(0);
    await clock.pass(1_000);
    expect(rows.rows.get('p key:a')?.minuteUsed).toBe(10);
    takeMany(limiter, key('b'), 80);
    expect(rows.rows.get('p key:b')?.bannedUntilMs).not.toBeNull();
  });

  it('receives a reset and a lifted ban at once', () => {
    const { limiter, rows } = create();
    takeMany(limiter, key('a'), 80);
    limiter.reset('p');
    expect(rows.rows.get('p key:a')).toMatchObject({ minuteUsed: 0, strikes: 0 });
    limiter.unban('p', 'a');
    expect(rows.rows.get('p key:a')?.bannedUntilMs).toBeNull();
  });

  it('receives changes after a write too', async () => {
    const { limiter, rows, clock } = create();
    limiter.take(key('a'), FREE);
    await clock.pass(1_000);
    limiter.take(key('a'), FREE);
    await clock.pass(1_000);
    expect(rows.rows.get('p key:a')?.minuteUsed).toBe(2);
  });

  it('loads no more callers than the limit, and drops the rest', () => {
    const { limiter, rows } = create();
    for (const name of ['a', 'b', 'c']) limiter.take(key(name), FREE);
    limiter.stop();
    const again = create({ rows, callersMax: 2 });
    expect(again.limiter.usage('p')).toHaveLength(2);
    again.limiter.stop();
    expect(rows.rows.size).toBe(2);
  });

  it('is not written while nothing changes', async () => {
    const { limiter, rows, clock } = create();
    limiter.take(key('a'), FREE);
    await clock.pass(10_000);
    expect(rows.saves).toBe(1);
  });

  it('drops an evicted caller, and receives one that returns', async () => {
    const { limiter, rows, clock } = create({ callersMax: 1 });
    limiter.take(key('a'), FREE);
    await clock.pass(1_000);
    limiter.take(key('b'), FREE);
    limiter.take(key('a'), FREE);
    await clock.pass(1_000);
    expect([...rows.rows.keys()]).toEqual(['p key:a']);
    await clock.pass(1_000);
    expect([...rows.rows.keys()]).toEqual(['p key:a']);
  });

  it('receives a failed write later, and the failure is reported', async () => {
    const errors: unknown[] = [];
    const { limiter, rows, clock } = create({ onError: (error) => errors.push(error) });
    rows.failing = true;
    limiter.take(key('a'), FREE);
    await clock.pass(1_000);
    expect(errors).toEqual([new Error('disk full')]);
    rows.failing = false;
    await clock.pass(1_000);
    expect(rows.rows.has('p key:a')).toBe(true);
  });
});

describe('the header fields of a decision', () => {
  const fieldsOf = (fields: readonly string[] | undefined) =>
    Object.fromEntries((fields ?? []).flatMap((name, index, all) => (index % 2 === 0 ? [[name, all[index + 1]]] : [])));

  it('are only those of the specification while the clock is not moved', () => {
    const { limiter } = create();
    expect(limiter.take(key('k'), FREE).rate.fields).toBeUndefined();
  });

  it.each([
    ['ahead', 30 * 86_400_000 + 500],
    ['back', -400_000],
  ])('show X-RateLimit-Reset by the real clock when the clock is set %s', async (_how, byMs) => {
    const clock = createFakeClock();
    const { limiter } = create({ clock });
    await clock.set(clock.now() + byMs);
    await clock.pass(600);
    takeMany(limiter, key('k'), 60);
    await clock.pass(10_000);
    const { refusal, rate } = limiter.take(key('k'), FREE);
    expect(refusal?.retryAfterSeconds).toBe(50);
    const reset = Math.ceil((clock.state().realNow + 50_000) / 1_000);
    expect(Number(fieldsOf(rate.fields)['X-RateLimit-Reset'])).toBe(reset);
    // Traffic shows the app’s time.
    expect(rate.resetAtMs).toBe(clock.now() + 50_000);
  });

  it.each([
    ['beyond the minute', 600_000, '"minute";r=0;t=600, "day";r=0;t=600'],
    ['within the minute', 10_000, '"minute";r=0;t=40, "day";r=0;t=10'],
  ])(
    'include those of the draft on request, for both windows, and with a ban %s',
    async (_until, durationMs, during) => {
      const clock = createFakeClock();
      const limiter = createLimiter({
        clock,
        storage: createRows(),
        banRule: () => ({ afterRefusals: 1, durationMs }),
        withDraftFields: () => true,
      });
      const policy = '"minute";q=60;w=60, "day";q=1000;w=86400';
      expect(fieldsOf(limiter.peek(key('k'), FREE).rate.fields)).toEqual({
        'X-RateLimit-Limit': '60',
        'X-RateLimit-Remaining': '60',
        'X-RateLimit-Reset': String(clock.now() / 1_000 + 60),
        'RateLimit-Policy': policy,
        RateLimit: '"minute";r=60;t=60, "day";r=1000;t=86400',
      });
      takeMany(limiter, key('k'), 60);
      await clock.pass(20_500);
      expect(limiter.take(key('k'), FREE).refusal?.code).toBe('rate_limit_exceeded');
      const banned = limiter.take(key('k'), FREE);
      expect(banned.refusal?.code).toBe('api_key_banned');
      expect(fieldsOf(banned.rate.fields)['RateLimit']).toBe(during);
    },
  );
});
