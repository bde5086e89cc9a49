/**
 * The app's clock: the only code in Vivarium that reads real time.
 *
 * Everything with a date or deadline (rate windows, bans, certificates, the Sunset of an operation) reads this clock,
 * so all of it moves, freezes and resets together. Network time-outs use real, monotonic time through `monotonic` and
 * `realTimer` instead, because a slow peer is slow in real time.
 */

// TypeScript cannot narrow the global of that name, which is a getter.
import { iso } from '../contract/values.ts';
import { performance } from 'node:perf_hooks';

/** A moment in milliseconds since the Unix epoch. */
export type EpochMs = number;

/** A scheduled callback. `cancel` is idempotent. */
export interface Timer {
  cancel(): void;
}

type TimerCallback = () => void | Promise<void>;

/** The clock interface for code that only reads time and sets timers. */
export interface Clock {
  /** The app's time, in whole milliseconds. */
  now(): EpochMs;
  /** Real milliseconds since an arbitrary moment; never decreases. For measuring and for network time-outs. */
  monotonic(): number;
  /** Runs `callback` once when the app's clock reaches `atMs`, and no earlier than the next turn of the event loop. */
  at(atMs: EpochMs, callback: TimerCallback): Timer;
  /**
   * Runs `callback` every `intervalMs` on the app's clock, first at `firstAtMs` or after one interval. When the clock
   * jumps, repeats without other timers due between them collapse into the last one.
   */
  every(intervalMs: number, callback: TimerCallback, firstAtMs?: EpochMs): Timer;
  /** Runs `callback` once after `delayMs` of real time. Does not keep the process alive. */
  realTimer(delayMs: number, callback: () => void): Timer;
}

export interface ClockState {
  now: EpochMs;
  realNow: EpochMs;
  /** `now − realNow`. */
  offsetMs: number;
  frozen: boolean;
}

/** The state to store, which restores the clock after a restart. */
export interface ClockSetting {
  offsetMs: number;
  /** The app's time while frozen; null otherwise. */
  frozenAtMs: EpochMs | null;
}

export type AdjustableClock = ReturnType<typeof createClock>;

export interface ClockAdjustment {
  /** True if `now` decreased. */
  backward: boolean;
  /** How far `now` moved, in milliseconds: negative if backward, 0 for freezing and unfreezing. */
  movedMs: number;
  /** Whether it returned to the real time. */
  isReset: boolean;
}

/** The source of real time; tests replace it. */
export interface RealTime {
  now(): EpochMs;
  monotonic(): number;
  schedule(delayMs: number, callback: () => void): Timer;
}

/** The range of the clock: four-digit years (ISO 8601), well within what X.509 can express. */
export const CLOCK_MIN_MS: EpochMs = Date.UTC(1970, 0, 1);
export const CLOCK_MAX_MS: EpochMs = Date.UTC(9000, 0, 1);

/** The longest real sleep before checking the time again, after the machine slept or its time was corrected. */
const REAL_SLEEP_MS_MAX = 30_000;

/** Limit on timers in one jump. Beyond it, a timer must be rescheduling itself endlessly, and the jump fails. */
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

/** Waits in real time, while the process stays; an abort ends the wait early. */
export const sleep = (delayMs: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    // Electron wakes Node's loop for this timer, not for that of `node:timers/promises` (its lib/common/init.ts).
    const timer = setTimeout(end, signal?.aborted === true ? 0 : delayMs);
    signal?.addEventListener('abort', end);
  });

interface Scheduled {
  atMs: EpochMs;
  /** The order of scheduling, which also orders timers that are due at the same moment. */
  sequence: number;
  intervalMs: number | null;
  callback: TimerCallback;
}

export interface ClockOptions {
  real?: RealTime;
  setting?: ClockSetting;
  /** Called if a timer's callback throws or rejects; the clock continues. */
  onError?: (error: unknown) => void;
}

