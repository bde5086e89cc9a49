/** The progress seen by the last check, and since when it has not changed. */
export interface StallMark {
  progress: number;
  /** Monotonic. */
  sinceMs: number;
}

/**
 * How long `watched` has made no progress at `nowMs`, on the monotonic clock; 0 if it has moved since the last check.
 * `progress` is any number that changes with every movement.
 */
export function stalledMs(watched: { seen: StallMark | null }, progress: number, nowMs: number): number {
  if (watched.seen?.progress !== progress) watched.seen = { progress, sinceMs: nowMs };
  return nowMs - watched.seen.sinceMs;
}
