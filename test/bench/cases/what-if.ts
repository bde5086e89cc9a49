import { decideAgain } from '../../../main/manners/what-if.ts';
import { type Figure, median, ROUNDS } from '../harness.ts';

const DAY_MS = 86_400_000;

/** A day of a million requests by ten keys, decided again in this process under limits that refuse most. */
export function whatIf(): Promise<Figure[]> {
  const limits = { perMinute: 20, perDay: 1_000 };
  const ban = { afterRefusals: 20, durationMs: 600_000 };
  const requests = Array.from({ length: 1_000_000 }, (_, index) => ({
    caller: `key_${index % 10}`,
    atMs: (index * DAY_MS) / 1_000_000,
    limits,
    ban,
  }));
  const times = Array.from({ length: ROUNDS }, () => {
    const startedMs = performance.now();
    decideAgain(requests);
    return performance.now() - startedMs;
  });
  const ms = median(times);
  return Promise.resolve([
    {
      what: 'a day of 1,000,000 requests decided again (`manners what-if`)',
      measured: `${Math.round(ms)} ms`,
      wanted: '≤ 1,500 ms',
      met: ms <= 1_500,
      detail: `rounds from ${Math.round(Math.min(...times))} to ${Math.round(Math.max(...times))} ms`,
    },
  ]);
}
