import type { EpochMs } from '../base/clock.ts';
import { MINUTE_MS } from '../contract/duration.ts';

/**
 * How often something is tried that has not succeeded: an interval for each part of the time since it began, in order.
 * After the last part it is given up.
 */
export type Rhythm = readonly { readonly everyMs: number; readonly untilMs: number }[];

/** The interval at which ACME clients retry a failed validation; given up after half an hour. */
export const ISSUANCE_RHYTHM: Rhythm = [{ everyMs: 5 * MINUTE_MS, untilMs: 30 * MINUTE_MS }];

/** How long a rhythm lasts, in milliseconds. */
export const lengthOf = (rhythm: Rhythm): number => rhythm.at(-1)?.untilMs ?? 0;

/** The next try of a series that began at `sinceMs`; null when it is over. */
export function nextTry(rhythm: Rhythm, sinceMs: EpochMs, nowMs: EpochMs): EpochMs | null {
  const part = rhythm.find(({ untilMs }) => nowMs - sinceMs < untilMs);
  return part === undefined ? null : Math.min(nowMs + part.everyMs, sinceMs + lengthOf(rhythm));
}

/** A rhythm from the waits between its tries, in milliseconds. */
export function rhythmOf(waitsMs: readonly number[]): Rhythm {
  let untilMs = 0;
  return waitsMs.map((everyMs) => ({ everyMs, untilMs: (untilMs += everyMs) }));
}
