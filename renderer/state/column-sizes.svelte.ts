import { isResizable, readWidths, STEP_PX, tracksOf, withWidth, type ResizableColumn } from './column-widths.ts';
import type { Drafts } from './drafts.svelte.ts';

const KEPT_AS = 'pets.columns';

/** The element at a column's edge by which its width is dragged. */
const gripOf = (target: EventTarget | null): HTMLElement | null =>
  target instanceof Element ? target.closest<HTMLElement>('[data-grip]') : null;

/** The column whose edge is at `target`. */
export function grippedColumn(target: EventTarget | null): ResizableColumn | undefined {
  const column = gripOf(target)?.dataset['grip'] ?? '';
  return isResizable(column) ? column : undefined;
}

/** The widths of the pet grid's columns, changed by dragging or by key, and remembered as a page's view. */
export class ColumnSizes {
  #widths;
  readonly #views: Drafts;
  readonly #widthOf: (column: ResizableColumn) => number;

  /** @param widthOf the present width of a column in pixels */
  constructor(views: Drafts, widthOf: (column: ResizableColumn) => number) {
    this.#widths = $state.raw(readWidths(views.read(KEPT_AS)));
    this.#views = views;
    this.#widthOf = widthOf;
  }

  /** The tracks of a CSS grid; `isLong` for numbers of many digits. */
  tracks(isLong: boolean): string {
    return tracksOf(this.#widths, isLong);
  }

  /** Gives a column its own width again. */
  reset(column: ResizableColumn): void {
    this.#set(column, undefined);
  }

  /** An arrow key on a column's title. */
  step(column: ResizableColumn, key: 'ArrowLeft' | 'ArrowRight'): void {
    this.#set(column, this.#widthOf(column) + (key === 'ArrowLeft' ? -STEP_PX : STEP_PX));
  }

  /** Follows the pointer from a press on a column's edge until it is released. */
  drag(event: PointerEvent): void {
    const grip = gripOf(event.target);
    const column = grippedColumn(grip);
    if (grip === null || column === undefined || event.button !== 0) return;
    event.preventDefault();
    const width = this.#widthOf(column);
    const start = event.clientX;
    grip.setPointerCapture(event.pointerId);
    grip.onpointermove = ({ clientX }) => this.#set(column, width + clientX - start);
    grip.onlostpointercapture = () => (grip.onpointermove = null);
  }

  #set(column: ResizableColumn, px: number | undefined): void {
    this.#widths = withWidth(this.#widths, column, px);
    this.#views.keep(KEPT_AS, this.#widths);
  }
}
