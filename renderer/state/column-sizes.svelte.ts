import { readWidths, withWidth, type ColumnWidths } from './column-widths.ts';
import type { KeptValues } from './storage.ts';

export interface ColumnSizesOptions {
  views: KeptValues;
  /** What remembers the widths. */
  keptAs: string;
  columns: readonly string[];
}

/** The widths of a list's columns, which `resizeColumns` changes, remembered as a page's view. */
export class ColumnSizes {
  #widths;
  readonly #options: ColumnSizesOptions;

  constructor(options: ColumnSizesOptions) {
    this.#widths = $state.raw(readWidths(options.views.read(options.keptAs), options.columns));
    this.#options = options;
  }

  get widths(): ColumnWidths {
    return this.#widths;
  }

  /** In pixels; undefined gives a column its own width again. */
  set(column: string, px: number | undefined): void {
    this.#keep(withWidth(this.#widths, column, px));
  }

  /** Gives all columns their own widths again. */
  resetAll(): void {
    this.#keep({});
  }

  #keep(widths: ColumnWidths): void {
    this.#widths = widths;
    this.#options.views.keep(this.#options.keptAs, widths);
  }
}
