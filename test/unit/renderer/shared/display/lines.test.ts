import { describe, expect, it } from 'vitest';
import { linesOf } from '../../../../../renderer/shared/display/lines.ts';

const paths = (values: (number | null)[], topMin = 1, filled = false) => linesOf([{ values, filled }], topMin).lines[0];

describe('chart lines', () => {
  it.each([
    { of: 'rising values', values: [0, 1, 2], line: 'M0,100L500,51L1000,2' },
    { of: 'values with a gap', values: [2, 2, null, 2, 2], line: 'M0,2L250,2M750,2L1000,2' },
    { of: 'a value between gaps', values: [null, 2, null], line: 'M500,2Z' },
    { of: 'zeros only, which would cover the others', values: [0, null, 0], line: '' },
    { of: 'zeros around a value', values: [0, 0, 2, 0, 0], line: 'M250,100L500,2L750,100' },
    { of: 'nothing', values: [], line: '' },
  ])('of $of', ({ values, line }) => {
    expect(paths(values)?.line).toBe(line);
  });

  it('share one scale, up to the given maximum at least', () => {
    const { lines } = linesOf([{ values: [1, 1] }, { values: [4, 4] }], 2);
    expect(lines.map(({ line }) => line)).toEqual(['M0,75.5L1000,75.5', 'M0,2L1000,2']);
    expect(paths([1, 1], 2)?.line).toBe('M0,51L1000,51');
  });

  it.each([
    [0.4, 1],
    [1.2, 2],
    [5, 6],
    [9, 10],
    [10, 10],
    [234, 400],
    [999, 1_000],
  ])('with a maximum of %d have a scale up to %d, which halves well', (value, top) => {
    expect(linesOf([{ values: [value] }], 0).top).toBe(top);
  });

  it('are filled down to the axis on request', () => {
    expect(paths([1, 1], 1, true)?.area).toBe('M0,2L1000,2L1000,100L0,100Z');
    expect(paths([1, 1, null, 2], 1, true)?.area).toBe('M0,51L333.3,51L333.3,100L0,100ZM1000,2L1000,100L1000,100Z');
    expect(paths([1, 1])?.area).toBe('');
  });

  it('have a point for each value only if there are few', () => {
    expect(paths([null, 1, null])?.points).toBe('M500.0,2.0h0');
    expect(paths(Array.from({ length: 30 }, () => 1))?.points).toBe('');
  });
});
