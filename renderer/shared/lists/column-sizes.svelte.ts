import type { KeptValues } from '../session/storage.ts';

/** Widths in pixels that the user has chosen, by column id; the other columns have their default widths. */
export type ColumnWidths = Readonly<Partial<Record<string, number>>>;

const LEAST_PX = 56;
const MOST_PX = 1_600;

/** Sets the width of one column, within bounds; undefined restores its default. */
export function withWidth(widths: ColumnWidths, column: string, px: number | undefined): ColumnWidths {
  const { [column]: _before, ...others } = widths;
  return px === undefined ? others : { ...others, [column]: Math.round(Math.min(MOST_PX, Math.max(LEAST_PX, px))) };
}

/** The stored widths of some columns; empty for any other value. */
export const readWidths = (kept: unknown, columns: readonly string[]): ColumnWidths =>
  Object.entries(kept ?? {}).reduce<ColumnWidths>(
    (widths, [column, px]) =>
      columns.includes(column) && Number.isFinite(px) ? withWidth(widths, column, Number(px)) : widths,
    {},
  );

export interface ColumnSizesOptions {
  views: KeptValues;
  /** The name under which the widths are stored. */
  storageKey: string;
  columns: readonly string[];
}

/** The widths of a list's columns, which `arrangeColumns` changes, stored as a page's view. */
export class ColumnSizes {
  widths;
  readonly #options: ColumnSizesOptions;

  constructor(options: ColumnSizesOptions) {
    this.widths = $state.raw(readWidths(options.views.read(options.storageKey), options.columns));
    this.#options = options;
  }

  /** In pixels; undefined restores the default width. */
  set(column: string, px: number | undefined): void {
    this.#keep(withWidth(this.widths, column, px));
  }

  resetAll(): void {
    this.#keep({});
  }

  #keep(widths: ColumnWidths): void {
    this.widths = widths;
    this.#options.views.keep(this.#options.storageKey, widths);
  }
}
