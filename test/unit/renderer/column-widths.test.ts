import { describe, expect, it } from 'vitest';
import { readWidths, tracksOf, withWidth } from '../../../renderer/state/column-widths.ts';

describe('the widths of columns', () => {
  it.each([
    [{}, false, '1.75rem 5.5rem minmax(8rem, 1fr) 6.5rem 7rem 2.75rem'],
    [{}, true, '1.75rem 10.5rem minmax(8rem, 1fr) 10.5rem 7rem 2.75rem'],
    [{ id: 80 }, true, '1.75rem 80px minmax(8rem, 1fr) 10.5rem 7rem 2.75rem'],
    [{ name: 300 }, false, '1.75rem 5.5rem 300px 6.5rem 7rem minmax(2.75rem, 1fr)'],
  ])('%j, with long numbers: %s, are %s', (widths, isLong, tracks) => {
    expect(tracksOf(widths, isLong)).toBe(tracks);
  });

  it('stay within bounds, and go back to their own', () => {
    expect(withWidth({ id: 80 }, 'name', 3)).toEqual({ id: 80, name: 56 });
    expect(withWidth({}, 'id', 99_999.4)).toEqual({ id: 1_600 });
    expect(withWidth({ id: 80, name: 90 }, 'id', undefined)).toEqual({ name: 90 });
  });

  it.each([
    [undefined, {}],
    [
      { id: 80, name: 1e9, actions: 5, status: 'wide' },
      { id: 80, name: 1_600 },
    ],
    [7, {}],
    ['id', {}],
    [[80], {}],
  ])('remembered as %j are read as %j', (kept, widths) => {
    expect(readWidths(kept)).toEqual(widths);
  });
});
