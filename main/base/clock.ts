/**
 * The app's clock: the only place in Vivarium that touches real time.
 *
 * Everything that has a date or falls due (rate windows, bans, certificates, the Sunset of an operation) reads this
 * clock, so that it can be moved, frozen and reset as a whole. Network time-outs do not: they measure real, monotonic
 * time through `monotonic` and `realTimer`, because a peer that is slow is slow in real life.
 */

// The global of that name is a getter, which the compiler can't see through.
import { performance } from 'node:perf_hooks';

/** A moment in milliseconds since the Unix epoch. */
export type EpochMs = number;

/** Something that was scheduled. `cancel` is idempotent. */
export interface Timer {
  cancel(): void;
}

type TimerCallback = () => void | Promise<void>;

/** What code that cares about time is given. */
export interface Clock {
  /** The app's time, in whole milliseconds. */
  now(): EpochMs;
  /** Real milliseconds since some fixed moment; never goes back. For measuring and for network time-outs. */
  monotonic(): number;
  /** Runs `callback` once when the app's clock reaches `atMs`, at the earliest in the next turn of the event loop. */
  at(atMs: EpochMs, callback: TimerCallback): Timer;
  /**
   * Runs `callback` every `intervalMs` on the app's clock. When the clock jumps, repeats with nothing else due between
   * them collapse into the last one. The first time is `firstAtMs`, or one interval from now.
   */
  every(intervalMs: number, callback: TimerCallback, firstAtMs?: EpochMs): Timer;
  /** Runs `callback` once after `delayMs` of real time, whatever the app's clock does. Does not keep the process alive. */
  realTimer(delayMs: number, callback: () => void): Timer;
}

export interface ClockState {
  now: EpochMs;
  realNow: EpochMs;
  /** `now − realNow` at this moment. */
  offsetMs: number;
  frozen: boolean;
}

/** What must be stored for the clock to be the same after a restart. */
export interface ClockSetting {
  offsetMs: number;
  /** Where the clock stands, when it is frozen. */
  frozenAtMs: EpochMs | null;
}

export interface AdjustableClock extends Clock {
  state(): ClockState;
  setting(): ClockSetting;
  /** Takes over a stored setting, before anything is scheduled; nothing runs, nothing is announced. */
  restore(setting: ClockSetting): void;
  /** Moves the clock forward by `byMs ≥ 0`; timers that fall due on the way have run, in order, when it resolves. */
  advance(byMs: number): Promise<void>;
  /** Moves the clock to `toMs`. Forward as `advance`; backward, nothing runs, and repeating timers re-arm from there. */
  set(toMs: EpochMs): Promise<void>;
  freeze(): void;
  resume(): void;
  /** Back to the real time, and running. */
  reset(): Promise<void>;
  /** Calls `listener` after every adjustment (not for time that just passes). */
  onAdjusted(listener: (change: ClockAdjustment) => void): () => void;
  /** Drops all timers. */
  stop(): void;
}

export interface ClockAdjustment {
  /** True when `now` is earlier than it was. */
  backward: boolean;
  /** How far `now` was moved, in milliseconds; negative when backward, 0 when the clock was frozen or runs again. */
  movedMs: number;
}

/** The source of real time; replaced in tests. */
export interface RealTime {
  now(): EpochMs;
  monotonic(): number;
  schedule(delayMs: number, callback: () => void): Timer;
}

/** The years a clock can show: ISO 8601 with four digits, and far from the edges of what X.509 can write. */
export const CLOCK_MIN_MS: EpochMs = Date.UTC(1970, 0, 1);
export const CLOCK_MAX_MS: EpochMs = Date.UTC(9000, 0, 1);

/** The longest real sleep before the clock looks again: a laptop that slept, or a corrected system time, is noticed within it. */
const REAL_SLEEP_MS_MAX = 30_000;

