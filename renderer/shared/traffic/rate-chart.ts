import type { TrafficSummary } from '../../../main/contract/traffic.ts';
import type { Tone } from '../display/tone.ts';
import { formatCount, formatCounted } from '../time/format.ts';
import type { TimeRange } from './traffic-charts.svelte.ts';

export interface ChartRow {
  name: string;
  tone: Exclude<Tone, 'neutral'>;
  /** Dash and gap lengths in pixels, so lines differ by more than colour. */
  dash: readonly number[];
  values: readonly (number | null)[];
  /** The total over the range, in words. */
  figure: string;
  /** The filter of Traffic that finds its requests; undefined if none does. */
  filter?: string;
}

export interface Chart {
  title: string;
  rows: readonly ChartRow[];
  topMin: number;
  /** A value of its lines with the unit. */
  format: (value: number) => string;
  /** The text alternative for screen readers. */
  spoken: string;
}

export const SOLID: readonly number[] = [];
export const DASHED: readonly number[] = [6, 3];
export const DOTTED: readonly number[] = [2, 3];

export const largest = (rows: readonly Pick<ChartRow, 'values'>[]): number =>
  rows.reduce((most, { values }) => values.reduce<number>((top, value) => Math.max(top, value ?? 0), most), 0);

/** `12 a second`, with a decimal below ten, so 0.2 does not become 0. */
export const rate = (value: number): string =>
  `${value < 10 ? Math.round(value * 10) / 10 : formatCount(Math.round(value))} a second`;

/** The requests, those that were refused, and those that failed. */
export function rateChart({ stepSeconds, requests, refused, statuses, whole }: TrafficSummary): Chart {
  const row = (
    look: Pick<ChartRow, 'name' | 'tone' | 'dash' | 'filter'>,
    counts: readonly number[],
    total: number,
  ) => ({
    ...look,
    values: counts.map((count) => count / stepSeconds),
    figure: `${formatCount(total)} in all`,
  });
  const failed = statuses['5xx'].map((count, step) => count + (statuses.none[step] ?? 0));
  const rates: ChartRow[] = [
    row({ name: 'Requests', tone: 'moss', dash: SOLID, filter: '' }, requests, whole.requests),
    row({ name: 'Refused', tone: 'amber', dash: DASHED, filter: 'status:429' }, refused, whole.refused),
    row({ name: 'Failed', tone: 'brick', dash: DOTTED, filter: 'is:failed' }, failed, whole.failed),
  ];
  return {
    title: 'Requests per second',
    rows: rates,
    topMin: 1,
    format: rate,
    spoken: `${formatCounted(whole.requests, 'request', 'requests')}, ${formatCount(whole.refused)} of them refused, ${formatCount(whole.failed)} failed; at most ${rate(largest(rates))}.`,
  };
}

/** The real time of the steps from one index to another, both included. */
export function rangeOf(
  { stepSeconds, until, requests }: Pick<TrafficSummary, 'stepSeconds' | 'until' | 'requests'>,
  from: number,
  to: number,
): TimeRange {
  const endOf = (step: number): number => Date.parse(until) - (requests.length - 1 - step) * stepSeconds * 1_000;
  return { since: new Date(endOf(from - 1)).toISOString(), until: new Date(endOf(to)).toISOString() };
}

/** The filter of Traffic that finds the requests of a range. */
export const filterOf = ({ since, until }: TimeRange): string => `since:${since} until:${until}`;
