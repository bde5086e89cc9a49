import { describe, expect, it } from 'vitest';
import {
  type BanRule,
  type CallerState,
  decide,
  NEW_CALLER,
  peek,
  type RateLimits,
  settle,
} from '../../../main/model/rate-decision.ts';
import { DAY_MS, MINUTE_MS } from '../../../main/contract/duration.ts';
import { PLANS } from '../../../main/contract/plans.ts';

/** A whole second, so that resets are whole seconds too, unless a test changes it. */
const NOW = Date.UTC(2026, 10, 20, 9, 0, 0);
const BAN: BanRule = { afterRefusals: 20, durationMs: 600_000 };
const FREE = PLANS.free.limits;

/** Takes `times` requests at `atMs`; returns the last decision and the state after it. */
function take(limits: RateLimits, state: CallerState, times: number, atMs = NOW, ban: BanRule | null = BAN) {
  let outcome = decide(limits, state, ban, atMs);
  for (let request = 1; request < times; request++) outcome = decide(limits, outcome.state, ban, atMs);
  return outcome;
}
/** The same for a new caller: the state after its first requests. */
const after = (limits: RateLimits, times: number, atMs = NOW) => take(limits, NEW_CALLER, times, atMs).state;
const FULL = after(FREE, 60);
const rate = (limit: number, remaining: number, resetAtMs = NOW + MINUTE_MS) => ({ limit, remaining, resetAtMs });

describe('the plans', () => {
  it.each([
    ['free', 60, 1_000],
    ['pro', 300, 10_000],
    ['business', 1_000, 100_000],
  ] as const)('%s: %i a minute, %i a day', (plan, perMinute, perDay) => {
    expect(PLANS[plan].limits).toEqual({ perMinute, perDay });
  });

  it.each(['free', 'pro', 'business'] as const)(
    '%s passes exactly its number of requests in a minute, and refuses the next',
    (plan) => {
      const limits = PLANS[plan].limits;
      const last = take(limits, NEW_CALLER, limits.perMinute);
      expect(last.decision).toEqual({ refusal: null, rate: rate(limits.perMinute, 0) });
      const refusal = { code: 'rate_limit_exceeded', window: 'minute', retryAfterSeconds: 60 };
      expect(take(limits, last.state, 1).decision.refusal).toMatchObject(refusal);
    },
  );
});

describe('the minute window', () => {
  it.each([
    ['at its first moment', 0, 59],
    ['one millisecond before its end', MINUTE_MS - 1, 58],
    ['at its end a new one begins', MINUTE_MS, 59],
    ['long after', 10 * MINUTE_MS, 59],
  ])('%s', (_when, laterMs, remaining) => {
    const first = take(FREE, NEW_CALLER, 1);
    const outcome = laterMs === 0 ? first : take(FREE, first.state, 1, NOW + laterMs);
    expect(outcome.decision.rate.remaining).toBe(remaining);
  });

  it('begins with the first counted request, not on the clock’s minute', () => {
    const at = NOW + 12_345;
    expect(take(FREE, NEW_CALLER, 1, at).decision.rate.resetAtMs).toBe(at + MINUTE_MS);
  });

  it('is not restarted by a refused request', () => {
    const refused = take(FREE, FULL, 1, NOW + 30_000);
    expect(refused.state.minute).toEqual({ startedAtMs: NOW, used: 60 });
    expect(take(FREE, refused.state, 1, NOW + MINUTE_MS).decision.refusal).toBeNull();
  });
});

describe('the headers describe the window that runs out first', () => {
  it.each([
    // perMinute, perDay, requests, window described
    [10, 100, 1, 'minute'],
    [10, 10, 1, 'minute'],
    [10, 10, 10, 'minute'],
    [10, 9, 1, 'day'],
    [10, 9, 9, 'day'],
    [1_000_000, 5, 1, 'day'],
  ])('%i a minute, %i a day, after %i: the %s', (perMinute, perDay, requests, window) => {
    const [limit, lengthMs] = window === 'minute' ? [perMinute, MINUTE_MS] : [perDay, DAY_MS];
    const taken = take({ perMinute, perDay }, NEW_CALLER, requests);
    expect(taken.decision.rate).toEqual(rate(limit, limit - requests, NOW + lengthMs));
  });

  it('switches to the day when the day has fewer requests left', () => {
    const limits = { perMinute: 10, perDay: 15 };
    const first = take(limits, NEW_CALLER, 9);
    expect(first.decision.rate).toMatchObject({ limit: 10, remaining: 1 });
    const second = take(limits, first.state, 1, NOW + MINUTE_MS);
    expect(second.decision.rate).toMatchObject({ limit: 15, remaining: 5 });
  });
});

