import { ALL_FIELDS, PET_FIELDS, type PetField } from '../../../../main/contract/pet-fields.ts';
import type { ColumnWidths } from '../../../shared/lists/column-sizes.svelte.ts';

/** The columns of the pet grid that can be arranged, in their own order. */
export const PET_COLUMNS = ALL_FIELDS.map((id) => ({ id, title: PET_FIELDS[id].title }));

/** The width of a column with numbers of 19 digits. */
const LONG = '10.5rem';

const ownWidth = (column: PetField, isLong: boolean): string =>
  isLong && PET_FIELDS[column].kind === 'int64' ? LONG : PET_FIELDS[column].width;

/** The tracks of a CSS grid with these columns, between those of the checkbox and of the actions. */
export function petTracks(shown: readonly PetField[], widths: ColumnWidths, isLong: boolean): string {
  const tracks = shown.map((column) => {
    const chosen = widths[column];
    return chosen === undefined ? ownWidth(column, isLong) : `${chosen}px`;
  });
  // One column has to fill the rest of a wide window.
  return ['1.75rem', ...tracks, widths['name'] === undefined ? '2.75rem' : 'minmax(2.75rem, 1fr)'].join(' ');
}
