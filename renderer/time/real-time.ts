/**
 * The interface's only touch with real time. It measures and schedules; it never says what time it is: every date
 * that is shown comes from the app's clock.
 */
export interface RealTime {
  /** Real milliseconds since some fixed moment; never goes back. */
  monotonic(): number;
  /** Runs `callback` once after `delayMs`. */
  realTimer(delayMs: number, callback: () => void): { cancel(): void };
}

export const browserTime: RealTime = {
  monotonic: () => performance.now(),
  realTimer(delayMs, callback) {
    const handle = setTimeout(callback, delayMs);
    return { cancel: () => clearTimeout(handle) };
  },
};
