/** Rows per Page Up and Page Down. */
const PAGE = 10;

const STEPS: Record<string, (index: number) => number> = {
  ArrowDown: (index) => index + 1,
  ArrowUp: (index) => index - 1,
  PageDown: (index) => index + PAGE,
  PageUp: (index) => index - PAGE,
  Home: () => 0,
  End: () => Infinity,
};

/** The index that a key leads to from `index` in a list of `count`; undefined for other keys. */
export function stepTo(event: KeyboardEvent, index: number, count: number): number | undefined {
  const step = STEPS[event.key];
  if (step === undefined || count === 0 || event.ctrlKey || event.metaKey || event.altKey) return undefined;
  return Math.min(count - 1, Math.max(0, step(index)));
}

/** Frames to wait for a requested row to be rendered and measured. */
const FRAMES_MAX = 20;

/**
 * Focuses an element that a virtual list is about to render. Until measured, the element is hidden and can't take the
 * focus.
 */
export async function focusWhenDrawn(find: () => HTMLElement | null | undefined): Promise<void> {
  for (let frame = 0; frame < FRAMES_MAX; frame++) {
    const element = find();
    element?.focus({ preventScroll: true });
    if (element !== null && element !== undefined && document.activeElement === element) return;
    await new Promise(requestAnimationFrame);
  }
}

/** Arrow-key navigation among the links of a container; for `{@attach}`. */
export function moveByLinks(holder: HTMLElement): () => void {
  function press(event: KeyboardEvent): void {
    const links = [...holder.querySelectorAll<HTMLElement>('a[href]')];
    const here = links.findIndex((link) => link === document.activeElement);
    const to = here === -1 ? undefined : stepTo(event, here, links.length);
    if (to === undefined) return;
    event.preventDefault();
    links[to]?.focus();
  }
  holder.addEventListener('keydown', press);
  return () => holder.removeEventListener('keydown', press);
}

const ENTER = 'enter-list';

/** Lets the field above a list lead into it; `enter` focuses its first row. For `{@attach}`. */
export const entersFromAbove =
  (enter: () => void) =>
  (list: HTMLElement): (() => void) => {
    list.dataset['enters'] = '';
    list.addEventListener(ENTER, enter);
    return () => list.removeEventListener(ENTER, enter);
  };

/** The same for a part of the page that is no list: its first control. */
export const entersAtFirst = (part: HTMLElement): (() => void) =>
  entersFromAbove(() => part.querySelector<HTMLElement>('a[href], input, select, textarea, button')?.focus())(part);

/** Leads from a field into the nearest list of its page. Returns whether there is one. */
export function enterListBelow(field: HTMLElement): boolean {
  for (let holder = field.parentElement; holder !== null; holder = holder.parentElement) {
    const list = holder.querySelector('[data-enters]');
    if (list !== null) return list.dispatchEvent(new Event(ENTER));
    if (holder.matches('main, [role="dialog"]')) return false;
  }
  return false;
}
