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
function take(limits: RateLimits, state: CallerState, times: number, atMs: number, ban: BanRule | null = BAN) {
  let outcome = decide(limits, state, ban, atMs);
  for (let request = 1; request < times; request++) outcome = decide(limits, outcome.state, ban, atMs);
  return outcome;
}

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
      const last = take(limits, NEW_CALLER, limits.perMinute, NOW);
      expect(last.decision).toEqual({
        refusal: null,
        rate: { limit: limits.perMinute, remaining: 0, resetAtMs: NOW + MINUTE_MS },
      });
      expect(take(limits, last.state, 1, NOW).decision.refusal).toMatchObject({
        code: 'rate_limit_exceeded',
        window: 'minute',
        retryAfterSeconds: 60,
      });
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
    const first = take(FREE, NEW_CALLER, 1, NOW);
    const outcome = laterMs === 0 ? first : take(FREE, first.state, 1, NOW + laterMs);
    expect(outcome.decision.rate.remaining).toBe(remaining);
  });

  it('begins with the first counted request, not on the clock’s minute', () => {
    const at = NOW + 12_345;
    expect(take(FREE, NEW_CALLER, 1, at).decision.rate.resetAtMs).toBe(at + MINUTE_MS);
  });

  it('is not restarted by a refused request', () => {
    const full = take(FREE, NEW_CALLER, 60, NOW);
    const refused = take(FREE, full.state, 1, NOW + 30_000);
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
    const { rate } = take({ perMinute, perDay }, NEW_CALLER, requests, NOW).decision;
    const [limit, lengthMs] = window === 'minute' ? [perMinute, MINUTE_MS] : [perDay, DAY_MS];
    expect(rate).toEqual({ limit, remaining: limit - requests, resetAtMs: NOW + lengthMs });
  });

  it('switches to the day when the day has fewer requests left', () => {
    const limits = { perMinute: 10, perDay: 15 };
    const first = take(limits, NEW_CALLER, 9, NOW);
    expect(first.decision.rate).toMatchObject({ limit: 10, remaining: 1 });
    const second = take(limits, first.state, 1, NOW + MINUTE_MS);
    expect(second.decision.rate).toMatchObject({ limit: 15, remaining: 5 });
  });
});

