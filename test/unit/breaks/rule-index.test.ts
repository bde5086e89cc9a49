import { expect, it } from 'vitest';
import { decide } from '../../../main/breaks/rule-index.ts';

const numbers = (upTo: number) => Array.from({ length: upTo }, (_, index) => index + 1);
const hits = (choice: { seed: number; nth?: number; rate?: number }, upTo = 10_000) =>
  numbers(upTo).filter((n) => decide({ nth: 1, rate: 1, ...choice }, n) !== null);

it('hits every request, or every n-th', () => {
  expect(hits({ seed: 1 }, 4)).toEqual([1, 2, 3, 4]);
  expect(hits({ seed: 1, nth: 3 }, 10)).toEqual([3, 6, 9]);
});

it.each([0.01, 0.1, 0.5, 0.99])('hits a share of %f, determined by the seed', (rate) => {
  const shares = [0, 1, 2, 4_294_967_295].map((seed) => hits({ seed, rate }).length / 10_000);
  for (const share of shares) expect(Math.abs(share - rate)).toBeLessThan(0.015);
  expect(hits({ seed: 7, rate })).toEqual(hits({ seed: 7, rate }));
  expect(hits({ seed: 7, rate })).not.toEqual(hits({ seed: 8, rate }));
});

it('hits a share of every n-th request', () => {
  const some = hits({ seed: 3, nth: 10, rate: 0.5 });
  expect(some.every((n) => n % 10 === 0)).toBe(true);
  expect(Math.abs(some.length / 1_000 - 0.5)).toBeLessThan(0.05);
});

it('draws evenly spread numbers from 0 up to 1, even if only a share is struck, and after 2^32 requests', () => {
  for (const [rate, from] of [
    [1, 0],
    [0.1, 0],
    [1, 2 ** 32],
  ] as const) {
    const draws = numbers(20_000).flatMap((n) => decide({ seed: 5, nth: 1, rate }, from + n) ?? []);
    const tenths = Array.from({ length: 10 }, (_, tenth) => draws.filter((draw) => Math.floor(draw * 10) === tenth));
    for (const each of tenths) expect(each.length / draws.length).toBeCloseTo(0.1, 1);
  }
});
