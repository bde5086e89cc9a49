/** Widths in pixels that the user has chosen for columns, by their ids; the others have their own. */
export type ColumnWidths = Readonly<Partial<Record<string, number>>>;

const LEAST_PX = 56;
const MOST_PX = 1_600;

/** Another width of one column, within bounds; its own width when undefined. */
export function withWidth(widths: ColumnWidths, column: string, px: number | undefined): ColumnWidths {
  const { [column]: _before, ...others } = widths;
  return px === undefined ? others : { ...others, [column]: Math.round(Math.min(MOST_PX, Math.max(LEAST_PX, px))) };
}

/** Remembered widths of some columns; anything else counts as none. */
export const readWidths = (kept: unknown, columns: readonly string[]): ColumnWidths =>
  Object.entries(kept ?? {}).reduce<ColumnWidths>(
    (widths, [column, px]) =>
      columns.includes(column) && Number.isFinite(px) ? withWidth(widths, column, Number(px)) : widths,
    {},
  );
