import { describe, expect, it } from 'vitest';
import type { TrafficEntry } from '../../../../main/contract/traffic.ts';
import { createStyle, widthOf } from '../../../../main/cli/text/text.ts';
import { createStreamView, jsonTexts, TrafficRows } from '../../../../main/cli/text/traffic-rows.ts';
import { renderFor } from '../../../../main/cli/words/ask.ts';
import { makeEntry } from '../../../support/page/page-traffic.ts';

const rendererOf = (width: number | null, colour = false) => ({ style: createStyle(colour), width });
const row = (rest: Partial<TrafficEntry> = {}, width: number | null = 100, colour = false) =>
  new TrafficRows().row(makeEntry(1, rest), rendererOf(width, colour));

/** `people.test.ts` tests the time in the time zone of this process. */
const withoutTime = (line: string) => line.replace(/^\d\d:\d\d:\d\d/, 'hh:mm:ss');

describe('a request', () => {
  it('is one line with its columns', () => {
    expect(withoutTime(row())).toBe(`hh:mm:ss  200     GET     /v1/pets?limit=20${' '.repeat(26)}12 ms  demo     api`);
    expect(withoutTime(row({ method: 'OPTIONS' }, null))).toBe(
      `hh:mm:ss  200     OPTIONS  /v1/pets?limit=20           12 ms  demo     api              trf_1`,
    );
  });

  it.each<[Partial<TrafficEntry>, string]>([
    [{}, 'api'],
    [{ answeredBy: 'upstream' }, 'upstream'],
    [{ answeredBy: 'upstream', aborted: true }, 'upstream, cut off'],
    [{ answeredBy: 'upstream', status: 502 }, 'upstream'],
    [{ answeredBy: 'proxy', status: 502 }, 'upstream failed'],
    [{ answeredBy: 'proxy', status: 204 }, 'proxy'],
    [{ status: 429, refusal: 'rate_limit_exceeded', window: 'minute' }, 'minute window'],
    [{ status: 429, refusal: 'rate_limit_exceeded', window: 'day' }, 'day window'],
    [{ status: 429, refusal: 'api_key_banned' }, 'banned key'],
    [{ status: 301, stage: 'redirect', answeredBy: 'proxy' }, 'redirect'],
    [{ status: 401, stage: 'identify', answeredBy: 'proxy' }, 'no valid key'],
    [{ status: 404, stage: 'route', answeredBy: 'proxy' }, 'no project'],
    [{ status: 400, stage: 'listener', answeredBy: 'proxy' }, 'bad request'],
    [{ status: 421, stage: 'authority', answeredBy: 'proxy' }, 'host unclear'],
    [{ status: null, aborted: true }, 'client left'],
  ])('%j was decided by %s', (rest, decider) => {
    expect(row(rest, null)).toContain(`  ${decider}`);
  });

  it.each<[Partial<TrafficEntry>, string]>([
    [{}, 'demo'],
    [{ environment: 'staging' }, 'demo-staging'],
    [{ authority: 'shop.acme.test:8443' }, 'demo'],
    [{ project: undefined, authority: 'nobody.test' }, '–'],
    [{ durationMs: 0.64 }, '0.6 ms'],
    [{ durationMs: 9.96 }, '10 ms'],
    [{ durationMs: 999.6 }, '1.0 s'],
    [{ durationMs: 61_000 }, '61.0 s'],
    [{ durationMs: 3_600_000 }, '3600 s'],
  ])('%j is shown as %s', (rest, text) => {
    expect(row(rest, null).split(/ {2,}/)).toContain(text);
  });

  it.each([30, 40, 60, 80, 100, 140, 200])('fits a terminal of %i cells, and never wraps', (width) => {
    const rows = new TrafficRows();
    const entries = [
      makeEntry(1),
      makeEntry(2, { target: `/v1/pets?q=${'猫'.repeat(200)}`, project: 'a'.repeat(63) }),
      makeEntry(3, { method: 'PROPPATCHED', status: 502, answeredBy: 'proxy', durationMs: 123_456_789 }),
      makeEntry(4, { target: '/a\nb\u001b[2J' }),
    ];
    const lines = [rows.header(rendererOf(width)).line, ...entries.map((entry) => rows.row(entry, rendererOf(width)))];
    for (const line of lines) expect([line, widthOf(line) <= width, line.includes('\n')]).toEqual([line, true, false]);
  });

  it('is not cut in a pipe', () => {
    const long = { target: `/v1/pets?q=${'x'.repeat(300)}`, project: 'a'.repeat(63) };
    for (const text of Object.values(long)) expect(row(long, null)).toContain(text);
  });

  it.each([
    [200, 32],
    [301, 36],
    [404, 33],
    [502, 31],
    [null, 2],
  ])('with status %j has colour %i', (status, code) => {
    expect(row({ status }, 100, true)).toContain(`\u001b[${code}m${status ?? '–'}\u001b[0m`);
  });
});

