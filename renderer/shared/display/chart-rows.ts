import type { TrafficSummary } from '../../../main/contract/traffic.ts';
import type { Tone } from './tone.ts';
import type { TimeRange } from '../traffic/traffic-charts.svelte.ts';
import { formatCount, formatCounted, formatMilliseconds } from '../time/format.ts';

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

const SOLID: readonly number[] = [];
const DASHED: readonly number[] = [6, 3];
const DOTTED: readonly number[] = [2, 3];

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

const largest = (rows: readonly Pick<ChartRow, 'values'>[]): number =>
  rows.reduce((most, { values }) => values.reduce<number>((top, value) => Math.max(top, value ?? 0), most), 0);

/** `12 a second`, with one decimal below ten, so 0.2 does not become 0. */
export const rate = (value: number): string =>
  `${value > 0 && value < 10 ? value.toFixed(1) : formatCount(Math.round(value))} a second`;

/** The total of a line that shows values per second. */
const inAll = (count: number): string => `${formatCount(count)} in all`;

const percent = (share: number): string => `${Math.round(share * 100)} %`;

const latency = (ms: number | null): string => (ms === null ? '–' : formatMilliseconds(ms));

export function chartsOf(summary: TrafficSummary): Chart[] {
  const { stepSeconds, requests, refused, statuses, latencyMs, quotaUsed, whole } = summary;
  const perSecond = (counts: readonly number[]): number[] => counts.map((count) => count / stepSeconds);
  const rates: ChartRow[] = [
    {
      name: 'Requests',
      tone: 'moss',
      dash: SOLID,
      values: perSecond(requests),
      figure: inAll(whole.requests),
      filter: '',
    },
    {
      name: 'Refused',
      tone: 'brick',
      dash: DASHED,
      values: perSecond(refused),
      figure: inAll(whole.refused),
      filter: 'status:429',
    },
  ];
  const classes: ChartRow[] = [
    statusRow('2xx', 'moss', SOLID, statuses['2xx']),
    statusRow('3xx', 'water', DOTTED, statuses['3xx']),
    statusRow('4xx', 'amber', DASHED, statuses['4xx']),
    statusRow('5xx', 'brick', [8, 2, 2, 2], statuses['5xx']),
  ];
  const latencies: ChartRow[] = [
    { name: 'p50', tone: 'moss', dash: SOLID, values: latencyMs.p50, figure: latency(whole.p50) },
    { name: 'p90', tone: 'water', dash: DASHED, values: latencyMs.p90, figure: latency(whole.p90) },
    { name: 'p99', tone: 'amber', dash: DOTTED, values: latencyMs.p99, figure: latency(whole.p99) },
  ];
  const used = largest([{ values: quotaUsed }]);
  const counted = quotaUsed.some((share) => share !== null);
  return [
    {
      title: 'Requests per second',
      rows: rates,
      topMin: 1,
      format: rate,
      spoken: `${formatCounted(whole.requests, 'request', 'requests')}, ${formatCount(whole.refused)} of them refused; at most ${rate(largest(rates))}.`,
    },
    {
      title: 'Answers by status',
      rows: classes,
      // The middle tick must be a whole number.
      topMin: 2,
      format: (value) => formatCounted(value, 'answer', 'answers'),
      spoken: `${classes.map(({ name, figure }) => `${name}: ${figure}`).join(', ')}.`,
    },
    {
      title: 'Total response time',
      rows: latencies,
      topMin: 1,
      format: formatMilliseconds,
      spoken:
        whole.p50 === null
          ? 'Nothing was measured.'
          : `Half of the requests took ${latency(whole.p50)} at most, nine of ten ${latency(whole.p90)}, 99 of 100 ${latency(whole.p99)}.`,
    },
    {
      title: 'Quota used by the caller closest to its limit',
      rows: [{ name: 'At most', tone: 'water', dash: SOLID, values: quotaUsed, figure: counted ? percent(used) : '–' }],
      topMin: 1,
      format: percent,
      spoken: counted ? `At most ${percent(used)} of a limit was used.` : 'No request was counted.',
    },
  ];
}

function statusRow(name: string, tone: ChartRow['tone'], dash: readonly number[], values: readonly number[]): ChartRow {
  return { name, tone, dash, values, figure: formatCount(sum(values)), filter: `status:${name}` };
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

/** One row of the table that repeats the charts' values as text. */
export interface TableRow {
  /** Its position among the steps. */
  step: number;
  /** The age of the step's start, in seconds. */
  agoSeconds: number;
  cells: readonly string[];
}

export const TABLE_HEADS = ['Requests', 'Refused', '2xx', '3xx', '4xx', '5xx', 'p50', 'p90', 'p99', 'Quota used'];

/** The steps with any traffic, the latest first. */
export function tableOf({
  stepSeconds,
  requests,
  refused,
  statuses,
  latencyMs,
  quotaUsed,
}: TrafficSummary): TableRow[] {
  return requests
    .map((count, index) => ({
      count,
      step: index,
      agoSeconds: (requests.length - index) * stepSeconds,
      cells: [
        formatCount(count),
        ...[refused, statuses['2xx'], statuses['3xx'], statuses['4xx'], statuses['5xx']].map((counts) =>
          formatCount(counts[index] ?? 0),
        ),
        ...[latencyMs.p50, latencyMs.p90, latencyMs.p99].map((times) => latency(times[index] ?? null)),
        quotaUsed[index] === null || quotaUsed[index] === undefined ? '–' : percent(quotaUsed[index]),
      ],
    }))
    .filter(({ count }) => count > 0)
    .reverse()
    .map(({ step, agoSeconds, cells }) => ({ step, agoSeconds, cells }));
}
