import type { Clock, EpochMs, Timer } from '../base/clock.ts';
import { certificateDueMs, certificateTimes } from './certificate-machine.ts';
import type { AttachedDomain, DomainSet } from './domain-set.ts';
import { RECHECK_INTERVAL_MS } from './hostname-machine.ts';
import { createTurns, nextTurn } from '../base/turns.ts';
import { VivariumError } from '../contract/errors.ts';

/** Concurrent checks: enough to overlap DNS latency, few enough not to overload a resolver. */
const TURNS_AT_ONCE = 32;

export interface Schedule {
  /** Recomputes the next moments; call it after every change. */
  arm(): void;
  /** The same after a domain was added; the cost does not depend on the number of other domains. */
  add(domain: AttachedDomain): void;
  stop(): void;
}

/**
 * Two timers for all domains. One repeats (daily checks, renewals, daily retries), which lets the clock collapse a jump
 * over years into its last run; the other serves single moments (first attempts, expiry, propagation).
 */
export function createSchedule(options: {
  clock: Pick<Clock, 'now' | 'at' | 'every'>;
  domains: Pick<DomainSet, 'list'>;
  /** Runs what is due for one domain; must not reject. */
  run: (domain: AttachedDomain) => Promise<void>;
}): Schedule {
  const { clock, domains, run } = options;
  let daily: Timer | null = null;
  let once: Timer | null = null;
  let armed: Moments = NEVER;
  let running = 0;
  let stopped = false;

  async function runDue(): Promise<void> {
    running++;
    try {
      const nowMs = clock.now();
      // All workers share one iterator, because thousands of checks started in one turn would delay requests.
      const due = domains
        .list()
        .filter((domain) => isDue(domain, nowMs))
        .values();
      const runNext = async () => {
        for (const domain of due) {
          if (stopped) return;
          await run(domain);
        }
      };
      await Promise.all(Array.from({ length: TURNS_AT_ONCE }, runNext));
    } finally {
      // The last changes have just been published, which takes milliseconds with thousands of domains.
      await nextTurn();
      running--;
      arm();
      // During a jump of the clock, the next run covers all domains.
      await nextTurn();
    }
  }

  function arm(): void {
    // A domain still appears due while its work runs.
    if (running > 0) return;
    cancel();
    if (stopped) return;
    let { dailyMs, onceMs } = NEVER;
    for (const domain of domains.list()) {
      const next = momentsOf(domain);
      dailyMs = Math.min(dailyMs, next.dailyMs);
      onceMs = Math.min(onceMs, next.onceMs);
    }
    armed = { dailyMs, onceMs };
    if (dailyMs !== Infinity) daily = clock.every(RECHECK_INTERVAL_MS, runDue, dailyMs);
    if (onceMs !== Infinity) once = clock.at(onceMs, runDue);
  }

  function cancel(): void {
    daily?.cancel();
    once?.cancel();
    daily = once = null;
  }

  return {
    arm,
    add(domain) {
      const { dailyMs, onceMs } = momentsOf(domain);
      if (dailyMs < armed.dailyMs || onceMs < armed.onceMs) arm();
    },
    stop() {
      stopped = true;
      cancel();
    },
  };
}

/** The times of the next repeated and the next single work. */
interface Moments {
  dailyMs: EpochMs;
  onceMs: EpochMs;
}

const NEVER: Moments = { dailyMs: Infinity, onceMs: Infinity };

function momentsOf(domain: AttachedDomain): Moments {
  const checkMs = domain.nextCheckAtMs ?? Infinity;
  const { repeatingMs, onceMs } = certificateTimes(domain.certificate);
  const repeatsCheck = isDaily(domain);
  return {
    dailyMs: Math.min(repeatsCheck ? checkMs : Infinity, repeatingMs ?? Infinity),
    onceMs: Math.min(repeatsCheck ? Infinity : checkMs, onceMs ?? Infinity),
  };
}

const isDaily = ({ nextCheckAtMs, lastCheckedAtMs, attachedAtMs }: AttachedDomain): boolean =>
  nextCheckAtMs !== null && nextCheckAtMs - (lastCheckedAtMs ?? attachedAtMs) >= RECHECK_INTERVAL_MS;

export const isCheckDue = ({ nextCheckAtMs }: AttachedDomain, nowMs: EpochMs): boolean =>
  nextCheckAtMs !== null && nextCheckAtMs <= nowMs;

function isDue(domain: AttachedDomain, nowMs: EpochMs): boolean {
  const certificateMs = certificateDueMs(domain.certificate);
  return isCheckDue(domain, nowMs) || (certificateMs !== null && certificateMs <= nowMs);
}

/** Maximum queue for one hostname, for clients that ask faster than checks finish. */
const TURNS_WAITING_MAX = 50;

/** Serialises work per hostname and runs different hostnames concurrently up to a limit. */
export interface HostnameTurns {
  /** @throws VivariumError `unavailable` when the queue of a hostname is full. */
  run<Result>(hostname: string, work: () => Promise<Result>): Promise<Result>;
}

export function createHostnameTurns(): HostnameTurns {
  const turns = createTurns(TURNS_AT_ONCE);
  const lines = new Map<string, { last: Promise<unknown>; waiting: number }>();
  return {
    async run(hostname, work) {
      const line = lines.get(hostname) ?? { last: Promise.resolve(), waiting: 0 };
      if (line.waiting >= TURNS_WAITING_MAX) {
        throw new VivariumError(
          'unavailable',
          `${hostname} is being checked, and ${line.waiting} more checks are queued; try again in a moment.`,
        );
      }
      lines.set(hostname, line);
      line.waiting++;
      const turn = line.last.then(() => turns.enqueue(work));
      line.last = turn.catch(() => undefined);
      try {
        return await turn;
      } finally {
        if (--line.waiting === 0) lines.delete(hostname);
      }
    },
  };
}
