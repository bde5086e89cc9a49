/** Without text fields, where shortcuts such as Undo would not work, and without dividers. */
const STOPS = 'a[href], button:not(:disabled), [tabindex="0"]:not([role=separator])';

/** Where a node was removed: its parent, and the sibling before it. */
type Gap = Pick<MutationRecord, 'target' | 'previousSibling'>;

/**
 * Keeps the focus off `<body>`: when the focused control is removed, as a button is by its own action, the next control
 * at its place gets the focus, else the one before it, else the page. A component that moves the focus itself goes
 * first. Without this, Enter, the focus ring and a screen reader's place would be lost.
 */
export function keepFocus(page: Document): void {
  let focused: Element | null = null;

  page.addEventListener('focusin', ({ target }) => {
    focused = target instanceof Element ? target : null;
  });
  page.addEventListener('focusout', ({ target }) => {
    // The observer handles removed controls. A click outside any control is meant to remove the focus.
    setTimeout(() => {
      if (focused !== target || !hasNoFocus(page) || !page.hasFocus()) return;
      if (focused?.isConnected === true && focused.checkVisibility()) focused = null;
    });
  });
  new MutationObserver((records) => {
    if (focused === null || focused.isConnected) return;
    const refocus = refocusAt(focused, records);
    focused = null;
    // After the components' own handling.
    setTimeout(refocus);
  }).observe(page.body, { childList: true, subtree: true });
}

/** Returns a function that focuses the control at the place of a removed node, unless something else has the focus. */
export function refocusAt(removed: Node, records: readonly MutationRecord[]): () => void {
  const gap = gapOf(removed, records);
  return () => {
    if (gap !== null && hasNoFocus(document)) neighbourOf(gap, document)?.focus({ preventScroll: true });
  };
}

const hasNoFocus = (page: Document): boolean => page.activeElement === null || page.activeElement === page.body;

/** The place of the outermost removed node around `removed`. */
function gapOf(removed: Node, records: readonly MutationRecord[]): Gap | null {
  let gap: Gap | null = null;
  let around = removed;
  for (const record of records) {
    if (![...record.removedNodes].some((node) => node.contains(around))) continue;
    gap = record;
    around = record.target;
  }
  return gap;
}

function neighbourOf({ target, previousSibling }: Gap, page: Document): HTMLElement | null {
  const main = page.querySelector<HTMLElement>('main');
  // Not a button of the next row, which Enter would press.
  const cell = (target as Element).closest('[role=grid]')?.querySelector<HTMLElement>('[tabindex="0"]');
  if (cell?.checkVisibility() === true) return cell;
  let before: Node | null = previousSibling;
  for (let box = target as Element | null; box !== null && box !== main && box !== page.body; box = box.parentElement) {
    const stops = [...box.querySelectorAll<HTMLElement>(STOPS)].filter((stop) => stop.checkVisibility());
    const next = stops.find((stop) => before === null || follows(stop, before));
    const found = next ?? stops.at(-1);
    if (found !== undefined) return found;
    before = box;
  }
  return main;
}

const follows = (node: Node, other: Node): boolean =>
  (other.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0;
