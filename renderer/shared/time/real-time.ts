/**
 * The interface's only access to real time, for measuring and scheduling. Displayed dates come from the app's clock.
 */
export interface RealTime {
  /** Real milliseconds since a fixed moment; monotonic. */
  monotonic(): number;
  realTimer(delayMs: number, callback: () => void): { cancel(): void };
}

export const browserTime: RealTime = {
  monotonic: () => performance.now(),
  realTimer(delayMs, callback) {
    const handle = setTimeout(callback, delayMs);
    return { cancel: () => clearTimeout(handle) };
  },
};
