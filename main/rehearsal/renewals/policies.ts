import { CAA_VALID_MS, type Profile, renewalWindow } from '../../acme/profiles.ts';
import type { EpochMs } from '../../base/clock.ts';
import { DAY_MS, HOUR_MS } from '../../contract/duration.ts';
import { type Attempt, type Course, type Held, revokeAt, draw, eventAt, type EventKind, type Year } from './course.ts';

/** The renewal rule of a kind of client. */
export interface Policy {
  /** The value of the option `--policy`. */
  readonly name: string;
  readonly title: string;
  /** The interval of checks, and of retries after a failure. */
  readonly everyMs: number;
  /** @param share a number from 0 up to 1, constant for each certificate */
  isDue(held: Held, nowMs: EpochMs, share: number): boolean;
}

export const POLICIES: readonly Policy[] = [
  {
    name: 'ari',
    title: 'asks for renewal information every 6 h (RFC 9773)',
    everyMs: 6 * HOUR_MS,
    isDue({ fromMs: notBeforeMs, untilMs: notAfterMs, revokedAtMs }, nowMs, share) {
      const { startMs, endMs } = renewalWindow({ notBeforeMs, notAfterMs }, revokedAtMs);
      return nowMs >= startMs + share * (endMs - startMs);
    },
  },
  {
    name: 'third-left',
    title: 'checks every hour, and renews when a third of the lifetime is left, like Caddy 2.6',
    everyMs: HOUR_MS,
    isDue: ({ fromMs, untilMs }, nowMs) => untilMs - nowMs <= (untilMs - fromMs) / 3,
  },
  {
    name: '30-days-left',
    title: 'checks twice a day, and renews when less than 30 days are left, like certbot 2',
    everyMs: 12 * HOUR_MS,
    isDue: ({ untilMs }, nowMs) => untilMs - nowMs < 30 * DAY_MS,
  },
  {
    name: 'every-60-days',
    title: 'checks once a day, and renews 60 days after issuance, regardless of the certificate',
    everyMs: DAY_MS,
    isDue: ({ fromMs }, nowMs) => nowMs - fromMs >= 60 * DAY_MS,
  },
  {
    name: 'monthly',
    title: 'renews on the first day of each month, and does not retry',
    everyMs: DAY_MS,
    isDue: (_held, nowMs) => new Date(nowMs).getUTCDate() === 1,
  },
];

/** A certificate of a client. */
export interface Subject {
  readonly names: readonly string[];
}

/** Computes one certificate's year under one policy, by the ACME server's rules. It starts with an issuance. */
export function follow(policy: Policy, { names }: Subject, profile: Profile, year: Year, seed: number): Course {
  const { fromMs, toMs, events } = year;
  const client = `${names.join(' ')} ${policy.name}`;
  const held: Held[] = [issued(fromMs, profile)];
  const attempts: Attempt[] = [];
  let authorizedUntilMs = fromMs + profile.authorizationMs;
  let caaAtMs = fromMs;
  let happenedMs = -Infinity;
  let share = draw(seed, `${client} 1`);

  /** Applies the events that begin up to `nowMs`. */
  function passTo(nowMs: EpochMs): void {
    for (const { kind, fromMs: atMs, name } of events) {
      if (atMs <= happenedMs || atMs > nowMs) continue;
      if (kind === 'revocation') revokeAt(held, atMs);
      if (kind === 'authorization' && (name === undefined || names.includes(name))) authorizedUntilMs = atMs;
    }
    happenedMs = nowMs;
  }

  function attempt(nowMs: EpochMs): EventKind | null {
    if (eventAt(year, 'outage', nowMs, names) !== undefined) return 'outage';
    const isForbidden = eventAt(year, 'caa', nowMs, names) !== undefined;
    if (authorizedUntilMs <= nowMs) {
      if (eventAt(year, 'authorization', nowMs, names) !== undefined) return 'authorization';
      // A validation also checks CAA, and fails with it.
      if (isForbidden) return 'caa';
      authorizedUntilMs = nowMs + profile.authorizationMs;
      caaAtMs = nowMs;
    }
    if (caaAtMs + CAA_VALID_MS <= nowMs) {
      if (isForbidden) return 'caa';
      caaAtMs = nowMs;
    }
    return null;
  }

  for (let nowMs = fromMs + draw(seed, client) * policy.everyMs; nowMs < toMs; nowMs += policy.everyMs) {
    passTo(nowMs);
    const last = held.at(-1);
    if (last === undefined || !policy.isDue(last, nowMs, share)) continue;
    const failure = attempt(nowMs);
    attempts.push({ atMs: nowMs, failure, problem: null });
    if (failure !== null) continue;
    held.push(issued(nowMs, profile));
    share = draw(seed, `${client} ${held.length}`);
  }
  passTo(toMs);
  return { client: policy.name, about: policy.title, names, held, attempts };
}

const issued = (nowMs: EpochMs, { lifetimeMs }: Profile): Held => ({
  fromMs: nowMs,
  untilMs: nowMs + lifetimeMs,
  revokedAtMs: null,
});
