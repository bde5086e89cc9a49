import type { RealTime } from '../time/real-time.ts';

/**
 * A closed socket shows at once; a stopped or blocked engine does not, its socket stays open. 700 ms between beats and
 * 1,000 ms of patience make silence visible within 2 s.
 */
export const BEAT_INTERVAL_MS = 700;
export const BEAT_ANSWER_MS_MAX = 1_000;

/** An engine that has not answered for this long is given up, and a new connection tried. */
export const SILENCE_MS_MAX = 15_000;

export interface PulseOptions {
  time: RealTime;
  /** The cheap call. An answer of any kind, an error too, shows that the engine lives. */
  beat: () => Promise<void>;
  /** Told when answers cease to come, and when they come again. */
  onChange: (alive: boolean) => void;
  onDead: () => void;
}

/** Asks again and again, one call at a time, until stopped or dead. */
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
