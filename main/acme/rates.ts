import { DAY_MS, HOUR_MS } from '../contract/duration.ts';
import type { EpochMs } from '../base/clock.ts';
import { LruMap } from '../base/lru.ts';
import { AcmeError } from './problem.ts';

/** So many in such a time; what was used comes back evenly. */
export interface Rate {
  readonly count: number;
  readonly periodMs: number;
}

/** The theoretical arrival time (GCRA): when nothing is used any longer. */
export type Used = EpochMs;

/** What one more would leave. `waitMs` is 0 if it is allowed. Boulder's algorithm (`ratelimits/gcra.go`). */
export function decide(
  { count, periodMs }: Rate,
  used: Used | null,
  nowMs: EpochMs,
): { next: Used; waitMs: number; left: number } {
  const intervalMs = periodMs / count;
  const next = Math.max(used ?? nowMs, nowMs) + intervalMs;
  const waitMs = Math.max(0, Math.ceil(next - periodMs - nowMs));
  return { next, waitMs, left: waitMs > 0 ? 0 : Math.floor((periodMs - (next - nowMs)) / intervalMs + 1e-9) };
}

/** Let’s Encrypt's limits (letsencrypt.org/docs/rate-limits), and what each is counted for. */
export const LIMITS = {
  newAccounts: { count: 10, periodMs: 3 * HOUR_MS, what: 'new accounts from this machine' },
  newOrders: { count: 300, periodMs: 3 * HOUR_MS, what: 'new orders of the account' },
  certificatesPerDomain: { count: 50, periodMs: 7 * DAY_MS, what: 'certificates for the domain' },
  certificatesPerSet: { count: 5, periodMs: 7 * DAY_MS, what: 'certificates for exactly this set of names' },
  failedValidations: { count: 5, periodMs: HOUR_MS, what: 'failed validations of the account for the name' },
} as const satisfies Record<string, Rate & { what: string }>;

export type LimitName = keyof typeof LIMITS;

/** What a count is for: a limit, and the account, domain or set of names that it applies to. */
export interface Counted {
  readonly limit: LimitName;
  readonly of: string;
}

/** Counts, in memory; beyond this many, the least recently used are forgotten. */
const COUNTS_MAX = 10_000;

export interface Rates {
  /** @throws AcmeError rateLimited, unless each has one left or limits are off */
  check(counted: readonly Counted[]): void;
  /** Counts one for each. */
  count(counted: readonly Counted[]): void;
  /** What is counted at present. */
  list(): { limit: LimitName; of: string; left: number; fullAtMs: EpochMs }[];
  reset(): void;
}

export function createRates(options: { now: () => EpochMs; enforced: () => boolean }): Rates {
  const { now, enforced } = options;
  const used = new LruMap<Counted & { until: Used }>(COUNTS_MAX);
  const keyOf = ({ limit, of }: Counted): string => `${limit} ${of}`;
  const untilOf = (counted: Counted): Used | null => used.peek(keyOf(counted))?.until ?? null;

  return {
    check(counted) {
      if (!enforced()) return;
      for (const each of counted) {
        const rate = LIMITS[each.limit];
        const { waitMs } = decide(rate, untilOf(each), now());
        if (waitMs === 0) continue;
        const after = new Date(now() + waitMs).toISOString();
        throw new AcmeError(
          'rateLimited',
          `There are too many ${rate.what} (${each.of}): ${rate.count} in ${rate.periodMs / HOUR_MS} h. ` +
            `Retry after ${after}. To forget them: vivarium acme reset-limits`,
          { headers: ['Retry-After', String(Math.ceil(waitMs / 1000))] },
        );
      }
    },
    count(counted) {
      for (const each of counted) {
        const { next } = decide(LIMITS[each.limit], untilOf(each), now());
        used.set(keyOf(each), { ...each, until: next });
      }
    },
    list: () =>
      [...used].flatMap(([, { limit, of, until }]) => {
        const { count, periodMs } = LIMITS[limit];
        const left = Math.floor((periodMs - (until - now())) / (periodMs / count) + 1e-9);
        return until <= now() ? [] : [{ limit, of, left: Math.max(0, left), fullAtMs: until }];
      }),
    reset: () => used.clear(),
  };
}