describe('a refusal', () => {
  it.each([
    // ms into the window, Retry-After
    [0, 60],
    [1, 60],
    [999, 60],
    [1_000, 59],
    [59_000, 1],
    [59_001, 1],
    [59_999, 1],
  ])('%i ms into the exhausted minute tells the client to wait %i s', (laterMs, seconds) => {
    const { decision } = take(FREE, FULL, 1, NOW + laterMs);
    expect(decision.refusal?.retryAfterSeconds).toBe(seconds);
    expect(decision.rate).toEqual(rate(60, 0));
  });

  it.each([0, 1, 250, 499, 500, 999])(
    'waiting for Retry-After is enough when the window began %i ms after a second',
    (fraction) => {
      const begin = NOW + fraction;
      const full = after(FREE, 60, begin);
      for (const laterMs of [0, 1, 333, 30_500, 59_998, 59_999]) {
        const at = begin + laterMs;
        const { decision } = take(FREE, full, 1, at);
        const back = at + (decision.refusal?.retryAfterSeconds ?? 0) * 1000;
        for (const then of [back, decision.rate.resetAtMs]) {
          expect(then).toBeGreaterThanOrEqual(begin + MINUTE_MS);
          expect(take(FREE, full, 1, then).decision.refusal).toBeNull();
        }
      }
    },
  );

  it('by the day waits for the day', () => {
    const limits = { perMinute: 100, perDay: 5 };
    const { decision } = take(limits, after(limits, 5), 1, NOW + 1_000);
    expect(decision.refusal).toMatchObject({ retryAfterSeconds: 86_399, window: 'day' });
    expect(decision.refusal?.message).toContain('5 requests per day');
    expect(decision.rate).toEqual(rate(5, 0, NOW + DAY_MS));
  });

  it.each([
    [60 * MINUTE_MS, '5 requests per hour is'],
    [5 * MINUTE_MS, '5 requests per 5 minutes is'],
  ])('of a window of %i ms names its length, and no plan', (minuteMs, text) => {
    const limits = { perMinute: 5, perDay: Infinity, minuteMs };
    const { message = '' } = take(limits, NEW_CALLER, 6).decision.refusal ?? {};
    expect(message).toContain(text);
    expect(message).not.toContain('plan');
  });

  it('by both windows waits for the one that ends last', () => {
    const limits = { perMinute: 5, perDay: 5 };
    const { decision } = take(limits, after(limits, 5), 1);
    expect(decision.refusal?.retryAfterSeconds).toBe(86_400);
    expect(decision.rate.resetAtMs).toBe(NOW + DAY_MS);
  });

  it('by both windows that end at the same moment names the minute', () => {
    const limits = { perMinute: 5, perDay: 10 };
    const late = take(limits, after(limits, 5), 6, NOW + DAY_MS - MINUTE_MS);
    expect(late.decision.rate).toEqual(rate(5, 0, NOW + DAY_MS));
  });

  it('by both windows waits for the minute when the day ends before it', () => {
    const limits = { perMinute: 5, perDay: 10 };
    const late = take(limits, after(limits, 5), 6, NOW + DAY_MS - 10_000);
    expect(late.decision.refusal?.retryAfterSeconds).toBe(60);
  });
});

describe('strikes', () => {
  const struck = (untilMs: number): CallerState => ({ ...NEW_CALLER, strikes: 3, strikesUntilMs: untilMs });

  it.each([
    ['stay until their window ends', NOW + 1, 3],
    ['end with it', NOW, 0],
    ['stay for a day at most', NOW + DAY_MS, 3],
    ['are dropped if they are from the future, because the clock went back', NOW + DAY_MS + 1, 0],
  ])('%s', (_when, untilMs, strikes) => {
    const strikesUntilMs = strikes === 0 ? null : untilMs;
    expect(settle(struck(untilMs), BAN, NOW)).toMatchObject({ strikes, strikesUntilMs });
  });
});

it('strikes are reset when a change of plan makes the other window the one to wait for', () => {
  const { state } = take({ perMinute: 5, perDay: 100 }, after({ perMinute: 5, perDay: 100 }, 5), 3);
  expect([state.strikes, take({ perMinute: 5, perDay: 5 }, state, 1).state.strikes]).toEqual([3, 1]);
});