/** The list of some entries in a terminal, or in a pipe. */
const list = (items: TrafficEntry[], width: number | null = null, colour = false) =>
  renderFor('traffic.list', { items, kept: items.length, recording: true }, rendererOf(width, colour));

describe('the list', () => {
  it('has aligned columns, newest first, with the number of kept entries below', () => {
    const items = [makeEntry(2, { project: 'storefront-app', status: 404 }), makeEntry(1)];
    const text = list(items);
    expect(text.split('\n').map(withoutTime)).toEqual([
      'time      status  method  path                         took  project         decided by       id',
      'hh:mm:ss  404     GET     /v1/pets?limit=20           12 ms  storefront-app  api              trf_2',
      'hh:mm:ss  200     GET     /v1/pets?limit=20           12 ms  demo            api              trf_1',
      '',
      'kept       2',
      'recording  true',
      '',
    ]);
  });

  it('shows the dates if its entries are from several days', () => {
    const items = [makeEntry(2), makeEntry(1, { at: '2027-01-05T09:00:00.000Z', status: 502 })];
    const lines = (colour: boolean) => list(items, null, colour).split('\n');
    expect(lines(false).slice(0, 3)).toEqual([
      expect.stringMatching(/^time {17}status/),
      expect.stringMatching(/^2026-\d\d-\d\d \d\d:\d\d:\d\d {2}200 /),
      expect.stringMatching(/^2027-01-05 \d\d:\d\d:\d\d {2}502 /),
    ]);
    expect(lines(true)[2]).toContain('\u001b[31m502');
  });

  it('names what does not fit', () => {
    expect(list([makeEntry(1)], 60)).toContain('Not shown: took, project, id. --json has everything.\n');
    expect(list([], 60)).toMatch(/^No requests match\. .* project list\n\nkept +0\nrecording {2}true\n$/);
  });
});

describe('the stream', () => {
  const batch = (rest: object) => ({ entries: [], missed: 0, cleared: false, ...rest });
  const MISSED = (count: string) => `${count} arrived too fast to be shown.`;

  it('prints its header once, one request a line, and notices for missed entries', () => {
    const view = createStreamView('traffic.watch');
    const shown = (rest: object) => view.value(batch(rest), rendererOf(null));
    expect(view.header(rendererOf(null))).toMatch(/^time {6}status/);
    const { lines, notices } = shown({ entries: [makeEntry(1), makeEntry(2)] });
    expect([lines.split('\n').length, notices]).toEqual([3, []]);
    expect(shown({ missed: 1 })).toEqual({ lines: '', notices: [MISSED('1 more request')] });
    const both = ['The earlier entries were deleted.', MISSED('1,200 more requests')];
    expect(shown({ missed: 1_200, cleared: true }).notices).toEqual(both);
  });

  it('is one JSON object a line', () => {
    const first = makeEntry(1);
    expect(jsonTexts('traffic.watch', JSON.stringify(batch({ entries: [first], missed: 3, cleared: true })))).toEqual([
      '{"cleared":true}',
      JSON.stringify(first),
      '{"missed":3}',
    ]);
    expect(jsonTexts('events.watch', '{"type":"ready"}')).toEqual(['{"type":"ready"}']);
  });
});
