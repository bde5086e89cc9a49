import { expect, it } from 'vitest';
import { type Counted, decideAgain } from '../../../main/manners/report.ts';
import { createLimiter } from '../../../main/ratelimit/limiter.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { sequence } from '../../support/sequence.ts';

const BAN = { afterRefusals: 5, durationMs: 90_000 };
const STORAGE = { load: () => [], save: () => undefined, remove: () => undefined };

it('decides what the limiter decided: 0 of 10,000 differ', async () => {
  const clock = createFakeClock();
  const limiter = createLimiter({ clock, storage: STORAGE, banRule: () => BAN });
  const below = sequence(7);
  const requests: Counted[] = [];
  const refused: boolean[] = [];
  for (let number = 0; number < 10_000; number++) {
    if (below(25) === 0) await clock.advance(below(70_000));
    const key = below(4);
    const limits = { perMinute: 12, perDay: 700 };
    const caller =
      key === 0
        ? ({ kind: 'address', address: '127.0.0.1', projectId: 'prj_a' } as const)
        : ({ kind: 'key', keyId: `key_${key}`, projectId: 'prj_a' } as const);
    refused.push(limiter.take(caller, limits).refusal !== null);
    requests.push({ caller: `${key}`, atMs: clock.now(), limits, ban: key === 0 ? null : BAN });
  }
  limiter.stop();
  const again = decideAgain(requests);
  expect(again.refused.filter((each, index) => each !== refused[index])).toEqual([]);
  expect(refused.filter(Boolean).length).toBeGreaterThan(1_000);
  expect(again.bans).toBeGreaterThan(3);
});

it('says who is refused first, and when the first ban begins', () => {
  const limits = { perMinute: 2, perDay: 100 };
  const at = (caller: string, seconds: number): Counted => ({
    caller,
    atMs: seconds * 1_000,
    limits,
    ban: caller === 'address' ? null : BAN,
  });
  const hammering = (from: number) => Array.from({ length: 9 }, (_, index) => at('key', from + index));
  const patient = [9, 10, 11].map((seconds) => at('address', seconds));
  const { callers, bans } = decideAgain([...hammering(0), ...patient, ...hammering(100)]);
  expect(bans).toBe(2);
  expect([...callers]).toEqual([
    ['key', { requests: 18, refused: 14, firstRefusedAtMs: 2_000, bannedAtMs: 6_000 }],
    ['address', { requests: 3, refused: 1, firstRefusedAtMs: 11_000, bannedAtMs: null }],
  ]);
});
