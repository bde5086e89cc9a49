import { describe, expect, it } from 'vitest';
import type { PropagatingRRset, RecordInfo } from '../../../../../../main/contract/zones.ts';
import {
  answeredUntil,
  filterRows,
  pendingAt,
  rowsOf,
  shorten,
  shownRows,
  type RecordRow,
} from '../../../../../../renderer/pages/dns/records/record-rows.ts';

const NOW = '2026-11-20T09:00:00.000Z';
const SOON = '2026-11-20T10:00:00.000Z';
const LATER = '2026-11-20T11:00:00.000Z';

/** A record as `name TTL type value`. */
function record(line: string, rest: Partial<RecordInfo> = {}): RecordInfo {
  const [name = '', ttl = '', type = '', ...words] = line.split(' ');
  const value = words.join(' ');
  const common = { id: line, zone: 'acme.test', name, type: type as RecordInfo['type'], ttl: Number(ttl), value };
  return { ...common, visibleAt: NOW, ...rest };
}

/** States of an RRset as `TTL value` each: the first now, the others at the moments. */
function rrset(key: string, now: string[], ...changes: [at: string, answered: string[]][]): PropagatingRRset {
  const [name = '', type = ''] = key.split(' ');
  const answered = (lines: string[]) =>
    lines.map((line) => {
      const [ttl = '', ...words] = line.split(' ');
      return { ttl: Number(ttl), value: words.join(' ') };
    });
  return {
    name,
    type: type as RecordInfo['type'],
    answered: answered(now),
    changes: changes.map(([at, lines]) => ({ at, answered: answered(lines) })),
  };
}

/** Rows as lines, followed by their pending changes. */
const shown = (rows: readonly RecordRow[]): string[] =>
  rows.map(({ name, ttl, type, value, propagation }) => {
    const line = `${name} ${ttl} ${type} ${value}`;
    if (propagation === undefined) return line;
    const at = new Date(propagation.atMs).toISOString().slice(11, 13);
    const until =
      propagation.kind === 'leaving' ? 'leaves' : `until then ${answeredUntil({ value }, propagation.answered)}`;
    return `${line} | ${at} h, ${until}`;
  });

describe('the rows of a zone', () => {
  it('are in the order of names: the apex first, then each name with those below it', () => {
    const lines = [
      'www 60 A 192.0.2.1',
      'a-b 60 A 192.0.2.1',
      '_dmarc.mail 60 TXT x',
      '@ 60 TXT x',
      'mail 60 AAAA ::1',
      'mail 60 A 192.0.2.1',
      '@ 60 ALIAS x.test',
      'x.a 60 A 192.0.2.1',
      'a 60 A 192.0.2.1',
      '*.mail 60 A 192.0.2.1',
    ];
    expect(
      shown(
        rowsOf(
          lines.map((line) => record(line)),
          [],
        ),
      ),
    ).toEqual([
      '@ 60 ALIAS x.test',
      '@ 60 TXT x',
      'a 60 A 192.0.2.1',
      'x.a 60 A 192.0.2.1',
      'a-b 60 A 192.0.2.1',
      'mail 60 A 192.0.2.1',
      'mail 60 AAAA ::1',
      '*.mail 60 A 192.0.2.1',
      '_dmarc.mail 60 TXT x',
      'www 60 A 192.0.2.1',
    ]);
  });

  it.each([
    [
      'a new record: nothing until then',
      [record('new 60 A 192.0.2.1', { visibleAt: SOON })],
      [rrset('new A', [], [SOON, ['60 192.0.2.1']])],
      ['new 60 A 192.0.2.1 | 10 h, until then nothing'],
    ],
    [
      'a changed value: the old one until then, without a separate row',
      [record('www 60 A 192.0.2.2', { visibleAt: SOON })],
      [rrset('www A', ['60 192.0.2.1'], [SOON, ['60 192.0.2.2']])],
      ['www 60 A 192.0.2.2 | 10 h, until then 192.0.2.1'],
    ],
    [
      'a changed TTL: the old TTL until then',
      [record('www 60 A 192.0.2.1', { visibleAt: SOON })],
      [rrset('www A', ['3600 192.0.2.1'], [SOON, ['60 192.0.2.1']])],
      ['www 60 A 192.0.2.1 | 10 h, until then TTL 3600'],
    ],
    [
      'a removed record, still answered',
      [],
      [rrset('www A', ['60 192.0.2.1'], [SOON, []])],
      ['www 60 A 192.0.2.1 | 10 h, leaves'],
    ],
    [
      'a removed record beside one that is new later',
      [record('www 60 A 192.0.2.2', { visibleAt: LATER })],
      [rrset('www A', ['60 192.0.2.1'], [SOON, []], [LATER, ['60 192.0.2.2']])],
      ['www 60 A 192.0.2.2 | 11 h, until then 192.0.2.1', 'www 60 A 192.0.2.1 | 10 h, leaves'],
    ],
    [
      'a record that was removed and put back: answered all along',
      [record('www 60 A 192.0.2.1', { visibleAt: SOON })],
      [rrset('www A', ['60 192.0.2.1'], [SOON, ['60 192.0.2.1']])],
      ['www 60 A 192.0.2.1'],
    ],
    [
      'a CNAME in the place of an address, which are two RRsets',
      [record('www 60 CNAME x.test', { visibleAt: SOON })],
      [rrset('www A', ['60 192.0.2.1'], [SOON, []]), rrset('www CNAME', [], [SOON, ['60 x.test']])],
      ['www 60 CNAME x.test | 10 h, until then nothing', 'www 60 A 192.0.2.1 | 10 h, leaves'],
    ],
  ])('show pending changes: %s', (_what, records, propagating, rows) => {
    expect(shown(rowsOf(records, propagating))).toEqual(rows);
  });

  it('count the changes pending at a moment, and find when the last becomes visible', () => {
    const rows = rowsOf(
      [record('a 60 A 192.0.2.1', { visibleAt: SOON }), record('b 60 A 192.0.2.1', { visibleAt: LATER })],
      [rrset('a A', [], [SOON, ['60 192.0.2.1']]), rrset('b A', [], [LATER, ['60 192.0.2.1']])],
    );
    expect(pendingAt(rows, Date.parse(NOW))).toEqual({ count: 2, lastAtMs: Date.parse(LATER) });
    expect(pendingAt(rows, Date.parse(SOON))).toMatchObject({ count: 1 });
    expect(pendingAt(rows, Date.parse(LATER))).toBeUndefined();
  });

  it.each([
    ['', '', 3],
    ['WWW', '', 2],
    ['www txt', '', 1],
    ['192.0.2', '', 1],
    ['', 'TXT', 2],
    ['nothing like it', '', 0],
  ])('are found by %j among %j', (search, type, count) => {
    const rows = shownRows([
      { name: 'www', type: 'A', ttl: 60, value: '192.0.2.1' },
      { name: 'www', type: 'TXT', ttl: 60, value: 'Hello' },
      { name: '@', type: 'TXT', ttl: 60, value: 'Hello' },
    ]);
    expect(filterRows(rows, { search, type })).toHaveLength(count);
  });

  it('shorten long values', () => {
    const answered = ['1', '2', '3', '4'].map((value) => ({ ttl: 60, value }));
    expect(answeredUntil({ value: 'x' }, answered)).toBe('1, 2, 3 and 1 more');
    expect(shorten('x'.repeat(61))).toBe(`${'x'.repeat(59)}…`);
  });
});
