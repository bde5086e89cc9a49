import { expect, it } from 'vitest';
import { type Choice, decide } from '../../../main/breaks/rule-index.ts';
import { shareText } from '../../../main/contract/break-words.ts';

const ALL: Choice = { seed: 2, after: 0, nth: 1, rate: 1 };
const numbers = (upTo: number) => Array.from({ length: upTo }, (_, index) => index + 1);

function hits(choice: Partial<Choice>, upTo = 10_000): number[] {
  const struck: number[] = [];
  for (const n of numbers(upTo)) if (decide({ ...ALL, ...choice }, n, struck.length) !== null) struck.push(n);
  return struck;
}

it.each<[Partial<Choice>, string, number[]]>([
  [{}, 'all', [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]],
  [{ nth: 3 }, '1 in 3', [3, 6, 9, 12]],
  [{ first: 2 }, 'the first 2', [1, 2]],
  [{ after: 10 }, 'after the first 10', [11, 12]],
  [{ first: 1, after: 10 }, 'after the first 10, 1 at most', [11]],
  [{ first: 2, nth: 3 }, '1 in 3, 2 at most', [3, 6]],
  [{ after: 4, nth: 3 }, 'after the first 4, 1 in 3', [7, 10]],
  [{ first: 1, after: 4, nth: 3 }, 'after the first 4, 1 in 3, 1 at most', [7]],
  [{ rate: 0.5 }, '50 %', [1, 2, 3, 6, 7, 9, 11]],
  [{ first: 3, rate: 0.5 }, '50 %, 3 at most', [1, 2, 3]],
  [{ after: 2, rate: 0.5 }, 'after the first 2, 50 % of these', [3, 4, 5, 8, 9, 11]],
  [{ first: 2, after: 2, rate: 0.5 }, 'after the first 2, 50 % of these, 2 at most', [3, 4]],
  [{ nth: 2, rate: 0.5 }, '1 in 2, 50 % of these', [2, 6]],
  [{ first: 1, nth: 2, rate: 0.5 }, '1 in 2, 50 % of these, 1 at most', [2]],
  [{ after: 3, nth: 3, rate: 0.5 }, 'after the first 3, 1 in 3, 50 % of these', [6, 9, 12]],
  [{ first: 2, after: 3, nth: 3, rate: 0.5 }, 'after the first 3, 1 in 3, 50 % of these, 2 at most', [6, 9]],
])('of 12 requests, %j is “%s”: %j', (choice, words, struck) => {
  expect([shareText({ ...ALL, ...choice }), hits(choice, 12)]).toEqual([words, struck]);
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
    const draws = numbers(20_000).flatMap((n) => decide({ ...ALL, seed: 5, rate }, from + n, 0) ?? []);
    const tenths = Array.from({ length: 10 }, (_, tenth) => draws.filter((draw) => Math.floor(draw * 10) === tenth));
    for (const each of tenths) expect(each.length / draws.length).toBeCloseTo(0.1, 1);
  }
});
