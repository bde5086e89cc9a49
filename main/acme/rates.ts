import { isIPv6 } from 'node:net';
import { ACME_LIMITS, type AcmeLimitName, type AcmeRate, describeAcmeRate } from '../contract/acme-rates.ts';
import { DAY_MS, HOUR_MS } from '../contract/duration.ts';
import type { EpochMs } from '../base/clock.ts';
import { LruMap } from '../base/lru.ts';
import { canonicalAddress, ipv6Groups } from '../model/address.ts';
import { AcmeError } from './problem.ts';

/** The theoretical arrival time (GCRA): when the limit is fully available again. */
export type Used = EpochMs;

/** Decides about one more use. `waitMs` is 0 if it is allowed. Boulder's algorithm (`ratelimits/gcra.go`). */
export function decide(
  { count, periodMs }: AcmeRate,
  used: Used | null,
  nowMs: EpochMs,
): { next: Used; waitMs: number; left: number } {
  const intervalMs = periodMs / count;
  const next = Math.max(used ?? nowMs, nowMs) + intervalMs;
  const waitMs = Math.max(0, Math.ceil(next - periodMs - nowMs));
  return { next, waitMs, left: waitMs > 0 ? 0 : Math.floor((periodMs - (next - nowMs)) / intervalMs + 1e-9) };
}

/** Let’s Encrypt’s limits (letsencrypt.org/docs/rate-limits), and what each counts. */
const LIMITS: Readonly<Record<AcmeLimitName, AcmeRate & { what: string }>> = {
  newAccounts: { count: 10, periodMs: 3 * HOUR_MS, what: 'new accounts from the address' },
  newAccountsPerRange: { count: 500, periodMs: 3 * HOUR_MS, what: 'new accounts from the IPv6 range' },
  newOrders: { count: 300, periodMs: 3 * HOUR_MS, what: 'new orders of the account' },
  certificatesPerDomain: { count: 50, periodMs: 7 * DAY_MS, what: 'certificates for the domain' },
  certificatesPerSet: { count: 5, periodMs: 7 * DAY_MS, what: 'certificates for exactly this set of names' },
  failedValidations: { count: 5, periodMs: HOUR_MS, what: 'failed validations of the account for the name' },
  // One is refilled each day. A success resets it, as Let’s Encrypt’s portal does.
  consecutiveFailures: {
    ...{ count: 1_152, periodMs: 1_152 * DAY_MS },
    what: 'consecutive failed validations, which pause the name for the account',
  },
};

/** The key of a count: a limit, and the account, domain or set of names to which it applies. */
export interface Counted {
  readonly limit: AcmeLimitName;
  readonly of: string;
}

export const standardRateOf = (limit: AcmeLimitName): AcmeRate => LIMITS[limit];

/** The problem of an exhausted limit. */
export function tooMany(
  { limit, of }: Counted,
  { rate, waitMs, nowMs }: { rate: AcmeRate; waitMs: number; nowMs: EpochMs },
  members: Record<string, unknown> = {},
): AcmeError {
  const detail =
    `There are too many ${LIMITS[limit].what} (${of}): ${describeAcmeRate(rate)}. ` +
    `Retry after ${new Date(nowMs + waitMs).toISOString()}. To reset the counts: vivarium acme reset-limits`;
  return new AcmeError('rateLimited', detail, { headers: ['Retry-After', String(Math.ceil(waitMs / 1_000))], members });
}

/** Maximum number of counts in memory; the least recently used are dropped first. */
const COUNTS_MAX = 10_000;

export type Rates = ReturnType<typeof createRates>;

/** `changed` contains the limits that differ from Let’s Encrypt’s. */
export function createRates(options: {
  now: () => EpochMs;
  enforced: () => boolean;
  changed: () => ReadonlyMap<AcmeLimitName, AcmeRate>;
}) {
  const { now, enforced, changed } = options;
  const rateOf = (limit: AcmeLimitName): AcmeRate => changed().get(limit) ?? LIMITS[limit];
  const used = new LruMap<Counted & { until: Used }>(COUNTS_MAX);
  const keyOf = ({ limit, of }: Counted): string => `${limit} ${of}`;
  const untilOf = (counted: Counted): Used | null => used.peek(keyOf(counted))?.until ?? null;

  return {
    /** @throws AcmeError rateLimited if one of the limits is exhausted, unless limits are off. */
    check(counted: readonly Counted[]): void {
      if (!enforced()) return;
      const waits = counted.map((each) => ({ ...each, ...decide(rateOf(each.limit), untilOf(each), now()) }));
      // The limit with the longest wait is reported, as in Boulder.
      const [longest] = waits.filter(({ waitMs }) => waitMs > 0).sort((a, b) => b.waitMs - a.waitMs);
      if (longest === undefined) return;
      throw tooMany(longest, { rate: rateOf(longest.limit), waitMs: longest.waitMs, nowMs: now() });
    },
    count(counted: readonly Counted[]): void {
      for (const each of counted) {
        const { next, waitMs } = decide(rateOf(each.limit), untilOf(each), now());
        // Refused requests are not counted, nor are those beyond the limit while limits are off.
        if (waitMs === 0) used.set(keyOf(each), { ...each, until: next });
      }
    },
    forget(counted: readonly Counted[]): void {
      for (const each of counted) used.delete(keyOf(each));
    },
    /** The limits in force. */
    limits: () => ACME_LIMITS.map((limit) => ({ limit, what: LIMITS[limit].what, rate: rateOf(limit) })),
    list: () =>
      [...used].flatMap(([, { limit, of, until }]) => {
        const { count, periodMs } = rateOf(limit);
        const left = Math.floor((periodMs - (until - now())) / (periodMs / count) + 1e-9);
        return until <= now() ? [] : [{ limit, of, left: Math.max(0, left), fullAtMs: until }];
      }),
    reset: () => used.clear(),
  };
}

/** The block of an IPv6 address, such as `2001:db8::/48`; null for any other text. */
export function blockOf(address: string, bits: 48 | 64): string | null {
  if (!isIPv6(address)) return null;
  const kept = ipv6Groups(address).slice(0, bits / 16);
  return `${canonicalAddress(`${kept.map((group) => group.toString(16)).join(':')}::`)}/${bits}`;
}
