import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../main/contract/duration.ts';

export { formatSpan } from '../../../main/contract/duration.ts';

const SECOND_MS = 1_000;

const TIME_OF_DAY = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' } as const;
const DATE = { day: 'numeric', month: 'short', year: 'numeric' } as const;

/** A formatter costs about 0.1 ms and clocks tick, so one is cached per form and zone (a handful). */
const formatters = new Map<string, Intl.DateTimeFormat>();

function format(atMs: number, form: string, options: Intl.DateTimeFormatOptions, timeZone: string | undefined): string {
  const key = `${form} ${timeZone ?? ''}`;
  let formatter = formatters.get(key);
  if (formatter === undefined) {
    formatter = new Intl.DateTimeFormat('en-GB', { ...options, timeZone });
    formatters.set(key, formatter);
  }
  return formatter.format(atMs);
}

/** `20 Nov 2026`, in the reader's time zone by default. */
export const formatDate = (atMs: number, timeZone?: string): string => format(atMs, 'date', DATE, timeZone);

/** `09:00:42`. */
export const formatTimeOfDay = (atMs: number, timeZone?: string): string => format(atMs, 'time', TIME_OF_DAY, timeZone);

/** `20 Nov 2026, 09:00:42`. */
export const formatMoment = (atMs: number, timeZone?: string): string =>
  format(atMs, 'moment', { ...DATE, ...TIME_OF_DAY }, timeZone);

/** A smaller distance is `now`, because values are refreshed every second. */
const NOW_MS = 2_000;

/** The distance to a moment in one unit: `now`, `42 s ago`, `in 3 min`, `2 days ago`, `in 5 months`. */
export function formatRelative(atMs: number, nowMs: number): string {
  const distanceMs = Math.abs(atMs - nowMs);
  if (distanceMs < NOW_MS) return 'now';
  const [, unitMs, one, many] = RELATIVE_UNITS.find(([fromMs]) => distanceMs >= fromMs) ?? [0, SECOND_MS, 's', 's'];
  // Rounds the future up, as in countdowns, and the past down; months and years, whose length varies, to the nearest.
  const round = unitMs > DAY_MS ? Math.round : atMs > nowMs ? Math.ceil : Math.floor;
  const count = round(distanceMs / unitMs);
  const span = `${formatCount(count)} ${count === 1 ? one : many}`;
  return atMs > nowMs ? `in ${span}` : `${span} ago`;
}

/** The distance to a recorded moment. One that the app's clock, set back since, has yet to reach is shown in full. */
export const formatPast = (atMs: number, nowMs: number): string =>
  atMs - nowMs < NOW_MS ? formatRelative(atMs, nowMs) : formatMoment(atMs);

/** The minimum distance, the length and the names of each unit. Larger units start at two: `90 s`, then `2 min`. */
const RELATIVE_UNITS = [
  [2 * 365 * DAY_MS, 365 * DAY_MS, 'year', 'years'],
  [60 * DAY_MS, 30 * DAY_MS, 'month', 'months'],
  [2 * DAY_MS, DAY_MS, 'day', 'days'],
  [2 * HOUR_MS, HOUR_MS, 'h', 'h'],
  [2 * MINUTE_MS, MINUTE_MS, 'min', 'min'],
] as const;

const counts = new Intl.NumberFormat('en-GB');

/** `1,204`. */
export const formatCount = (count: number): string => counts.format(count);

/** `1 pet`, `30 pets`. */
export const formatCounted = (count: number, one: string, many: string): string =>
  `${formatCount(count)} ${count === 1 ? one : many}`;

const BYTE_UNITS = ['B', 'kB', 'MB', 'GB'] as const;

/** `8 B`, `12 kB`, `60.4 MB`: decimal units, as in file managers. */
export function formatBytes(bytes: number): string {
  const power = bytes < 1_000 ? 0 : Math.min(BYTE_UNITS.length - 1, Math.floor(Math.log10(bytes) / 3));
  const amount = bytes / 1_000 ** power;
  return `${power < 2 ? Math.round(amount) : amount.toFixed(1)} ${BYTE_UNITS[power] ?? 'B'}`;
}

/** `0.4 ms`, `12 ms`, `1,204 ms`: one decimal below ten. */
export const formatMilliseconds = (ms: number): string => `${ms < 10 ? ms.toFixed(1) : formatCount(Math.round(ms))} ms`;

const thousandths = (atMs: number): string => String(Math.floor(atMs) % SECOND_MS).padStart(3, '0');

/** `09:00:42.123`: orders events within a second. */
export const formatInstant = (atMs: number, timeZone?: string): string =>
  `${formatTimeOfDay(atMs, timeZone)}.${thousandths(atMs)}`;

/** `20 Nov 2026, 09:00:42.123`. */
export const formatExactMoment = (atMs: number, timeZone?: string): string =>
  `${formatMoment(atMs, timeZone)}.${thousandths(atMs)}`;
