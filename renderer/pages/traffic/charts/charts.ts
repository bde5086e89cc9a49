import type { TrafficSummary } from '../../../../main/contract/traffic.ts';
import { formatCount, formatCounted, formatMilliseconds } from '../../../shared/time/format.ts';
import {
  type Chart,
  type ChartRow,
  DASHED,
  DOTTED,
  largest,
  rateChart,
  SOLID,
} from '../../../shared/traffic/rate-chart.ts';

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

const percent = (share: number): string => `${Math.round(share * 100)} %`;

const latency = (ms: number | null): string => (ms === null ? '–' : formatMilliseconds(ms));

export function chartsOf(summary: TrafficSummary): Chart[] {
  const { statuses, latencyMs, quotaUsed, whole } = summary;
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
    rateChart(summary),
    {
      title: 'Answers by status',
      rows: classes,
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
      rows: [{ name: 'Highest', tone: 'water', dash: SOLID, values: quotaUsed, figure: counted ? percent(used) : '–' }],
      topMin: 1,
      format: percent,
      spoken: counted ? `At most ${percent(used)} of a limit was used.` : 'No request was counted.',
    },
  ];
}

function statusRow(name: string, tone: ChartRow['tone'], dash: readonly number[], values: readonly number[]): ChartRow {
  return { name, tone, dash, values, figure: formatCount(sum(values)), filter: `status:${name}` };
}

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
