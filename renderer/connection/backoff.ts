const FIRST_MS = 250;

/** A person who has just started Vivarium again should not wait longer than this for the page to notice. */
export const BACKOFF_MS_MAX = 4_000;

/** How long to wait before attempt `attempt` (from 1) to reconnect, in milliseconds: 250, 500, 1,000, 2,000, then 4,000. */
export function backoffMs(attempt: number): number {
  return Math.min(BACKOFF_MS_MAX, FIRST_MS * 2 ** Math.max(0, attempt - 1));
}
