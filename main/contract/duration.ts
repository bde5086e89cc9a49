export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

const UNITS_MS = { W: 7 * DAY_MS, D: DAY_MS, H: HOUR_MS, M: MINUTE_MS, S: 1_000 } as const;

const ISO_DURATION =
  /^(-?)P(?=\d|T\d)(?:(\d+)W)?(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d{1,3})?)S)?)?$/;

/** Units as people write them, also in the plural. A lone capital M is refused: it could be months. */
const TYPED_UNITS_MS: ReadonlyMap<string, number> = new Map([
  ['ms', 1],
  ...['s', 'sec', 'second'].map((unit) => [unit, UNITS_MS.S] as const),
  ...['m', 'min', 'minute'].map((unit) => [unit, UNITS_MS.M] as const),
  ...['h', 'hr', 'hour'].map((unit) => [unit, UNITS_MS.H] as const),
  ...['d', 'day'].map((unit) => [unit, UNITS_MS.D] as const),
  ...['w', 'week'].map((unit) => [unit, UNITS_MS.W] as const),
]);

const TYPED_PART = /(\d+(?:\.\d+)?)\s*([a-z]+)/gi;

/** What a duration may look like, phrased to follow "must be". */
export const DURATION_FORMS =
  'a duration such as "10m", "48 hours", "1d2h", or "PT10M" (ISO 8601), in units from weeks to milliseconds';

/**
 * Milliseconds of a duration: ISO 8601 such as `PT48H`, `P2D` or `PT0.5S`, also with a leading minus; or as people
 * write it: `10m`, `48 hours`, `1d2h`, `1 day and 2 hours`. Months and years are refused because their length varies.
 * @throws RangeError for any other text.
 */
export function parseDuration(text: string): number {
  const milliseconds = isoMilliseconds(text) ?? typedMilliseconds(text);
  if (milliseconds === null) throw new RangeError(`"${text}" is not ${DURATION_FORMS}.`);
  if (!Number.isSafeInteger(milliseconds)) throw new RangeError(`The duration "${text}" is too long.`);
  return milliseconds;
}

/** Whether `text` is in ISO 8601, without a sign. */
export const isIsoDuration = (text: string): boolean => !text.startsWith('-') && ISO_DURATION.test(text);

function isoMilliseconds(text: string): number | null {
  const match = ISO_DURATION.exec(text);
  if (match === null) return null;
  const [, sign, weeks, days, hours, minutes, seconds] = match;
  const milliseconds =
    Number(weeks ?? 0) * UNITS_MS.W +
    Number(days ?? 0) * UNITS_MS.D +
    Number(hours ?? 0) * UNITS_MS.H +
    Number(minutes ?? 0) * UNITS_MS.M +
    Math.round(Number(seconds ?? 0) * UNITS_MS.S);
  return sign === '-' && milliseconds !== 0 ? -milliseconds : milliseconds;
}

function typedMilliseconds(text: string): number | null {
  const words = text.trim().replaceAll(/\band\b|[,+]/gi, ' ');
  const parts = [...words.matchAll(TYPED_PART)];
  if (parts.length === 0 || words.replaceAll(TYPED_PART, '').trim() !== '') return null;
  let milliseconds = 0;
  for (const [, count, word = ''] of parts) {
    const unit = word.toLowerCase();
    const unitMs = word === 'M' ? undefined : (TYPED_UNITS_MS.get(unit) ?? TYPED_UNITS_MS.get(unit.replace(/s$/, '')));
    if (unitMs === undefined) return null;
    milliseconds += Number(count) * unitMs;
  }
  return Math.round(milliseconds);
}

/** The ISO 8601 form of `milliseconds` in hours, minutes and seconds: `PT48H`, `-PT1H30M`, `PT0S`. */
export function formatDuration(milliseconds: number): string {
  const rounded = Math.round(milliseconds);
  if (rounded === 0) return 'PT0S';
  const total = Math.abs(rounded);
  const hours = Math.floor(total / UNITS_MS.H);
  const minutes = Math.floor((total % UNITS_MS.H) / UNITS_MS.M);
  const seconds = (total % UNITS_MS.M) / UNITS_MS.S;
  const text = `PT${hours > 0 ? `${hours}H` : ''}${minutes > 0 ? `${minutes}M` : ''}${seconds > 0 ? `${seconds}S` : ''}`;
  return rounded < 0 ? `-${text}` : text;
}

/** Below this, a waiting user wants to see seconds. */
const SECONDS_SHOWN_BELOW_MS = 10 * MINUTE_MS;

/**
 * A duration in at most two units, rounded up to the smaller: `42 s`, `3 min 5 s`, `13 h 5 min`, `2 days 4 h`. Rounded
 * up, because a countdown must not show 0 before its end, except for one second beyond whole minutes or hours, so a day
 * does not show as `24 h 1 min` on a clock that ticks by seconds.
 */
export function formatSpan(milliseconds: number): string {
  const ms = Math.max(0, milliseconds);
  const unitMs = ms < SECONDS_SHOWN_BELOW_MS ? UNITS_MS.S : ms < 2 * DAY_MS ? MINUTE_MS : HOUR_MS;
  const rounded = Math.ceil((unitMs === UNITS_MS.S ? ms : ms - UNITS_MS.S) / unitMs) * unitMs;
  if (rounded < MINUTE_MS) return `${rounded / UNITS_MS.S} s`;
  if (rounded < HOUR_MS) return pair(rounded, MINUTE_MS, 'min', UNITS_MS.S, 's');
  if (rounded < 2 * DAY_MS) return pair(rounded, HOUR_MS, 'h', MINUTE_MS, 'min');
  return pair(rounded, DAY_MS, 'days', HOUR_MS, 'h');
}

function pair(ms: number, largeMs: number, large: string, smallMs: number, small: string): string {
  const larges = Math.floor(ms / largeMs).toLocaleString('en');
  const smalls = Math.floor((ms % largeMs) / smallMs);
  return smalls === 0 ? `${larges} ${large}` : `${larges} ${large} ${smalls} ${small}`;
}

/** How far a clock is from the real time, as `formatSpan`: `1 min ahead`, `2 days 4 h behind`, `none`. */
export function formatOffset(milliseconds: number): string {
  const span = formatSpan(Math.abs(milliseconds));
  return milliseconds === 0 ? 'none' : `${span} ${milliseconds < 0 ? 'behind' : 'ahead'}`;
}
