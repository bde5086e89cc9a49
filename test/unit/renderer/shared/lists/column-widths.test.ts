import { describe, expect, it } from 'vitest';
import { readWidths, withWidth, type ColumnWidths } from '../../../../../renderer/shared/lists/column-sizes.svelte.ts';
import { ALL_FIELDS } from '../../../../../main/contract/pet-fields.ts';
import { petTracks } from '../../../../../renderer/pages/pets/grid/pet-columns.ts';
import {
  fitColumns,
  sizedColumns,
  tracksOf,
  type ColumnId,
} from '../../../../../renderer/pages/traffic/traffic-columns.ts';

describe('the widths of columns', () => {
  it.each([
    [{}, false, '1.75rem 3.25rem minmax(9rem, 1fr) 5rem 6rem 2.75rem'],
    [{}, true, '1.75rem 10.5rem minmax(9rem, 1fr) 10.5rem 6rem 2.75rem'],
    [{ id: 80 }, true, '1.75rem 80px minmax(9rem, 1fr) 10.5rem 6rem 2.75rem'],
    [{ name: 300 }, false, '1.75rem 3.25rem 300px 5rem 6rem minmax(2.75rem, 1fr)'],
  ])('for %j, with long numbers: %s, are %s', (widths, isLong, tracks) => {
    expect(petTracks(ALL_FIELDS, widths, isLong)).toBe(tracks);
  });

  it('are those of the visible columns', () => {
    expect(petTracks(['status', 'name'], { id: 80 }, false)).toBe('1.75rem 6rem minmax(9rem, 1fr) 2.75rem');
  });

  it('stay within bounds, and can be reset', () => {
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
  ])('stored as %j are read as %j', (kept, widths) => {
    expect(readWidths(kept, ALL_FIELDS)).toEqual(widths);
  });

  const SHOWN: ColumnId[] = ['time', 'status', 'target', 'caller'];
  it.each<[ColumnWidths, width: number, tracks: string]>([
    [{}, 60, '6.5rem 3.5rem minmax(min(15rem, 100%), 5fr) 6.5rem'],
    [{ target: 480, time: 64 }, 60, 'minmax(4rem, 4rem) 3.5rem minmax(15rem, 30rem) 6.5rem'],
    // A wide column becomes narrower before another is left out.
    [{ target: 480 }, 38, '6.5rem 3.5rem minmax(15rem, 30rem) 6.5rem'],
    [{ target: 480 }, 30, '6.5rem 3.5rem minmax(15rem, 30rem)'],
  ])('of Traffic, %j in %i root sizes, are %s', (widths, width, tracks) => {
    expect(tracksOf(fitColumns(sizedColumns(widths, 16), SHOWN, width))).toBe(tracks);
  });
});
