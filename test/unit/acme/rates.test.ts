import { describe, expect, test } from 'vitest';
import { decide } from '../../../main/acme/rates.ts';

const RATE = { count: 5, periodMs: 1_000 };

describe('a rate', () => {
  test('allows its maximum at once, and then one at a time', () => {
    let used: number | null = null;
    const left: number[] = [];
    for (let count = 0; count < 5; count++) {
      const decision = decide(RATE, used, 0);
      expect(decision.waitMs).toBe(0);
      left.push(decision.left);
      used = decision.next;
    }
    expect(left).toEqual([4, 3, 2, 1, 0]);
    expect(decide(RATE, used, 0)).toMatchObject({ waitMs: 200, left: 0 });
    expect(decide(RATE, used, 199).waitMs).toBe(1);
    expect(decide(RATE, used, 200).waitMs).toBe(0);
  });

  test('is full again after its period, and holds no more than its maximum', () => {
    expect(decide(RATE, 1_000, 1_000)).toEqual({ next: 1_200, waitMs: 0, left: 4 });
    expect(decide(RATE, 1_000, 99_000)).toEqual({ next: 99_200, waitMs: 0, left: 4 });
  });
});
