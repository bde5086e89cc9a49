import { createClock } from '../../main/base/clock.ts';
import type { AdjustableClock, ClockSetting, RealTime, Timer } from '../../main/base/clock.ts';

/** A clock whose real time advances only when a test moves it; everything else is the real implementation. */
export interface FakeClock extends AdjustableClock {
  /** Lets real time pass: due timers of both kinds run, in order, and have finished when it resolves. */
  pass(milliseconds: number): Promise<void>;
}

export const FAKE_NOW_MS = Date.UTC(2026, 10, 20, 9, 0, 0);

interface Pending {
  dueMs: number;
  callback: () => void;
}

export function createFakeClock(
  options: { nowMs?: number; setting?: ClockSetting; onError?: (error: unknown) => void } = {},
): FakeClock {
  const startMs = options.nowMs ?? FAKE_NOW_MS;
  let elapsedMs = 0;
  const pending = new Set<Pending>();

  const real: RealTime = {
    now: () => startMs + elapsedMs,
    monotonic: () => elapsedMs,
    schedule(delayMs, callback): Timer {
      const entry = { dueMs: elapsedMs + delayMs, callback };
      pending.add(entry);
      return { cancel: () => pending.delete(entry) };
    },
  };

  const clock = createClock({ real, setting: options.setting, onError: options.onError });
  return Object.assign(clock, {
    async pass(milliseconds: number) {
      const untilMs = elapsedMs + milliseconds;
      for (;;) {
        const next = [...pending].filter((entry) => entry.dueMs <= untilMs).sort((a, b) => a.dueMs - b.dueMs)[0];
        if (next === undefined) break;
        pending.delete(next);
        elapsedMs = Math.max(elapsedMs, next.dueMs);
        next.callback();
        await settle();
      }
      elapsedMs = untilMs;
      await settle();
    },
  });
}

/** Lets ready promise chains run to their end. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
}