function createSchedule(onError: (error: unknown) => void) {
  const timers = new Set<Scheduled>();
  let sequence = 0;

  function earliest(): Scheduled | null {
    let first: Scheduled | null = null;
    for (const timer of timers) {
      if (first === null || timer.atMs < first.atMs || (timer.atMs === first.atMs && timer.sequence < first.sequence)) {
        first = timer;
      }
    }
    return first;
  }

  /** Advances a repeating timer to its last repeat before another timer is due, or before `limitMs`. */
  function collapse(timer: Scheduled, intervalMs: number, limitMs: EpochMs): void {
    let untilMs = limitMs;
    for (const other of timers) {
      if (other !== timer && other.atMs > timer.atMs && other.atMs < untilMs) untilMs = other.atMs;
    }
    const repeats = Math.floor((untilMs - timer.atMs) / intervalMs);
    if (repeats > 0) timer.atMs += repeats * intervalMs;
  }

  return {
    earliest,
    add(entry: Omit<Scheduled, 'sequence'>): Scheduled {
      const timer: Scheduled = { ...entry, sequence: sequence++ };
      timers.add(timer);
      return timer;
    },
    remove: (timer: Scheduled): boolean => timers.delete(timer),
    clear: (): void => timers.clear(),
    /** After a step back: a repeating timer would wait until its due time in the former future. */
    moveBack(toMs: EpochMs): void {
      for (const timer of timers) {
        if (timer.intervalMs !== null) timer.atMs = Math.min(timer.atMs, toMs + timer.intervalMs);
      }
    },
    async runDue(limitMs: EpochMs, onEach: (atMs: EpochMs) => void = () => undefined): Promise<void> {
      let callbacks = 0;
      let reachedMs = limitMs;
      for (;;) {
        const timer = earliest();
        if (timer === null || timer.atMs > limitMs) return;
        if (++callbacks > JUMP_CALLBACKS_MAX) {
          throw new Error(
            `More than ${JUMP_CALLBACKS_MAX} timers fell due in one jump of the clock; it stops at ${iso(reachedMs)}.`,
          );
        }
        if (timer.intervalMs === null) timers.delete(timer);
        else collapse(timer, timer.intervalMs, limitMs);
        reachedMs = timer.atMs;
        onEach(reachedMs);
        if (timer.intervalMs !== null) {
          timer.atMs += timer.intervalMs;
          timer.sequence = sequence++;
        }
        try {
          await timer.callback();
        } catch (error) {
          onError(error);
        }
      }
    },
  };
}

/** What a clock shows. */
interface Hands extends ClockSetting {
  /** During a jump, the due time of the running timer; null otherwise. */
  jumpNowMs: EpochMs | null;
  store: (setting: ClockSetting) => void;
}

/** Moves to `target(now)`, past all timers that are due on the way; returns the difference. */
async function jump(
  hands: Hands,
  options: { real: RealTime; schedule: ReturnType<typeof createSchedule>; isReset?: boolean },
  target: (fromMs: EpochMs) => EpochMs,
): Promise<number> {
  const { real, schedule, isReset = false } = options;
  // Read once, so that an advance by 48 hours moves the offset by exactly 48 hours.
  const realNowMs = real.now();
  const former = { offsetMs: hands.offsetMs, frozenAtMs: hands.frozenAtMs };
  const fromMs = former.frozenAtMs ?? realNowMs + former.offsetMs;
  const toMs = target(fromMs);
  if (!Number.isFinite(toMs) || toMs < CLOCK_MIN_MS || toMs > CLOCK_MAX_MS) {
    throw new RangeError(`The clock can show ${iso(CLOCK_MIN_MS)} to ${iso(CLOCK_MAX_MS)}.`);
  }
  const next = (): ClockSetting =>
    isReset
      ? { offsetMs: 0, frozenAtMs: null }
      : { offsetMs: toMs - realNowMs, frozenAtMs: hands.frozenAtMs === null ? null : toMs };
  const stored = next();
  hands.store(stored);
  if (toMs < fromMs) schedule.moveBack(toMs);
  else {
    hands.jumpNowMs = fromMs;
    try {
      await schedule.runDue(toMs, (atMs) => {
        hands.jumpNowMs = Math.max(atMs, fromMs);
      });
    } catch (error) {
      hands.store(former);
      throw error;
    } finally {
      hands.jumpNowMs = null;
    }
  }
  const setting = next();
  // Frozen, or no longer, on the way.
  if ((setting.frozenAtMs === null) !== (stored.frozenAtMs === null)) hands.store(setting);
  Object.assign(hands, setting);
  return toMs - fromMs;
}

