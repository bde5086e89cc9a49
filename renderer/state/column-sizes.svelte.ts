import { readWidths, withWidth, type ColumnWidths } from './column-widths.ts';
import type { Drafts } from './drafts.svelte.ts';

/** What an arrow key adds. */
const STEP_PX = 16;

export interface ColumnSizesOptions {
  views: Drafts;
  /** What remembers the widths. */
  keptAs: string;
  columns: readonly string[];
}

/**
 * The widths of a list's columns, changed by dragging a title's edge or by Alt with an arrow key, and remembered. A title
 * has the attribute `data-column`, and a `ColumnGrip`.
 */
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

  /** Gives all columns their own widths again. */
  resetAll(): void {
    this.#keep({});
  }

  /** A double click on a title's edge gives the column its own width again. */
  doubleClick({ target }: MouseEvent): void {
    const title = gripOf(target) === null ? undefined : this.#titleAt(target);
    if (title !== undefined) this.#set(title.column, undefined);
  }

  /** Handles Alt with an arrow key or Enter on a title, for its own width; false for other keys. */
  press(event: KeyboardEvent): boolean {
    const { key, target, altKey, ctrlKey, metaKey } = event;
    const title = altKey && !ctrlKey && !metaKey ? this.#titleAt(target) : undefined;
    if (title === undefined || !(key.startsWith('Arrow') || key === 'Enter')) return false;
    event.preventDefault();
    if (key === 'Enter') this.#set(title.column, undefined);
    else if (key === 'ArrowLeft') this.#set(title.column, title.width - STEP_PX);
    else if (key === 'ArrowRight') this.#set(title.column, title.width + STEP_PX);
    return true;
  }

  /** Follows the pointer from a press on a title's edge until it is released. */
  drag(event: PointerEvent): void {
    const grip = gripOf(event.target);
    const title = this.#titleAt(grip);
    if (grip === null || title === undefined || event.button !== 0) return;
    event.preventDefault();
    const { column, width } = title;
    const start = event.clientX;
    grip.setPointerCapture(event.pointerId);
    grip.onpointermove = ({ clientX }) => this.#set(column, width + clientX - start);
    grip.onlostpointercapture = () => (grip.onpointermove = null);
  }

  #titleAt(target: EventTarget | null): { column: string; width: number } | undefined {
    const title = target instanceof Element ? target.closest<HTMLElement>('[data-column]') : null;
    const column = this.#options.columns.find((id) => id === title?.dataset['column']);
    return title === null || column === undefined ? undefined : { column, width: title.offsetWidth };
  }

  #set(column: string, px: number | undefined): void {
    this.#keep(withWidth(this.#widths, column, px));
  }

  #keep(widths: ColumnWidths): void {
    this.#widths = widths;
    this.#options.views.keep(this.#options.keptAs, widths);
  }
}

/** The edge of a title by which its column's width is dragged. */
export const gripOf = (target: EventTarget | null): HTMLElement | null =>
  target instanceof Element ? target.closest<HTMLElement>('[data-grip]') : null;
