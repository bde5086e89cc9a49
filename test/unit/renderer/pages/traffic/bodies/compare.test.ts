import { describe, expect, it } from 'vitest';
import { compareEntries, compareLines, differs } from '../../../../../../renderer/pages/traffic/bodies/compare.ts';
import { makeDetail } from '../../../../../support/page/page-traffic.ts';

const shown = (left: string, right: string): string =>
  compareLines([...left], [...right])
    .map((line) => `${line.left ?? '_'}${differs(line) ? '≠' : '='}${line.right ?? '_'}`)
    .join(' ');

describe('two texts', () => {
  it.each([
    ['', '', ''],
    ['abc', 'abc', 'a=a b=b c=c'],
    ['abc', 'axc', 'a=a b≠x c=c'],
    ['abc', 'ac', 'a=a b≠_ c=c'],
    ['ac', 'abc', 'a=a _≠b c=c'],
    ['a', 'aa', 'a=a _≠a'],
    ['aa', 'a', 'a=a a≠_'],
    ['xaby', 'zabqw', 'x≠z a=a b=b y≠q _≠w'],
    ['abcd', 'cdab', 'a≠_ b≠_ c=c d=d _≠a _≠b'],
  ])('%j and %j have equal lines side by side', (left, right, lines) => {
    expect(shown(left, right)).toBe(lines);
  });

  it('are compared at any length', () => {
    const lines = (letter: string) => Array.from({ length: 3_000 }, (_, index) => `${letter}${index}`);
    expect(compareLines(lines('a'), lines('b'))).toHaveLength(3_000);
  });
});

it('two entries are compared by answer, body, headers and request', () => {
  const responseBody = { text: '{"code":"invalid"}', encoding: 'utf8', bytes: 18, cut: false } as const;
  const parts = compareEntries(makeDetail(1), makeDetail(2, { status: 400, responseBody })).map(
    ({ title, lines }) => `${title}: ${lines.filter(differs).length} of ${lines.length}`,
  );
  expect(parts).toEqual([
    ...['Response: 1 of 2', 'Response body: 3 of 3', 'Response headers: 0 of 1'],
    ...['Request: 0 of 2', 'Request headers: 0 of 3'],
  ]);
});

it('the header fields of two entries are compared by name', () => {
  const [a, b, c] = [
    ['A', '1'],
    ['B', '2'],
    ['b', '3'],
  ].map(([name = '', value = '']) => ({ name, value }));
  const headers = (...fields: (typeof a)[]) => makeDetail(1, { responseHeaders: fields as never });
  const [, , { lines } = { lines: [] }] = compareEntries(headers(b, a), headers(a, c));
  expect(lines).toEqual([
    { left: 'A: 1', right: 'A: 1' },
    { left: 'B: 2', right: 'b: 3' },
  ]);
});
