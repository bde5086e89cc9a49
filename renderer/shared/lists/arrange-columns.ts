import { tick } from 'svelte';
import type { ColumnChoice } from './column-choice.svelte.ts';
import type { ColumnSizes } from './column-sizes.svelte.ts';

/** The width that an arrow key adds. */
const STEP_PX = 16;

/** A smaller movement of the pointer is a click. */
const DRAG_PX = 6;

/**
 * Lets the user move and resize the columns of a list; for `{@attach}` on the row of titles. A title has its column's
 * id as `data-column`, and a `ColumnGrip`: dragging that edge resizes the column, a double click restores its default
 * width. Dragging the title moves the column. On a focused title, Alt with an arrow key or Enter changes the width, and
 * Alt and Shift with an arrow key the position.
 */
export const arrangeColumns =
  (sizes: ColumnSizes, choice: ColumnChoice<string>) =>
  (head: HTMLElement): (() => void) => {
    const titleAt = (target: EventTarget | null): Title | undefined => {
      const element = target instanceof Element ? target.closest<HTMLElement>('[data-column]') : null;
      const column = element?.dataset['column'];
      return element === null || column === undefined ? undefined : { element, column, width: element.offsetWidth };
    };

    const move = (title: Title, to: Element | null): void => {
      const place = titleAt(to);
      if (place !== undefined) choice.move(title.column, place.column);
    };

    const press = (event: KeyboardEvent): void => {
      const { key, altKey, ctrlKey, metaKey, shiftKey, target } = event;
      const title = altKey && !ctrlKey && !metaKey ? titleAt(target) : undefined;
      if (title === undefined || !(key.startsWith('Arrow') || key === 'Enter')) return;
      event.preventDefault();
      if (shiftKey) {
        const { previousElementSibling: before, nextElementSibling: after } = title.element;
        if (key === 'ArrowLeft') move(title, before);
        else if (key === 'ArrowRight') move(title, after);
        // Moving an element in the document takes the focus from it.
        if (target instanceof HTMLElement) void tick().then(() => target.focus({ preventScroll: true }));
      } else if (key === 'Enter') sizes.set(title.column, undefined);
      else if (key === 'ArrowLeft') sizes.set(title.column, title.width - STEP_PX);
      else if (key === 'ArrowRight') sizes.set(title.column, title.width + STEP_PX);
    };

    let isDragged = false;

    const point = (event: PointerEvent): void => {
      const grip = gripOf(event);
      const title = titleAt(event.target);
      isDragged = false;
      if (title === undefined || event.button !== 0) return;
      const { clientX: start, pointerId, pointerType } = event;
      const handle = grip ?? (pointerType === 'mouse' ? title.element : null);
      if (handle === null) return;
      if (grip !== null) {
        event.preventDefault();
        grip.setPointerCapture(pointerId);
      }
      const ending = new AbortController();
      const { signal } = ending;
      const drag = ({ clientX }: PointerEvent): void => {
        if (grip !== null) return sizes.set(title.column, title.width + clientX - start);
        isDragged ||= Math.abs(clientX - start) >= DRAG_PX;
        if (isDragged) move(title, passedBy(clientX, title.element));
      };
      addEventListener('pointermove', drag, { signal });
      for (const end of ['pointerup', 'pointercancel'] as const)
        addEventListener(end, () => ending.abort(), { signal });
    };

    const reset = (event: MouseEvent): void => {
      const title = titleAt(gripOf(event));
      if (title !== undefined) sizes.set(title.column, undefined);
    };

    // The end of a drag is not a click on the title.
    const click = (event: MouseEvent): void => {
      if ((isDragged && event.detail > 0) || gripOf(event) !== null) event.stopPropagation();
    };

    const ending = new AbortController();
    const { signal } = ending;
    head.addEventListener('keydown', press, { signal });
    head.addEventListener('pointerdown', point, { signal });
    head.addEventListener('dblclick', reset, { signal });
    head.addEventListener('click', click, { signal, capture: true });
    return () => ending.abort();
  };

interface Title {
  element: HTMLElement;
  column: string;
  width: number;
}

const gripOf = ({ target }: Event): HTMLElement | null =>
  target instanceof Element ? target.closest<HTMLElement>('[data-grip]') : null;

/** The neighbour whose middle a dragged title has passed, so that it stays under the pointer after the move. */
function passedBy(x: number, { previousElementSibling: before, nextElementSibling: after }: Element): Element | null {
  const middleOf = (element: Element): number => {
    const { left, width } = element.getBoundingClientRect();
    return left + width / 2;
  };
  if (before !== null && x < middleOf(before)) return before;
  return after !== null && x > middleOf(after) ? after : null;
}
