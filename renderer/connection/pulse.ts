import type { RealTime } from '../shared/time/real-time.ts';

/**
 * A closed socket is noticed at once, but a stopped or blocked engine leaves its socket open. 700 ms between calls plus
 * a 1,000 ms limit detect silence within 2 s.
 */
export const BEAT_INTERVAL_MS = 700;
export const BEAT_ANSWER_MS_MAX = 1_000;

/** After this long without an answer, the connection is replaced. */
export const SILENCE_MS_MAX = 15_000;

export interface PulseOptions {
  time: RealTime;
  /** The cheap call. Any answer, including an error, proves that the engine is alive. */
  beat: () => Promise<void>;
  /** Called when answers stop and when they resume. */
  onChange: (alive: boolean) => void;
  onDead: () => void;
}

/** Repeats the call, one at a time, until stopped or dead. */
export function watchPulse({ time, beat, onChange, onDead }: PulseOptions): { stop(): void } {
  let stopped = false;
  let timer: { cancel(): void } | null = null;

  function schedule(delayMs: number, callback: () => void): void {
    timer?.cancel();
    if (!stopped) timer = time.realTimer(delayMs, callback);
  }

  function ask(): void {
    let silent = false;
    schedule(BEAT_ANSWER_MS_MAX, () => {
      silent = true;
      onChange(false);
      schedule(SILENCE_MS_MAX - BEAT_ANSWER_MS_MAX, () => {
        stopped = true;
        onDead();
      });
    });
    beat()
      .catch(() => undefined)
      .finally(() => {
        if (stopped) return;
        if (silent) onChange(true);
        schedule(BEAT_INTERVAL_MS, ask);
      });
  }

  ask();
  return {
    stop() {
      stopped = true;
      timer?.cancel();
    },
  };
}