describe('a refusal', () => {
  it.each([
    // ms into the window, Retry-After, Reset − now in seconds
    [0, 60],
    [1, 60],
    [999, 60],
    [1_000, 59],
    [59_000, 1],
    [59_001, 1],
    [59_999, 1],
  ])('%i ms into the exhausted minute tells the client to wait %i s', (laterMs, seconds) => {
    const full = take(FREE, NEW_CALLER, 60, NOW);
    const { refusal, rate } = take(FREE, full.state, 1, NOW + laterMs).decision;
    expect(refusal?.retryAfterSeconds).toBe(seconds);
    expect(rate).toEqual({ limit: 60, remaining: 0, resetAtMs: NOW + MINUTE_MS });
  });

  it.each([0, 1, 250, 499, 500, 999])(
    'waiting for Retry-After is enough when the window began %i ms after a second',
    (fraction) => {
      const begin = NOW + fraction;
      const full = take(FREE, NEW_CALLER, 60, begin);
      for (const laterMs of [0, 1, 333, 30_500, 59_998, 59_999]) {
        const at = begin + laterMs;
        const { refusal, rate } = take(FREE, full.state, 1, at).decision;
        const back = at + (refusal?.retryAfterSeconds ?? 0) * 1000;
        expect(back).toBeGreaterThanOrEqual(begin + MINUTE_MS);
        expect(rate.resetAtMs).toBeGreaterThanOrEqual(begin + MINUTE_MS);
        expect(take(FREE, full.state, 1, back).decision.refusal).toBeNull();
        expect(take(FREE, full.state, 1, rate.resetAtMs).decision.refusal).toBeNull();
      }
    },
  );

  it('by the day waits for the day', () => {
    const limits = { perMinute: 100, perDay: 5 };
    const full = take(limits, NEW_CALLER, 5, NOW);
    const { refusal, rate } = take(limits, full.state, 1, NOW + 1_000).decision;
    expect(refusal?.retryAfterSeconds).toBe(86_399);
    expect(refusal?.message).toContain('5 requests per day');
    expect(refusal?.window).toBe('day');
    expect(rate).toEqual({ limit: 5, remaining: 0, resetAtMs: NOW + DAY_MS });
  });

  it.each([
    [60 * MINUTE_MS, '5 requests per hour is'],
    [5 * MINUTE_MS, '5 requests per 5 minutes is'],
  ])('of a window of %i ms names its length, and no plan', (minuteMs, text) => {
    const limits = { perMinute: 5, perDay: Infinity, minuteMs };
    const { message = '' } = take(limits, NEW_CALLER, 6, NOW).decision.refusal ?? {};
    expect(message).toContain(text);
    expect(message).not.toContain('plan');
  });

  it('by both windows waits for the one that ends last', () => {
    const limits = { perMinute: 5, perDay: 5 };
    const full = take(limits, NEW_CALLER, 5, NOW);
    const { refusal, rate } = take(limits, full.state, 1, NOW).decision;
    expect(refusal?.retryAfterSeconds).toBe(86_400);
    expect(rate.resetAtMs).toBe(NOW + DAY_MS);
  });

  it('by both windows that end at the same moment names the minute', () => {
    const limits = { perMinute: 5, perDay: 10 };
    const early = take(limits, NEW_CALLER, 5, NOW);
    const late = take(limits, early.state, 6, NOW + DAY_MS - MINUTE_MS);
    expect(late.decision.rate).toEqual({ limit: 5, remaining: 0, resetAtMs: NOW + DAY_MS });
  });

  it('by both windows waits for the minute when the day ends before it', () => {
    const limits = { perMinute: 5, perDay: 10 };
    const early = take(limits, NEW_CALLER, 5, NOW);
    const late = take(limits, early.state, 5, NOW + DAY_MS - 10_000);
    const { refusal } = take(limits, late.state, 1, NOW + DAY_MS - 10_000).decision;
    expect(refusal?.retryAfterSeconds).toBe(60);
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
    expect(settle(struck(untilMs), BAN, NOW)).toMatchObject({
      strikes,
      strikesUntilMs: strikes === 0 ? null : untilMs,
    });
  });
});

it('strikes are reset when a change of plan makes the other window the one to wait for', () => {
  const full = take({ perMinute: 5, perDay: 100 }, NEW_CALLER, 5, NOW);
  const struck = take({ perMinute: 5, perDay: 100 }, full.state, 3, NOW);
  expect([struck.state.strikes, take({ perMinute: 5, perDay: 5 }, struck.state, 1, NOW).state.strikes]).toEqual([3, 1]);
});

describe('a ban', () => {
  const full = take(FREE, NEW_CALLER, 60, NOW);

  it('begins with the 20th refusal in one window, which still has the code rate_limit_exceeded', () => {
    const nineteenth = take(FREE, full.state, 19, NOW);
    expect(nineteenth.banBegan).toBe(false);
    const twentieth = take(FREE, nineteenth.state, 1, NOW);
    expect(twentieth.banBegan).toBe(true);
    expect(twentieth.decision.refusal?.code).toBe('rate_limit_exceeded');
    expect(take(FREE, twentieth.state, 1, NOW).decision).toMatchObject({
      refusal: { code: 'api_key_banned', retryAfterSeconds: 600 },
      rate: { remaining: 0, resetAtMs: NOW + 600_000 },
    });
  });

  it('is not lengthened by further requests', () => {
    const banned = take(FREE, full.state, 20, NOW);
    const asked = take(FREE, banned.state, 500, NOW + 300_000);
    expect(asked.decision.refusal?.retryAfterSeconds).toBe(300);
    expect(asked.state.bannedUntilMs).toBe(NOW + 600_000);
  });

  it.each([
    [599_999, 'api_key_banned'],
    [600_000, undefined],
  ])('after %i ms: %s', (laterMs, code) => {
    const banned = take(FREE, full.state, 20, NOW);
    expect(take(FREE, banned.state, 1, NOW + laterMs).decision.refusal?.code).toBe(code);
  });

  it('clears the strikes when it ends', () => {
    const limits = { perMinute: 5, perDay: 5 };
    const banned = take(limits, take(limits, NEW_CALLER, 5, NOW).state, 20, NOW);
    const after = take(limits, banned.state, 19, NOW + 600_000);
    expect(after.state.strikes).toBe(19);
    expect(after.banBegan).toBe(false);
    expect(take(limits, after.state, 1, NOW + 600_000).banBegan).toBe(true);
  });

  it('is not caused by refusals spread over two windows', () => {
    const first = take(FREE, full.state, 19, NOW);
    const second = take(FREE, take(FREE, first.state, 60, NOW + MINUTE_MS).state, 19, NOW + MINUTE_MS);
    expect(second.state.strikes).toBe(19);
    expect(second.banBegan).toBe(false);
  });

  it('never applies to an address', () => {
    const address = take(FREE, take(FREE, NEW_CALLER, 60, NOW, null).state, 1_000, NOW, null);
    expect(address.banBegan).toBe(false);
    expect(address.decision.refusal?.code).toBe('rate_limit_exceeded');
  });

  it.each([1, 3, 20])('follows the setting: after %i refusals', (afterRefusals) => {
    const rule = { afterRefusals, durationMs: 1_000 };
    const outcome = take(FREE, full.state, afterRefusals, NOW, rule);
    expect(outcome.banBegan).toBe(true);
    expect(outcome.state.bannedUntilMs).toBe(NOW + 1_000);
  });
});

