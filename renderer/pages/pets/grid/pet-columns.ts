import type { PetSort } from '../../../../main/contract/values.ts';
import type { ColumnWidths } from '../../../shared/lists/column-widths.ts';

/** The columns of the pet grid that can be arranged, in their own order. */
export const PET_COLUMNS: readonly { id: PetSort; title: string; isNumber?: true }[] = [
  { id: 'id', title: 'Id', isNumber: true },
  { id: 'name', title: 'Name' },
  { id: 'categoryId', title: 'Category', isNumber: true },
  { id: 'status', title: 'Status' },
];

export const PET_COLUMN_IDS: readonly PetSort[] = PET_COLUMNS.map(({ id }) => id);

/** The widths for numbers of usual length and for those of 19 digits. */
const OWN: Record<PetSort, { usual: string; long: string }> = {
  id: { usual: '5.5rem', long: '10.5rem' },
  name: { usual: 'minmax(8rem, 1fr)', long: 'minmax(8rem, 1fr)' },
  categoryId: { usual: '6.5rem', long: '10.5rem' },
  status: { usual: '7rem', long: '7rem' },
};

/** The tracks of a CSS grid with these columns, between those of the checkbox and of the actions. */
export function petTracks(shown: readonly PetSort[], widths: ColumnWidths, isLong: boolean): string {
  const tracks = shown.map((column) => {
    const chosen = widths[column];
    return chosen === undefined ? OWN[column][isLong ? 'long' : 'usual'] : `${chosen}px`;
  });
  // One column has to fill the rest of a wide window.
  return ['1.75rem', ...tracks, widths['name'] === undefined ? '2.75rem' : 'minmax(2.75rem, 1fr)'].join(' ');
}
