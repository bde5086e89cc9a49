import { type Beside, besideOf } from './beside.ts';

const STOPS = ':is(a[href], button, input, select, textarea, summary, [tabindex], [contenteditable]):not(:disabled)';

const FIELD = ':is(input:not([type=file], [type=radio], [type=checkbox]), textarea, select):not(:disabled)';

/** What is read out and can be pressed while a dialog covers the page. */
const REPORTS = '[data-reports]';

/** An open dialog, popover or menu. */
export interface Layer {
  /** Asks for its end: Escape, or a press beside it. */
  close: () => void;
  /** Its button. A press on it is its own affair, and the focus returns to it. */
  opener?: HTMLElement | null;
  /** Covers the page, which does not scroll meanwhile. A press on the node itself is one beside what is in it. */
  modal?: boolean;
  /** What has the focus at first: by default its first control, else the node. */
  begin?: (() => HTMLElement | undefined) | undefined;
  /** In a menu, Tab goes on from the button. */
  leavesAtTab?: boolean;
  /** For a node that is fixed at the top left of the window; `anchor` is asked again whenever something moves. */
  beside?: Beside & { anchor: () => DOMRect };
}

/** The nodes of the open ones, the topmost last. Only that one takes keys and presses. */
const open: HTMLElement[] = [];

/** The first field to type in, if there is one. */
export const firstField = (panel: HTMLElement): HTMLElement | undefined =>
  [...panel.querySelectorAll<HTMLElement>(FIELD)].find((field) => field.checkVisibility());

/**
 * Puts a node over the page, within `home`, and the focus into it. Returns what removes it and gives the focus back,
 * unless that has gone elsewhere.
 */
export function openLayer(node: HTMLElement, home: Element, layer: Layer): () => void {
  const { opener, modal = false, beside } = layer;
  const before = opener ?? document.activeElement;
  const isTop = (): boolean => open.at(-1) === node;
  const holds = (target: EventTarget | null): boolean =>
    target instanceof Node && (node.contains(target) || opener?.contains(target) === true);

  function press(event: KeyboardEvent): void {
    if (!isTop() || event.defaultPrevented || event.isComposing) return;
    if (event.key === 'Escape') {
      event.preventDefault();
      layer.close();
    } else if (event.key === 'Tab') {
      if (layer.leavesAtTab === true) layer.close();
      else keepWithin(node, event);
    }
  }

  let pressed = false;
  function pressBeside({ target }: PointerEvent): void {
    pressed = isTop() && (modal ? target === node : !holds(target));
    if (pressed && !modal) layer.close();
  }

  function release({ target }: PointerEvent): void {
    pressed &&= target === node;
  }

  /**
   * Only a whole click closes what covers the page: a press would else end on what lies below, and a drag into a field
   * or out of it is none. Nor is the second click of the double click that opened it.
   */
  function clickBeside({ detail }: MouseEvent): void {
    if (pressed && detail < 2) layer.close();
    pressed = false;
  }

  home.append(node);
  open.push(node);
  const unlock = modal ? lockScroll() : undefined;
  const behind = modal ? behindOf(document.body, node) : [];
  for (const part of behind) part.inert = true;
  const listening = new AbortController();
  const { signal } = listening;
  document.addEventListener('keydown', press, { signal });
  document.addEventListener('pointerdown', pressBeside, { capture: true, signal });
  if (modal) {
    // A press beside what has the focus would take it away.
    node.addEventListener('mousedown', (event) => event.target === node && event.preventDefault());
    document.addEventListener('pointerup', release, { capture: true, signal });
    document.addEventListener('click', clickBeside, { capture: true, signal });
  }
  if (beside !== undefined) keepBeside(node, beside, signal);
  (layer.begin?.() ?? stopsOf(node)[0] ?? node).focus({ preventScroll: true });

  return () => {
    listening.abort();
    open.splice(open.indexOf(node), 1);
    unlock?.();
    for (const part of behind) part.inert = false;
    node.remove();
    if (document.activeElement === document.body && before instanceof HTMLElement)
      before.focus({ preventScroll: true });
  };
}

function keepBeside(node: HTMLElement, beside: Required<Layer>['beside'], signal: AbortSignal): void {
  function place(): void {
    const { clientWidth, clientHeight } = document.documentElement;
    const { offsetWidth, offsetHeight } = node;
    const { x, y, room } = besideOf(
      beside.anchor(),
      // With what is scrolled out of it.
      { width: offsetWidth, height: node.scrollHeight + offsetHeight - node.clientHeight },
      { width: clientWidth, height: clientHeight },
      beside,
    );
    node.style.maxHeight = `${room}px`;
    node.style.translate = `${x}px ${y}px`;
  }

  place();
  const sizes = new ResizeObserver(place);
  sizes.observe(node);
  signal.addEventListener('abort', () => sizes.disconnect());
  window.addEventListener('resize', place, { signal });
  document.addEventListener('scroll', place, { capture: true, passive: true, signal });
}

/** What Tab reaches. Of a group of radio buttons, that is the checked one. */
function stopsOf(node: HTMLElement): HTMLElement[] {
  return [...node.querySelectorAll<HTMLElement>(STOPS)].filter(
    (stop) =>
      stop.tabIndex >= 0 &&
      stop.checkVisibility() &&
      !(
        stop instanceof HTMLInputElement &&
        stop.type === 'radio' &&
        !stop.checked &&
        node.querySelector(`[type=radio][name="${CSS.escape(stop.name)}"]:checked`) !== null
      ),
  );
}

/** Lets Tab go round within a node. */
function keepWithin(node: HTMLElement, event: KeyboardEvent): void {
  const stops = event.shiftKey ? stopsOf(node).toReversed() : stopsOf(node);
  const { activeElement } = document;
  // The focus may be on what is no stop itself: on the panel after a click into it.
  const ahead = event.shiftKey ? Node.DOCUMENT_POSITION_PRECEDING : Node.DOCUMENT_POSITION_FOLLOWING;
  const last = stops.at(-1);
  const goesOn =
    last !== undefined &&
    activeElement !== null &&
    node.contains(activeElement) &&
    (activeElement.compareDocumentPosition(last) & ahead) !== 0;
  if (goesOn) return;
  event.preventDefault();
  stops[0]?.focus();
}

/** The rest of the page, but for its reports: no focus, no press and no screen reader gets there past `node`. */
function behindOf(box: Element, node: HTMLElement): HTMLElement[] {
  return [...box.children].flatMap((part) => {
    if (!(part instanceof HTMLElement) || part === node || part.inert || part.matches(REPORTS)) return [];
    return part.querySelector(REPORTS) === null ? [part] : behindOf(part, node);
  });
}

/** How many hold the page still. */
let locks = 0;

/** Holds the page still, without a jump where its scroll bar was. */
function lockScroll(): () => void {
  const { style } = document.body;
  if (locks++ === 0) {
    style.paddingRight = `${window.innerWidth - document.documentElement.clientWidth}px`;
    style.overflow = 'hidden';
  }
  return () => {
    if (--locks === 0) Object.assign(style, { overflow: '', paddingRight: '' });
  };
}
