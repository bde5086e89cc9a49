import { describe, expect, it } from 'vitest';
import { createSeries, percentilesOf, latencyRowOf, SERIES_PROJECTS_MAX, STEPS } from '../../../main/traffic/series.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { exchange } from '../../support/traffic-entries.ts';

const route = (projectId: string) => ({ projectId, environment: 'production', target: { kind: 'api' } }) as const;
const decided = (remaining: number, refused = false, limit = 60) => ({
  refusal: refused ? { code: 'rate_limit_exceeded' as const, retryAfterSeconds: 1, message: '' } : null,
  rate: { limit, remaining, resetAtMs: 0 },
});

describe('the series of traffic', () => {
  it('count answers by class, refusals and quota in whole steps, for all and for each project', async () => {
    const clock = createFakeClock();
    const series = createSeries(clock);
    await clock.pass(60_000);
    series.count(exchange({ route: route('a'), status: 200, decision: decided(45) }));
    series.count(exchange({ route: route('a'), status: 429, decision: decided(0, true) }));
    series.count(exchange({ route: route('b'), status: 502, decision: null }));
    const calls = { ...route('a'), target: { kind: 'provider', provider: 'vercel' } } as const;
    series.count(exchange({ route: calls, status: 404, decision: decided(0, true) }));
    // The current step is in the totals only.
    expect(series.read(2)).toMatchObject({ requests: [0, 0], whole: { requests: 4, refused: 2, failed: 1 } });
    expect(series.read(2, undefined, 1).whole.requests).toBe(0);
    await clock.pass(6_000);
    series.count(exchange({ route: route('a'), status: null, decision: decided(30) }));
    await clock.pass(5_000);
    const all = series.read(3);
    expect([all.stepSeconds, all.ageMs, all.requests, all.refused]).toEqual([5, 1_000, [0, 4, 1], [0, 2, 0]]);
    expect(all.statuses).toEqual({
      none: [0, 0, 1],
      '1xx': [0, 0, 0],
      '2xx': [0, 1, 0],
      '3xx': [0, 0, 0],
      '4xx': [0, 2, 0],
      '5xx': [0, 1, 0],
    });
    expect(all.quotaUsed).toEqual([null, 1, 0.5]);
    expect(all.whole).toMatchObject({ requests: 5, refused: 2, failed: 2 });
    expect(series.read(3, 'a').requests).toEqual([0, 2, 1]);
    expect(series.read(3, 'b').quotaUsed).toEqual([null, null, null]);
    expect(series.read(1, 'x').whole).toEqual({ requests: 0, refused: 0, failed: 0, p50: null, p90: null, p99: null });
    series.count(exchange({ route: route('none'), decision: decided(0, true, 0) }));
    await clock.pass(5_000);
    expect(series.read(1, 'none').quotaUsed).toEqual([1]);
  });

  it('cover the last half hour only', async () => {
    const clock = createFakeClock();
    const series = createSeries(clock);
    await clock.pass(1);
    series.count(exchange());
    await clock.pass(STEPS * 5_000);
    expect(series.read(STEPS).requests[0]).toBe(1);
    await clock.pass(5_000);
    expect(series.read(STEPS).whole.requests).toBe(0);
    series.count(exchange());
    await clock.pass(15_000);
    expect(series.read(1, undefined, 2)).toMatchObject({ ageMs: 10_001, requests: [1], whole: { requests: 1 } });
    expect(series.read(2, undefined, 1).requests).toEqual([1, 0]);
  });

  it('hold no more projects than their limit: the one that has been silent longest is removed', () => {
    const clock = createFakeClock();
    const series = createSeries(clock);
    for (let count = 0; count <= SERIES_PROJECTS_MAX; count++) {
      series.count(exchange({ route: route(`p${count}`) }));
      if (count > 0) series.count(exchange({ route: route('p0') }));
    }
    series.forget('p2');
    void clock.pass(5_000);
    expect([0, 1, 2, 3].map((n) => series.read(1, `p${n}`).whole.requests > 0)).toEqual([true, false, false, true]);
    expect(series.read(1, 'p0').whole.requests).toBe(SERIES_PROJECTS_MAX + 1);
  });

  it('start from zero for a project that was forgotten', async () => {
    const clock = createFakeClock();
    const series = createSeries(clock);
    series.count(exchange({ route: route('p') }));
    series.forget('p');
    series.count(exchange({ route: route('p') }));
    await clock.pass(5_000);
    expect(series.read(1, 'p').whole.requests).toBe(1);
  });

  it('do not count a tunnel’s lifetime as a latency', async () => {
    const clock = createFakeClock();
    const series = createSeries(clock);
    series.count(exchange({ status: 101, durationMs: 90_000 }));
    await clock.pass(5_000);
    expect(series.read(1).latencyMs).toEqual({ p50: [null], p90: [null], p99: [null] });
  });
});

describe('percentiles', () => {
  it.each([
    ['a tenth of a millisecond', 0.05],
    ['a millisecond', 1],
    ['12 ms', 12],
    ['a second', 1_000],
    ['a minute', 60_000],
  ])('of %s differ by a fifth at most', (_name, ms) => {
    const counts = new Uint32Array(41);
    counts[latencyRowOf(ms)] = 1_000;
    const { p50 } = percentilesOf(counts);
    if (ms > 0.1) expect(Math.abs((p50 ?? 0) / ms - 1)).toBeLessThan(0.2);
    else expect(p50).toBeLessThanOrEqual(0.1);
  });

  it('separate slow requests from fast ones', () => {
    const counts = new Uint32Array(41);
    counts[latencyRowOf(2)] = 900;
    counts[latencyRowOf(500)] = 100;
    const { p50, p90, p99 } = percentilesOf(counts);
    expect([p50 !== null && p50 < 3, p90 !== null && p90 < 3, p99 !== null && p99 > 350]).toEqual([true, true, true]);
  });

  it('put what takes longer than a hundred seconds into the last row', () => {
    expect([latencyRowOf(0), latencyRowOf(99_000), latencyRowOf(1e9), latencyRowOf(Number.POSITIVE_INFINITY)]).toEqual([
      0, 40, 40, 40,
    ]);
  });
});