/** A jump runs at most this many timers; beyond it something reschedules itself without end, and the jump says so. */
const JUMP_CALLBACKS_MAX = 1_000_000;

export const realTime: RealTime = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  schedule(delayMs, callback) {
    const handle = setTimeout(callback, delayMs);
    handle.unref();
    return { cancel: () => clearTimeout(handle) };
  },
};

interface Scheduled {
  atMs: EpochMs;
  /** Order of scheduling, so that timers of the same moment run in the order they were made. */
  sequence: number;
  intervalMs: number | null;
  callback: TimerCallback;
}

export interface ClockOptions {
  real?: RealTime;
  setting?: ClockSetting;
  /** Told when a timer's callback throws or rejects; the clock goes on. */
  onError?: (error: unknown) => void;
}

export function createClock(options: ClockOptions = {}): AdjustableClock {
  const real = options.real ?? realTime;
  const onError = options.onError ?? (() => undefined);
  const listeners = new Set<(change: ClockAdjustment) => void>();
  const timers = new Set<Scheduled>();
  let { offsetMs, frozenAtMs } = options.setting ?? { offsetMs: 0, frozenAtMs: null };
  let sequence = 0;
  let wakeUp: Timer | null = null;
  /** Adjustments run one after another: a second `advance` waits for the timers of the first. */
  let adjusting: Promise<void> = Promise.resolve();
  /** While a jump runs its timers, `now` is the moment of the timer that is running. */
  let jumpNowMs: EpochMs | null = null;

  const now = (): EpochMs => jumpNowMs ?? frozenAtMs ?? real.now() + offsetMs;

  function earliest(): Scheduled | null {
    let first: Scheduled | null = null;
    for (const timer of timers) {
      if (first === null || timer.atMs < first.atMs || (timer.atMs === first.atMs && timer.sequence < first.sequence)) {
        first = timer;
      }
    }
    return first;
  }

  function arm(): void {
    wakeUp?.cancel();
    wakeUp = null;
    if (frozenAtMs !== null || jumpNowMs !== null) return;
    const first = earliest();
    if (first === null) return;
    const delayMs = Math.min(Math.max(first.atMs - now(), 0), REAL_SLEEP_MS_MAX);
    wakeUp = real.schedule(delayMs, () => {
      adjusting = adjusting
        .then(() => runDue(now()))
        .catch(onError)
        .then(arm);
    });
  }

  /** Moves a repeating timer on to its last repeat before something else falls due, or before `limitMs`. */
  function collapse(timer: Scheduled, intervalMs: number, limitMs: EpochMs): void {
    let untilMs = limitMs;
    for (const other of timers) {
      if (other !== timer && other.atMs > timer.atMs && other.atMs < untilMs) untilMs = other.atMs;
    }
    const repeats = Math.floor((untilMs - timer.atMs) / intervalMs);
    if (repeats > 0) timer.atMs += repeats * intervalMs;
  }

  async function runDue(limitMs: EpochMs, onEach?: (atMs: EpochMs) => void): Promise<void> {
    let callbacks = 0;
    for (;;) {
      const timer = earliest();
      if (timer === null || timer.atMs > limitMs) return;
      if (++callbacks > JUMP_CALLBACKS_MAX) {
        throw new Error(
          `More than ${JUMP_CALLBACKS_MAX} timers fell due in one jump of the clock; it stops at ${iso(now())}.`,
        );
      }
      if (timer.intervalMs === null) timers.delete(timer);
      else collapse(timer, timer.intervalMs, limitMs);
      onEach?.(timer.atMs);
      const dueMs = timer.atMs;
      if (timer.intervalMs !== null) {
        timer.atMs = dueMs + timer.intervalMs;
        timer.sequence = sequence++;
      }
      try {
        await timer.callback();
      } catch (error) {
        onError(error);
      }
    }
  }

  function adjust(change: () => Promise<number>): Promise<void> {
    const run = adjusting.then(async () => {
      const movedMs = await change();
      arm();
      announce(movedMs);
    });
    adjusting = run.catch(() => undefined);
    return run;
  }

  function announce(movedMs: number): void {
    for (const listener of listeners) listener({ backward: movedMs < 0, movedMs });
  }

  /** Moves to the moment that `target` makes of the present one; by how much that is. */
  async function jump(target: (fromMs: EpochMs) => EpochMs): Promise<number> {
    // One reading of the real time, so that an advance by 48 hours moves the offset by exactly 48 hours.
    const realNowMs = real.now();
    const fromMs = frozenAtMs ?? realNowMs + offsetMs;
    const toMs = target(fromMs);
    if (!Number.isFinite(toMs) || toMs < CLOCK_MIN_MS || toMs > CLOCK_MAX_MS) {
      throw new RangeError(`The clock can show ${iso(CLOCK_MIN_MS)} to ${iso(CLOCK_MAX_MS)}.`);
    }
    if (toMs < fromMs) {
      // A repeat that was waiting for a moment far in the old future would otherwise sleep until then.
      for (const timer of timers) {
        if (timer.intervalMs !== null) timer.atMs = Math.min(timer.atMs, toMs + timer.intervalMs);
      }
    } else {
      await runOnTheWay(fromMs, toMs);
    }
    if (frozenAtMs !== null) frozenAtMs = toMs;
    offsetMs = toMs - realNowMs;
    return toMs - fromMs;
  }

  async function runOnTheWay(fromMs: EpochMs, toMs: EpochMs): Promise<void> {
    wakeUp?.cancel();
    jumpNowMs = fromMs;
    try {
      await runDue(toMs, (atMs) => {
        jumpNowMs = Math.max(atMs, fromMs);
      });
    } finally {
      jumpNowMs = null;
    }
  }

  function schedule(entry: Omit<Scheduled, 'sequence'>): Timer {
    const timer: Scheduled = { ...entry, sequence: sequence++ };
    timers.add(timer);
    arm();
    return {
      cancel() {
        if (timers.delete(timer)) arm();
      },
    };
  }

  return {
    now,
    monotonic: () => real.monotonic(),
    at: (atMs, callback) => schedule({ atMs, intervalMs: null, callback }),
    every(intervalMs, callback, firstAtMs) {
      if (!(intervalMs > 0)) throw new RangeError('A repeating timer needs an interval above zero.');
      return schedule({ atMs: firstAtMs ?? now() + intervalMs, intervalMs, callback });
    },
    realTimer: (delayMs, callback) => real.schedule(delayMs, callback),
    state() {
      const realNow = real.now();
      const shown = jumpNowMs ?? frozenAtMs ?? realNow + offsetMs;
      return { now: shown, realNow, offsetMs: shown - realNow, frozen: frozenAtMs !== null };
    },
    setting: () => ({ offsetMs, frozenAtMs }),
    restore(setting) {
      ({ offsetMs, frozenAtMs } = setting);
      arm();
    },
    advance(byMs) {
      if (!(byMs >= 0))
        return Promise.reject(new RangeError('The clock advances by zero or more; use set to go back.'));
      return adjust(() => jump((fromMs) => fromMs + byMs));
    },
    set: (toMs) => adjust(() => jump(() => toMs)),
    freeze() {
      frozenAtMs ??= now();
      arm();
      announce(0);
    },
    resume() {
      if (frozenAtMs === null) return;
      offsetMs = frozenAtMs - real.now();
      frozenAtMs = null;
      arm();
      announce(0);
    },
    reset: () =>
      adjust(async () => {
        const movedMs = await jump(() => real.now());
        frozenAtMs = null;
        offsetMs = 0;
        return movedMs;
      }),
    onAdjusted(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    stop() {
      timers.clear();
      wakeUp?.cancel();
      wakeUp = null;
    },
  };
}

const iso = (atMs: EpochMs): string => new Date(atMs).toISOString();
