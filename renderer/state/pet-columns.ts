import type { ColumnWidths } from './column-widths.ts';

/** The columns of the pet grid whose width can be changed. */
export const PET_COLUMNS = ['id', 'name', 'categoryId', 'status'] as const;

/** The widths for numbers of usual length and for those of 19 digits. */
const OWN: Record<(typeof PET_COLUMNS)[number], { usual: string; long: string }> = {
  id: { usual: '5.5rem', long: '10.5rem' },
  name: { usual: 'minmax(8rem, 1fr)', long: 'minmax(8rem, 1fr)' },
  categoryId: { usual: '6.5rem', long: '10.5rem' },
  status: { usual: '7rem', long: '7rem' },
};

/** The tracks of a CSS grid, between those of the checkbox and of the actions. */
export function petTracks(widths: ColumnWidths, isLong: boolean): string {
  const tracks = PET_COLUMNS.map((column) => {
    const chosen = widths[column];
    return chosen === undefined ? OWN[column][isLong ? 'long' : 'usual'] : `${chosen}px`;
  });
  // Something has to take the rest of a wide window.
  return ['1.75rem', ...tracks, widths['name'] === undefined ? '2.75rem' : 'minmax(2.75rem, 1fr)'].join(' ');
}
