import { describe, expect, it } from 'vitest';
import type { RowVerdict } from '../../../../../../main/contract/examine.ts';
import type { Verdict } from '../../../../../../main/contract/grades.ts';
import {
  COLUMNS_MAX,
  lookOf,
  readSquare,
  squareBy,
  squaresOf,
  summaryOf,
} from '../../../../../../renderer/pages/break/examine/squares.ts';
import { makeRow } from '../../../../../support/examine/kept-examination.ts';

const row = (name: string, verdict: Verdict, tests: Record<string, Verdict> = {}): RowVerdict => {
  const named = Object.entries(tests).map(([test, each]) => ({ name: test, verdict: each }));
  return makeRow(name, verdict, named);
};

/** As many tests that survived as a suite has. */
const many = (count: number, others: Record<string, Verdict> = {}): Record<string, Verdict> => ({
  ...Object.fromEntries(Array.from({ length: count }, (_, index) => [`test ${index}`, 'survived'])),
  ...others,
});

const shape = (rows: RowVerdict[]) => {
  const { columns, lines, left } = squaresOf({ rows });
  return { columns, left, lines: lines.map(({ run, squares }) => [run, ...squares.map((each) => each?.verdict)]) };
};

describe('the squares of an examination', () => {
  it('have wrong and hung rows first, and remember which run each is', () => {
    const rows = [
      row('slow', 'survived', { a: 'survived', b: 'survived' }),
      row('none', 'not_met'),
      row('twice', 'wrong', { a: 'survived', b: 'wrong' }),
      row('black-hole', 'hung', { a: 'hung' }),
    ];
    expect(shape(rows)).toEqual({
      columns: [['a'], ['b']],
      lines: [
        [3, 'survived', 'wrong'],
        [4, 'hung', undefined],
        [1, 'survived', 'survived'],
        [2, 'not_met', 'not_met'],
      ],
      left: 0,
    });
    expect(summaryOf(rows)).toBe('1 wrong, 1 hung, 1 survived, 1 not met');
    const missed: RowVerdict = { ...row('lost', 'survived'), unexpected: true, expected: ['hung'] };
    expect(summaryOf([missed])).toBe('1 survived, 1 not as expected');
    expect(lookOf(missed)).toEqual({ tone: 'brick', text: 'survived, not as expected' });
    expect([lookOf(rows[0]).text, lookOf(undefined).text]).toEqual(['survived', 'not kept']);
    expect(squaresOf({ rows: [row('slow', 'survived'), missed] }).lines.map(({ run }) => run)).toEqual([2, 1]);
  });

  it('of many tests: those alike share a column, after those that are wrong or hung', () => {
    const { columns, lines } = shape([
      row('slow', 'survived', many(199, { last: 'survived' })),
      row('twice', 'wrong', many(199, { last: 'wrong' })),
    ]);
    expect(columns.map((column) => [column[0], column.length])).toEqual([
      ['last', 1],
      ['test 0', 199],
    ]);
    expect(lines).toEqual([
      [2, 'wrong', 'survived'],
      [1, 'survived', 'survived'],
    ]);
  });

  it('have a bounded number of columns', () => {
    const names = [...Array(300).keys()].map((index) => `test ${index}`);
    const rows = [...Array(10).keys()].map((bit) => {
      const verdicts = names.map((name, at) => [name, at & (1 << bit) ? 'survived' : 'hung'] as const);
      return row(`row ${bit}`, 'survived', Object.fromEntries(verdicts));
    });
    const { columns, left } = squaresOf({ rows });
    expect([columns.length, left]).toEqual([COLUMNS_MAX, 200]);
  });

  it('are reached by keys, from the name of a row to its last test, and no further', () => {
    const { lines } = squaresOf({ rows: [row('a', 'survived', { x: 'survived' }), row('b', 'wrong', { x: 'wrong' })] });
    const from = (run: number, column: number) => (key: string) => squareBy(key, { run, column }, lines);
    expect(['ArrowDown', 'ArrowUp', 'ArrowLeft', 'ArrowRight', 'Home', 'End', 'a'].map(from(2, 0))).toEqual([
      { run: 1, column: 0 },
      { run: 2, column: 0 },
      { run: 2, column: -1 },
      { run: 2, column: 1 },
      { run: 2, column: -1 },
      { run: 2, column: 1 },
      undefined,
    ]);
    expect(['ArrowDown', 'ArrowRight', 'PageUp'].map(from(1, 1))).toEqual([
      { run: 1, column: 1 },
      { run: 1, column: 1 },
      { run: 2, column: 1 },
    ]);
  });

  it.each([
    ['3.1', { run: 3, column: 1 }],
    ['3.-1', { run: 3, column: -1 }],
    ['3', { run: 3, column: 0 }],
    ['x.1', { run: 0, column: 1 }],
    [undefined, { run: 0, column: 0 }],
  ])('are read from an address: %s', (text, square) => {
    expect(readSquare(text)).toEqual(square);
  });
});
