/** The columns of the pet grid whose width can be changed. */
export const RESIZABLE = ['id', 'name', 'categoryId', 'status'] as const;
export type ResizableColumn = (typeof RESIZABLE)[number];

/** Widths in pixels that the user has chosen; the others adapt to their content. */
export type ColumnWidths = Readonly<Partial<Record<ResizableColumn, number>>>;

const LEAST_PX = 56;
const MOST_PX = 1_600;

/** What an arrow key adds. */
export const STEP_PX = 16;

/** The widths for numbers of usual length and for those of 19 digits. */
const OWN: Record<ResizableColumn, { usual: string; long: string }> = {
  id: { usual: '5.5rem', long: '10.5rem' },
  name: { usual: 'minmax(8rem, 1fr)', long: 'minmax(8rem, 1fr)' },
  categoryId: { usual: '6.5rem', long: '10.5rem' },
  status: { usual: '7rem', long: '7rem' },
};

export const isResizable = (column: string): column is ResizableColumn => RESIZABLE.some((name) => name === column);

/** Another width of one column, within bounds; its own width when undefined. */
export function withWidth(widths: ColumnWidths, column: ResizableColumn, px: number | undefined): ColumnWidths {
  const { [column]: _before, ...others } = widths;
  return px === undefined ? others : { ...others, [column]: Math.round(Math.min(MOST_PX, Math.max(LEAST_PX, px))) };
}

/** The tracks of a CSS grid, between those of the checkbox and of the actions. */
export function tracksOf(widths: ColumnWidths, isLong: boolean): string {
  const tracks = RESIZABLE.map((column) => {
    const chosen = widths[column];
    return chosen === undefined ? OWN[column][isLong ? 'long' : 'usual'] : `${chosen}px`;
  });
  // Something has to take the rest of a wide window.
  return ['1.75rem', ...tracks, widths.name === undefined ? '2.75rem' : 'minmax(2.75rem, 1fr)'].join(' ');
}

/** Remembered widths; anything else counts as none. */
export function readWidths(kept: unknown): ColumnWidths {
  return Object.entries(kept ?? {}).reduce<ColumnWidths>(
    (widths, [column, px]) =>
      isResizable(column) && Number.isFinite(px) ? withWidth(widths, column, Number(px)) : widths,
    {},
  );
}
