// @vitest-environment ./test/support/page-environment.ts
import { describe, expect, it } from 'vitest';
import { chartsOf, TABLE_HEADS, tableOf } from '../../../../../renderer/pages/traffic/charts/charts.ts';
import { filterOf, rangeOf } from '../../../../../renderer/shared/traffic/rate-chart.ts';
import { TrafficCharts } from '../../../../../renderer/shared/traffic/traffic-charts.svelte.ts';
import { settle } from '../../../../support/fake-clock.ts';
import { pageParts } from '../../../../support/page/page-parts.ts';
import { makeSummary } from '../../../../support/page/page-traffic.ts';

describe('the charts of traffic', () => {
  it('label their lines with figures, and put everything into a sentence', () => {
    const charts = chartsOf(makeSummary());
    expect(charts.map(({ title, format, spoken }) => [title, format(2), spoken])).toEqual([
      ['Requests per second', '2 a second', '20 requests, 4 of them refused, 1 failed; at most 2 a second.'],
      ['Answers by status', '2 answers', '2xx: 15, 3xx: 0, 4xx: 4, 5xx: 1.'],
      [
        'Total response time',
        '2.0 ms',
        'Half of the requests took 2.4 ms at most, nine of ten 20 ms, 99 of 100 1,180 ms.',
      ],
      ['Quota used by the caller closest to its limit', '200 %', 'At most 100 % of a limit was used.'],
    ]);
    const filters = charts.slice(0, 2).flatMap(({ rows }) => rows.map(({ filter }) => filter));
    expect(filters).toEqual(['', 'status:429', 'is:failed', 'status:2xx', 'status:3xx', 'status:4xx', 'status:5xx']);
    expect(charts[0]?.rows[0]?.values).toEqual([0, 2, 2, 0]);
  });

  it('distinguish lines of one chart by more than their colour', () => {
    for (const { rows } of chartsOf(makeSummary())) {
      expect(new Set(rows.map(({ dash }) => dash.join())).size).toBe(rows.length);
    }
  });

  it('tell when there was no traffic', () => {
    const empty = makeSummary({
      requests: [0, 0, 0, 0],
      quotaUsed: [null, null, null, null],
      whole: { requests: 0, refused: 0, failed: 0, p50: null, p90: null, p99: null },
    });
    const spoken = chartsOf(empty).map((chart) => chart.spoken);
    expect(spoken.slice(2)).toEqual(['Nothing was measured.', 'No request was counted.']);
    expect(tableOf(empty)).toEqual([]);
  });

  it('are also a table: the steps with any traffic, latest first', () => {
    const table = tableOf(makeSummary());
    expect(table).toEqual([
      { step: 2, agoSeconds: 10, cells: ['10', '4', '5', '0', '4', '1', '3.0 ms', '40 ms', '1,204 ms', '100 %'] },
      { step: 1, agoSeconds: 15, cells: ['10', '0', '10', '0', '0', '0', '2.0 ms', '4.0 ms', '9.0 ms', '40 %'] },
    ]);
    expect(table[0]?.cells).toHaveLength(TABLE_HEADS.length);
  });

  it('are read again when one of the engine’s steps ends', async () => {
    const { time, calls, source, tell } = pageParts({ 'traffic.summary': () => makeSummary() });
    const charts = new TrafficCharts({ ...source, projectId: 'prj_demo', minutes: 15 });
    await settle();
    expect(calls).toEqual([{ procedure: 'traffic.summary', input: { projectId: 'prj_demo', minutes: 15 } }]);
    await time.pass(3_999);
    expect(calls).toHaveLength(1);
    await time.pass(100);
    expect(calls).toHaveLength(2);
    const range = rangeOf(makeSummary(), 1, 2);
    charts.zoom(range);
    await settle();
    expect(calls.at(-1)?.input).toEqual({ projectId: 'prj_demo', minutes: 15, ...range });
    await time.pass(20_000);
    expect(calls).toHaveLength(3);
    charts.zoom(undefined);
    await settle();
    await time.pass(4_100);
    expect(calls).toHaveLength(5);
    await tell('limits.changed');
    expect(calls).toHaveLength(6);
    charts.close();
    await time.pass(20_000);
    expect(calls).toHaveLength(6);
  });

  it('link steps to the requests of their time', () => {
    expect(filterOf(rangeOf(makeSummary(), 1, 2))).toBe(
      'since:2026-11-22T09:59:45.000Z until:2026-11-22T09:59:55.000Z',
    );
  });
});