export function createClock(options: ClockOptions = {}) {
  const { real = realTime, onError = () => undefined } = options;
  const listeners = new Set<(change: ClockAdjustment) => void>();
  const schedule = createSchedule(onError);
  const hands: Hands = {
    ...(options.setting ?? { offsetMs: 0, frozenAtMs: null }),
    jumpNowMs: null,
    store: () => undefined,
  };
  let wakeUp: Timer | null = null;
  /** Serialises adjustments: a second `advance` waits for the timers of the first. */
  let adjusting: Promise<void> = Promise.resolve();

  const now = (): EpochMs => hands.jumpNowMs ?? hands.frozenAtMs ?? real.now() + hands.offsetMs;

  function sleepNoMore(): void {
    wakeUp?.cancel();
    wakeUp = null;
  }

  function arm(): void {
    sleepNoMore();
    if (hands.frozenAtMs !== null || hands.jumpNowMs !== null) return;
    const first = schedule.earliest();
    if (first === null) return;
    const delayMs = Math.min(Math.max(first.atMs - now(), 0), REAL_SLEEP_MS_MAX);
    wakeUp = real.schedule(delayMs, () => {
      adjusting = adjusting
        .then(() => schedule.runDue(now()))
        .catch(onError)
        .then(arm);
    });
  }

  function inTurn(work: () => void | Promise<void>): Promise<void> {
    const run = adjusting.then(work);
    adjusting = run.catch(() => undefined);
    return run;
  }

  const adjust = (target: (fromMs: EpochMs) => EpochMs, isReset = false): Promise<void> =>
    inTurn(async () => {
      const movedMs = await jump(hands, { real, schedule, isReset }, target);
      arm();
      announce(movedMs, isReset);
    });

  function announce(movedMs: number, isReset = false): void {
    for (const listener of listeners) listener({ backward: movedMs < 0, movedMs, isReset });
  }

  function apply(setting: ClockSetting): void {
    hands.store(setting);
    Object.assign(hands, setting);
    arm();
    announce(0);
  }

  function begin(entry: Omit<Scheduled, 'sequence'>): Timer {
    const timer = schedule.add(entry);
    arm();
    return {
      cancel() {
        if (schedule.remove(timer)) arm();
      },
    };
  }

  return {
    now,
    monotonic: () => real.monotonic(),
    at: (atMs: EpochMs, callback: TimerCallback) => begin({ atMs, intervalMs: null, callback }),
    every(intervalMs: number, callback: TimerCallback, firstAtMs?: EpochMs) {
      if (!(intervalMs > 0)) throw new RangeError('A repeating timer needs an interval above zero.');
      return begin({ atMs: firstAtMs ?? now() + intervalMs, intervalMs, callback });
    },
    realTimer: (delayMs: number, callback: () => void) => real.schedule(delayMs, callback),
    state(): ClockState {
      const realNow = real.now();
      const shown = hands.jumpNowMs ?? hands.frozenAtMs ?? realNow + hands.offsetMs;
      return { now: shown, realNow, offsetMs: shown - realNow, frozen: hands.frozenAtMs !== null };
    },
    setting: (): ClockSetting => ({ offsetMs: hands.offsetMs, frozenAtMs: hands.frozenAtMs }),
    /**
     * Restores a stored setting: before anything is scheduled, or where all timers are set anew. Runs no timers and
     * notifies no listeners.
     */
    restore(setting: ClockSetting): void {
      ({ offsetMs: hands.offsetMs, frozenAtMs: hands.frozenAtMs } = setting);
      arm();
    },
    /** Runs `work` while no adjustment is under way and no timer's callback runs. */
    between: (work: () => void): Promise<void> => inTurn(work),
    /** Moves the clock forward by `byMs ≥ 0`; resolves after all timers due on the way have run, in order. */
    advance(byMs: number): Promise<void> {
      if (!(byMs >= 0))
        return Promise.reject(new RangeError('The clock advances by zero or more; use set to go back.'));
      return adjust((fromMs) => fromMs + byMs);
    },
    /** Moves the clock to `toMs`: forward like `advance`; backward, runs nothing and re-arms repeating timers. */
    set: (toMs: EpochMs) => adjust(() => toMs),
    freeze: () => apply({ offsetMs: hands.offsetMs, frozenAtMs: hands.frozenAtMs ?? now() }),
    resume(): void {
      if (hands.frozenAtMs !== null) apply({ offsetMs: hands.frozenAtMs - real.now(), frozenAtMs: null });
    },
    /** Returns to real time, and unfreezes. */
    reset: () => adjust(() => real.now(), true),
    /** Stores each adjustment before it takes effect; what can't be stored is not done. */
    storeWith: (given: Hands['store']) => void (hands.store = given),
    /** Calls `listener` after every adjustment, but not as time passes. */
    onAdjusted(listener: (change: ClockAdjustment) => void): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    stop(): void {
      schedule.clear();
      sleepNoMore();
    },
  };
}
