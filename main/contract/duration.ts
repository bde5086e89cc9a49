export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

const UNITS_MS = { W: 7 * DAY_MS, D: DAY_MS, H: HOUR_MS, M: MINUTE_MS, S: 1_000 } as const;

const DURATION = /^(-?)P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d{1,3})?)S)?)?$/;

/**
 * Milliseconds of an ISO 8601 duration such as `PT48H`, `P2D` or `PT0.5S`, also with a leading minus. @throws
 * RangeError for any other text.
 */
export function parseDuration(text: string): number {
  const match = DURATION.exec(text);
  if (match === null || !/\d/.test(text) || text.endsWith('T')) {
    throw new RangeError(`"${text}" is not an ISO 8601 duration such as "PT10M" or "P2D".`);
  }
  const [, sign, weeks, days, hours, minutes, seconds] = match;
  const milliseconds =
    Number(weeks ?? 0) * UNITS_MS.W +
    Number(days ?? 0) * UNITS_MS.D +
    Number(hours ?? 0) * UNITS_MS.H +
    Number(minutes ?? 0) * UNITS_MS.M +
    Math.round(Number(seconds ?? 0) * UNITS_MS.S);
  if (!Number.isSafeInteger(milliseconds)) throw new RangeError(`The duration "${text}" is too long.`);
  return sign === '-' && milliseconds !== 0 ? -milliseconds : milliseconds;
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
