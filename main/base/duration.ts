/** Durations are part of the contract: whoever sends or shows one reads them by the same rule. */
export { formatDuration, parseDuration } from '../contract/duration.ts';
