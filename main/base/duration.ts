/** Durations are part of the contract: whoever sends or shows one reads them by the same rule. */
export { DAY_MS, formatDuration, HOUR_MS, MINUTE_MS, parseDuration } from '../contract/duration.ts';
