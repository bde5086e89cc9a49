import type { ColumnSizes } from '../../state/column-sizes.svelte.ts';

/** What an arrow key adds. */
const STEP_PX = 16;

/**
 * For the row of a list's titles; with `{@attach}`. A title has its column's id as `data-column`, and a `ColumnGrip`: the
 * edge by which the width is dragged, and which a double click gives its own width again. On a title with the focus,
 * Alt with an arrow key or Enter does the same.
 */
export const resizeColumns =
  (sizes: ColumnSizes) =>
  (head: HTMLElement): (() => void) => {
    const titleAt = (target: EventTarget | null): { column: string; width: number } | undefined => {
      const title = target instanceof Element ? target.closest<HTMLElement>('[data-column]') : null;
      const column = title?.dataset['column'];
      return title === null || column === undefined ? undefined : { column, width: title.offsetWidth };
    };

    const press = (event: KeyboardEvent): void => {
      const { key, altKey, ctrlKey, metaKey } = event;
      const title = altKey && !ctrlKey && !metaKey ? titleAt(event.target) : undefined;
      if (title === undefined || !(key.startsWith('Arrow') || key === 'Enter')) return;
      event.preventDefault();
      if (key === 'Enter') sizes.set(title.column, undefined);
      else if (key === 'ArrowLeft') sizes.set(title.column, title.width - STEP_PX);
      else if (key === 'ArrowRight') sizes.set(title.column, title.width + STEP_PX);
    };

    const drag = (event: PointerEvent): void => {
      const grip = gripOf(event);
      const title = titleAt(grip);
      if (grip === null || title === undefined || event.button !== 0) return;
      event.preventDefault();
      const start = event.clientX;
      grip.setPointerCapture(event.pointerId);
      grip.onpointermove = ({ clientX }) => sizes.set(title.column, title.width + clientX - start);
      grip.onlostpointercapture = () => (grip.onpointermove = null);
    };

    const reset = (event: MouseEvent): void => {
      const title = titleAt(gripOf(event));
      if (title !== undefined) sizes.set(title.column, undefined);
    };

    // The end of a drag is no click on the title.
    const click = (event: MouseEvent): void => {
      if (gripOf(event) !== null) event.stopPropagation();
    };

    const ending = new AbortController();
    const { signal } = ending;
    head.addEventListener('keydown', press, { signal });
    head.addEventListener('pointerdown', drag, { signal });
    head.addEventListener('dblclick', reset, { signal });
    head.addEventListener('click', click, { signal });
    return () => ending.abort();
  };

const gripOf = ({ target }: Event): HTMLElement | null =>
  target instanceof Element ? target.closest<HTMLElement>('[data-grip]') : null;