describe('a change of plan applies at once', () => {
  it('upwards: used counts stay, and the additional requests become available', () => {
    const full = take(FREE, NEW_CALLER, 60, NOW);
    const { decision } = take(PLANS.pro.limits, full.state, 1, NOW);
    expect(decision).toEqual({ refusal: null, rate: { limit: 300, remaining: 239, resetAtMs: NOW + MINUTE_MS } });
  });

  it('downwards: nothing remains, and never less than nothing', () => {
    const busy = take(PLANS.pro.limits, NEW_CALLER, 200, NOW);
    expect(take(FREE, busy.state, 1, NOW).decision).toMatchObject({
      refusal: { code: 'rate_limit_exceeded' },
      rate: { limit: 60, remaining: 0 },
    });
  });

  it('bans stay', () => {
    const banned = take(FREE, take(FREE, NEW_CALLER, 60, NOW).state, 20, NOW);
    expect(take(PLANS.business.limits, banned.state, 1, NOW).decision.refusal?.code).toBe('api_key_banned');
  });
});

describe('after the clock went back', () => {
  it('windows from the future are reset', () => {
    const future = take(FREE, NEW_CALLER, 60, NOW + DAY_MS);
    const { decision, state } = take(FREE, future.state, 1, NOW);
    expect(decision.rate).toEqual({ limit: 60, remaining: 59, resetAtMs: NOW + MINUTE_MS });
    expect(state.day).toEqual({ startedAtMs: NOW, used: 1 });
  });

  it('a ban is limited to its maximum length', () => {
    const banned = take(FREE, take(FREE, NEW_CALLER, 60, NOW + DAY_MS).state, 20, NOW + DAY_MS);
    expect(take(FREE, banned.state, 1, NOW).decision.refusal?.retryAfterSeconds).toBe(600);
  });
});

describe('peek', () => {
  it('shows the remaining requests without counting', () => {
    const some = take(FREE, NEW_CALLER, 10, NOW);
    const expected = { refusal: null, rate: { limit: 60, remaining: 50, resetAtMs: NOW + MINUTE_MS } };
    expect(peek(FREE, some.state, BAN, NOW)).toEqual(expected);
    expect(peek(FREE, some.state, BAN, NOW)).toEqual(expected);
  });

  it('shows an exhausted window without refusing', () => {
    const full = take(FREE, NEW_CALLER, 60, NOW);
    expect(peek(FREE, full.state, BAN, NOW)).toMatchObject({ refusal: null, rate: { remaining: 0 } });
  });

  it('shows the one to wait for of two exhausted windows', () => {
    const limits = { perMinute: 5, perDay: 5 };
    const full = take(limits, NEW_CALLER, 5, NOW);
    expect(peek(limits, full.state, BAN, NOW).rate.resetAtMs).toBe(NOW + DAY_MS);
  });
});
