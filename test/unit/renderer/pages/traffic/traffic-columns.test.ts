import { describe, expect, it } from 'vitest';
import {
  COLUMNS,
  DEFAULT_COLUMNS,
  fitColumns,
  nextSort,
  readSort,
  sortEntries,
  tracksOf,
  type ColumnId,
} from '../../../../../renderer/pages/traffic/traffic-columns.ts';
import { makeEntry } from '../../../../support/page/page-traffic.ts';

describe('the columns of the entries', () => {
  it.each([
    ['all', 90, 'time method status target host project caller took size'],
    ['all', 55, 'time method status target host project took'],
    ['all', 46, 'time method status target host took'],
    ['all', 33, 'method status target took'],
    ['all', 5, 'status target'],
    ['project', 60, 'time method status target caller took size'],
    ['project', 40, 'time method status target took'],
    ['project', 25, 'method status target'],
  ] as const)('of %s in %s root sizes are %s', (scope, width, ids) => {
    const fitting = fitColumns(COLUMNS, DEFAULT_COLUMNS[scope], width);
    expect(fitting.map(({ id }) => id).join(' ')).toBe(ids);
  });

  it('share the remaining width', () => {
    expect(tracksOf(COLUMNS.slice(2, 4))).toBe('3.5rem minmax(min(15rem, 100%), 5fr)');
  });
});

describe('the order of the entries', () => {
  it.each([
    ['method', 'method', '-method', ''],
    ['took', '-took', 'took', ''],
    ['time', 'time', '', 'time'],
  ] as const)('by %s goes %s, %s, and %j', (id, ...steps) => {
    let sort = '';
    for (const step of steps) {
      sort = nextSort(readSort(sort), id);
      expect(sort).toBe(step);
    }
  });

  it('of an address may be missing', () => {
    expect([readSort(undefined), readSort('size!'), readSort('-time')]).toEqual([undefined, undefined, undefined]);
  });

  const entries = [
    makeEntry(5, { status: null, target: '/z', authority: null }),
    makeEntry(4, { status: 500, method: 'PUT', keyId: 'key_b', responseBytes: 9 }),
    makeEntry(3, { status: 200, requestBytes: 4, address: '::1', realAt: '2026-11-20T08:00:00.000Z' }),
    makeEntry(2, { status: 500, stage: 'limit', durationMs: 1 }),
    makeEntry(1, { projectId: 'prj_a', authority: 'a.test' }),
  ];
  const names = {
    callerOf: ({ keyId = '' }) => (keyId === 'key_b' ? 'Älpha' : 'Beta'),
    projectOf: ({ projectId = '' }) => (projectId === 'prj_a' ? 'A' : undefined),
  };

  it.each([
    ['status', '3 1 4 2 5'],
    ['-status', '4 2 3 1 5'],
    ['-method', '4 5 3 2 1'],
    ['target', '4 3 2 1 5'],
    ['host', '1 4 3 2 5'],
    ['project', '1 5 4 3 2'],
    ['stage', '5 4 3 1 2'],
    ['caller', '5 3 2 1 4'],
    ['address', '5 4 2 1 3'],
    ['took', '2 5 4 3 1'],
    ['-sent', '3 5 4 2 1'],
    ['-size', '4 5 3 2 1'],
    ['time', '3 5 4 2 1'],
  ])('by %s is %s', (text, order) => {
    const sort = readSort(text);
    const sorted = sort === undefined ? [] : sortEntries(entries, sort, names);
    expect(sorted.map(({ id }) => id.replace('trf_', '')).join(' ')).toBe(order);
  });

  it('exists for every column', () => {
    expect(COLUMNS.map(({ id }): ColumnId | undefined => readSort(id)?.column.id)).toEqual(COLUMNS.map(({ id }) => id));
  });
});
