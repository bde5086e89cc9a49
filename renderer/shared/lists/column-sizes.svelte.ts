import { readWidths, withWidth, type ColumnWidths } from './column-widths.ts';
import type { KeptValues } from '../session/storage.ts';

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
