/** Defined in the contract, which lets the renderer and the command line parse and format durations the same way. */
export { DAY_MS, formatDuration, HOUR_MS, MINUTE_MS, parseDuration } from '../contract/duration.ts';
