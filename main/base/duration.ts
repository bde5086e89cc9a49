/** Durations are part of the contract: whoever sends or shows one reads them by the same rule. */
export { formatDuration, parseDuration } from '../contract/duration.ts';

export const MINUTE_MS = 60_000;
export const DAY_MS = 86_400_000;