describe('a ban', () => {
  const BANNED = take(FREE, FULL, 20).state;

  it('begins with the 20th refusal in one window, which still has the code rate_limit_exceeded', () => {
    const nineteenth = take(FREE, FULL, 19);
    const twentieth = take(FREE, nineteenth.state, 1);
    expect([nineteenth.banBegan, twentieth.banBegan]).toEqual([false, true]);
    expect(twentieth.decision.refusal?.code).toBe('rate_limit_exceeded');
    expect(take(FREE, twentieth.state, 1).decision).toMatchObject({
      refusal: { code: 'api_key_banned', retryAfterSeconds: 600 },
      rate: { remaining: 0, resetAtMs: NOW + 600_000 },
    });
  });

  it('is not lengthened by further requests', () => {
    const asked = take(FREE, BANNED, 500, NOW + 300_000);
    expect(asked.decision.refusal?.retryAfterSeconds).toBe(300);
    expect(asked.state.bannedUntilMs).toBe(NOW + 600_000);
  });

  it.each([
    [599_999, 'api_key_banned'],
    [600_000, undefined],
  ])('after %i ms: %s', (laterMs, code) => {
    expect(take(FREE, BANNED, 1, NOW + laterMs).decision.refusal?.code).toBe(code);
  });

  it('clears the strikes when it ends', () => {
    const limits = { perMinute: 5, perDay: 5 };
    const banned = take(limits, after(limits, 5), 20);
    const later = take(limits, banned.state, 19, NOW + 600_000);
    expect([later.state.strikes, later.banBegan]).toEqual([19, false]);
    expect(take(limits, later.state, 1, NOW + 600_000).banBegan).toBe(true);
  });

  it('is not caused by refusals spread over two windows', () => {
    const first = take(FREE, FULL, 19);
    const second = take(FREE, take(FREE, first.state, 60, NOW + MINUTE_MS).state, 19, NOW + MINUTE_MS);
    expect([second.state.strikes, second.banBegan]).toEqual([19, false]);
  });

  it('never applies to an address', () => {
    const address = take(FREE, take(FREE, NEW_CALLER, 60, NOW, null).state, 1_000, NOW, null);
    expect(address.banBegan).toBe(false);
    expect(address.decision.refusal?.code).toBe('rate_limit_exceeded');
  });

  it.each([1, 3, 20])('follows the setting: after %i refusals', (afterRefusals) => {
    const rule = { afterRefusals, durationMs: 1_000 };
    const outcome = take(FREE, FULL, afterRefusals, NOW, rule);
    expect(outcome.banBegan).toBe(true);
    expect(outcome.state.bannedUntilMs).toBe(NOW + 1_000);
  });
});

describe('a change of plan applies at once', () => {
  it('upwards: used counts stay, and the additional requests become available', () => {
    expect(take(PLANS.pro.limits, FULL, 1).decision).toEqual({ refusal: null, rate: rate(300, 239) });
  });

  it('downwards: nothing remains, and never less than nothing', () => {
    expect(take(FREE, after(PLANS.pro.limits, 200), 1).decision).toMatchObject({
      refusal: { code: 'rate_limit_exceeded' },
      rate: { limit: 60, remaining: 0 },
    });
  });

  it('bans stay', () => {
    const banned = take(FREE, FULL, 20).state;
    expect(take(PLANS.business.limits, banned, 1).decision.refusal?.code).toBe('api_key_banned');
  });
});

describe('after the clock went back', () => {
  it('windows from the future are reset', () => {
    const { decision, state } = take(FREE, after(FREE, 60, NOW + DAY_MS), 1);
    expect(decision.rate).toEqual(rate(60, 59));
    expect(state.day).toEqual({ startedAtMs: NOW, used: 1 });
  });

  it('a ban is limited to its maximum length', () => {
    const banned = take(FREE, after(FREE, 60, NOW + DAY_MS), 20, NOW + DAY_MS);
    expect(take(FREE, banned.state, 1).decision.refusal?.retryAfterSeconds).toBe(600);
  });
});

describe('peek', () => {
  it('shows the remaining requests without counting', () => {
    const some = after(FREE, 10);
    for (let time = 0; time < 2; time++)
      expect(peek(FREE, some, BAN, NOW)).toEqual({ refusal: null, rate: rate(60, 50) });
  });

  it('shows an exhausted window without refusing', () => {
    expect(peek(FREE, FULL, BAN, NOW)).toMatchObject({ refusal: null, rate: { remaining: 0 } });
  });

  it('shows the one to wait for of two exhausted windows', () => {
    const limits = { perMinute: 5, perDay: 5 };
    expect(peek(limits, after(limits, 5), BAN, NOW).rate.resetAtMs).toBe(NOW + DAY_MS);
  });
});
