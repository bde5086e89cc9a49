import { describe, expect, it } from 'vitest';
import { createRequestRates, RATE_PROJECTS_MAX, RATE_SECONDS } from '../../../main/traffic/series.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

const latest = (values: readonly number[], count: number): number[] => values.slice(-count);

describe('requests per second', () => {
  it('are reported for whole seconds, for all projects and for each', async () => {
    const clock = createFakeClock();
    const rates = createRequestRates(clock);
    await clock.pass(10_000);
    rates.count('a', false);
    rates.count('a', true);
    await clock.pass(999);
    rates.count('b', false);
    expect(rates.read()).toMatchObject({ ageMs: 999 });
    expect(latest(rates.read().requests, 1)).toEqual([0]);
    expect([rates.read().running, rates.read('b').running]).toEqual([3, 1]);
    await clock.pass(1_001);
    rates.count('b', true);
    await clock.pass(1_250);
    const all = rates.read();
    expect(all.ageMs).toBe(250);
    expect([latest(all.requests, 4), latest(all.refused, 4)]).toEqual([
      [0, 3, 0, 1],
      [0, 1, 0, 1],
    ]);
    expect(latest(rates.read('a').requests, 4)).toEqual([0, 2, 0, 0]);
    expect(latest(rates.read('b').refused, 4)).toEqual([0, 0, 0, 1]);
  });

  it('cover the last five minutes only', async () => {
    const clock = createFakeClock();
    const rates = createRequestRates(clock);
    rates.count('a', false);
    expect(rates.read().requests).toEqual(Array.from({ length: RATE_SECONDS }, () => 0));
    await clock.pass(RATE_SECONDS * 1_000);
    expect(rates.read('a').requests).toEqual([1, ...Array.from({ length: RATE_SECONDS - 1 }, () => 0)]);
    await clock.pass(1_000);
    expect(rates.read('a').requests.every((count) => count === 0)).toBe(true);
    await clock.pass(RATE_SECONDS * 7_500);
    rates.count('a', false);
    await clock.pass(1_000);
    expect(rates.read('a').requests.reduce((sum, count) => sum + count)).toBe(1);
  });

  it('use real time, whatever the app’s clock shows', async () => {
    const clock = createFakeClock();
    const rates = createRequestRates(clock);
    clock.freeze();
    rates.count('a', false);
    await clock.advance(86_400_000);
    await clock.pass(1_000);
    expect(latest(rates.read().requests, 1)).toEqual([1]);
  });

  it('are kept for a limited number of projects; the one that has been silent longest makes room', async () => {
    const clock = createFakeClock();
    const rates = createRequestRates(clock);
    const sumOf = (projectId: string) => rates.read(projectId).requests.reduce((sum, count) => sum + count);
    for (let project = 0; project < RATE_PROJECTS_MAX; project++) rates.count(`p${project}`, false);
    rates.count('p0', false);
    rates.count('one more', false);
    await clock.pass(1_000);
    expect([sumOf('p0'), sumOf('p1'), sumOf('p2'), sumOf('one more')]).toEqual([2, 0, 1, 1]);
    rates.forget('p0');
    expect(sumOf('p0')).toBe(0);
  });

  it('start from zero for a project that was forgotten', async () => {
    const clock = createFakeClock();
    const rates = createRequestRates(clock);
    rates.count('p', false);
    rates.forget('p');
    rates.count('p', false);
    await clock.pass(1_000);
    expect(latest(rates.read('p').requests, 1)).toEqual([1]);
  });
});
