/** What the last look at something that should move saw: how far it was, and since when it has been there. */
export interface StallMark {
  progress: number;
  /** Monotonic. */
  sinceMs: number;
}

/**
 * How long `watched` has stood still at `nowMs`, on the monotonic clock; 0 when it has moved since the last look.
 * `progress` is any number that changes with every movement.
 */
export function stalledMs(watched: { seen: StallMark | null }, progress: number, nowMs: number): number {
  if (watched.seen?.progress !== progress) watched.seen = { progress, sinceMs: nowMs };
  return nowMs - watched.seen.sinceMs;
}
