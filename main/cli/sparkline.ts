const BARS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const;

/** Shown where a value is absent. */
const GAP = '·';

/** Limit on bars; longer series show the highest of neighbouring values. */
const BARS_MAX = 40;

/** Shorter lists are easier to read as numbers. */
const SERIES_MIN = 8;

/** A list of numbers over time, with null where there is no value. */
export const isSeries = (list: readonly unknown[]): list is (number | null)[] =>
  list.length >= SERIES_MIN && list.every((value) => value === null || typeof value === 'number');

/** One line for a series: bars from 0 to the highest value, and that value. A dash if it has no value at all. */
export function sparkline(series: readonly (number | null)[]): string {
  if (series.every((value) => value === null)) return '–';
  const step = Math.ceil(series.length / BARS_MAX);
  const highs: (number | null)[] = [];
  for (let start = 0; start < series.length; start += step) {
    const values = series.slice(start, start + step).filter((value) => value !== null);
    highs.push(values.length === 0 ? null : Math.max(...values));
  }
  const highest = Math.max(0, ...highs.map((high) => high ?? 0));
  const bars = highs.map((high) => (high === null ? GAP : barOf(high, highest)));
  return `${bars.join('')}  highest ${Number(highest.toFixed(2))}`;
}

/** Only 0 has the lowest bar, so that a single request among thousands is visible. */
function barOf(value: number, highest: number): string {
  if (value <= 0) return BARS[0];
  return BARS[Math.max(1, Math.ceil((value / highest) * BARS.length) - 1)] ?? BARS[0];
}
