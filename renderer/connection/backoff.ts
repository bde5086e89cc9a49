const FIRST_MS = 250;

/** The page should notice a restarted Vivarium within this time. */
export const BACKOFF_MS_MAX = 4_000;

/** The delay before reconnect attempt `attempt` (from 1), in milliseconds: 250, 500, 1,000, 2,000, then 4,000. */
export function backoffMs(attempt: number): number {
  return Math.min(BACKOFF_MS_MAX, FIRST_MS * 2 ** Math.max(0, attempt - 1));
}
