import type { Clock, EpochMs, Timer } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { certificateDueMs, certificateTimes, RECHECK_INTERVAL_MS } from './hostname-machine.ts';
import type { Verifier } from './checks/verify.ts';
import type { AttachedDomain, DomainSet } from './domain-set.ts';
import { createTurns, nextTurn } from '../base/turns.ts';
import { unavailable } from '../contract/errors.ts';

/** Concurrent checks: enough to overlap DNS latency, few enough not to overload a resolver. */
const TURNS_AT_ONCE = 32;

/**
 * Two timers for all domains. One repeats (daily checks, renewals, daily retries), which lets the clock collapse a jump
 * over years into its last run; the other serves single moments (first attempts, expiry, propagation).
 */
export function createSchedule(options: {
  clock: Pick<Clock, 'now' | 'at' | 'every'>;
  domains: Pick<DomainSet, 'list'>;
  /** Runs what is due for one domain; must not reject. */
  run: (domain: AttachedDomain) => Promise<void>;
}) {
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
    /** Recomputes the next moments; call it after every change. */
    arm,
    /** The same after a domain was added; the cost does not depend on the number of other domains. */
    add(domain: AttachedDomain): void {
      const { dailyMs, onceMs } = momentsOf(domain);
      if (dailyMs < armed.dailyMs || onceMs < armed.onceMs) arm();
    },
    stop(): void {
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

const isCheckDue = ({ nextCheckAtMs }: AttachedDomain, nowMs: EpochMs): boolean =>
  nextCheckAtMs !== null && nextCheckAtMs <= nowMs;

function isDue(domain: AttachedDomain, nowMs: EpochMs): boolean {
  const certificateMs = certificateDueMs(domain.certificate);
  return isCheckDue(domain, nowMs) || (certificateMs !== null && certificateMs <= nowMs);
}

/** Maximum queue for one hostname, for clients that ask faster than checks finish. */
const TURNS_WAITING_MAX = 50;

/** Serialises work per hostname and runs different hostnames concurrently up to a limit. */
function createHostnameTurns() {
  const turns = createTurns(TURNS_AT_ONCE);
  const lines = new Map<string, { last: Promise<unknown>; waiting: number }>();
  return {
    /** @throws VivariumError `unavailable` when the queue of a hostname is full. */
    async run<Result>(hostname: string, work: () => Promise<Result>): Promise<Result> {
      const line = lines.get(hostname) ?? { last: Promise.resolve(), waiting: 0 };
      if (line.waiting >= TURNS_WAITING_MAX) {
        throw unavailable(
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

/** The delay of due work after an internal or store failure, to avoid a tight loop. */
const FAULT_RETRY_MS = 5 * 60_000;

export type DomainWork = ReturnType<typeof createDomainWork>;

/** Work on domains, each in its hostname's turn: what falls due, and what somebody asks for. */
export function createDomainWork(options: {
  clock: Pick<Clock, 'now' | 'at' | 'every'>;
  log: Pick<Log, 'error'>;
  domains: DomainSet;
  verifier: Pick<Verifier, 'verify' | 'certificateDue'>;
  /** @throws VivariumError not_found */
  existing: (text: string) => AttachedDomain;
}) {
  const { clock, log, domains, verifier, existing } = options;
  const turns = createHostnameTurns();

  async function runDue(domain: AttachedDomain): Promise<void> {
    try {
      await turns.run(domain.hostname, async () => {
        const before = domains.current(domain);
        if (before === null) return;
        if (isCheckDue(before, clock.now())) await verifier.verify(before, false);
        await verifier.certificateDue(before);
        await domains.commit();
      });
    } catch (error) {
      postpone(domain, error);
    }
  }

  function postpone(domain: AttachedDomain, error: unknown): void {
    const then = domains.current(domain);
    if (then === null) return;
    log.error('Scheduled work for a domain failed and will be retried', { hostname: domain.hostname, error });
    const atMs = clock.now() + FAULT_RETRY_MS;
    const { nextAttemptAtMs } = then.certificate;
    domains.put({
      ...then,
      nextCheckAtMs: then.nextCheckAtMs === null ? null : Math.max(then.nextCheckAtMs, atMs),
      certificate: {
        ...then.certificate,
        nextAttemptAtMs: nextAttemptAtMs === null ? null : Math.max(nextAttemptAtMs, atMs),
      },
    });
  }

  /** Runs work in the domain's turn and returns the stored result. */
  function inTurn(text: string, work: (domain: AttachedDomain) => Promise<void>): Promise<AttachedDomain> {
    const asked = existing(text);
    return turns.run(asked.hostname, async () => {
      const domain = existing(asked.hostname);
      await work(domain);
      await domains.commit();
      return existing(asked.hostname);
    });
  }

  return { schedule: createSchedule({ clock, domains, run: runDue }), inTurn };
}
