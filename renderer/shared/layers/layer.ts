import { type Beside, besideOf } from './beside.ts';

const STOPS = ':is(a[href], button, input, select, textarea, summary, [tabindex], [contenteditable]):not(:disabled)';

const FIELD = ':is(input:not([type=file], [type=radio], [type=checkbox]), textarea, select):not(:disabled)';

/** The parts that remain accessible while a dialog covers the page. */
const REPORTS = '[data-reports]';

/** An open dialog, popover or menu. */
export interface Layer {
  /** Called to close it: on Escape, or a press outside it. */
  close: () => void;
  /** Its button, which handles presses itself and gets the focus back. */
  opener?: HTMLElement | null;
  /** Covers the page and locks its scrolling. A press on the node itself counts as outside its content. */
  modal?: boolean;
  /** Gets the initial focus: by default its first control, else the node. */
  begin?: (() => HTMLElement | undefined) | undefined;
  /** For a menu: Tab closes it and continues from the button. */
  leavesAtTab?: boolean;
  /** For a node that is fixed at the top left of the window; `anchor` is called whenever something moves. */
  beside?: Beside & { anchor: () => DOMRect };
}

/** The nodes of the open layers, the topmost last. Only the topmost handles keys and presses. */
const open: HTMLElement[] = [];

/** Its first field, else its chosen radio button, else the part of it that the keyboard scrolls. */
export const firstField = (panel: HTMLElement): HTMLElement | undefined =>
  [FIELD, '[type=radio]:checked', '[tabindex="0"]']
    .flatMap((kind) => [...panel.querySelectorAll<HTMLElement>(kind)])
    .find((field) => field.checkVisibility());

/**
 * Shows a node above the page, within `home`, and focuses it. Returns a function that removes it and restores the
 * focus, unless the focus has moved elsewhere.
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
  function pressOutside({ target }: PointerEvent): void {
    pressed = isTop() && (modal ? target === node : !holds(target));
    if (pressed && !modal) layer.close();
  }

  function release({ target }: PointerEvent): void {
    pressed &&= target === node;
  }

  /**
   * Only a complete click closes a layer that covers the page: otherwise the release would hit the page below. A drag
   * into or out of a field is not a click, nor is the second click of the double click that opened the layer.
   */
  function clickOutside({ detail }: MouseEvent): void {
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
  document.addEventListener('pointerdown', pressOutside, { capture: true, signal });
  if (modal) {
    // Otherwise a press outside the focused element would blur it.
    node.addEventListener('mousedown', (event) => event.target === node && event.preventDefault());
    document.addEventListener('pointerup', release, { capture: true, signal });
    document.addEventListener('click', clickOutside, { capture: true, signal });
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
      // Including the part that is scrolled out of view.
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

/** The elements that Tab reaches. In a group of radio buttons, that is the checked one. */
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

function keepWithin(node: HTMLElement, event: KeyboardEvent): void {
  const stops = event.shiftKey ? stopsOf(node).toReversed() : stopsOf(node);
  const { activeElement } = document;
  // The focus may be on an element that is not a stop, such as the panel after a click into it.
  const ahead = event.shiftKey ? Node.DOCUMENT_POSITION_PRECEDING : Node.DOCUMENT_POSITION_FOLLOWING;
  const last = stops.at(-1);
  const hasNext =
    last !== undefined &&
    activeElement !== null &&
    node.contains(activeElement) &&
    (activeElement.compareDocumentPosition(last) & ahead) !== 0;
  if (hasNext) return;
  event.preventDefault();
  stops[0]?.focus();
}

/** The rest of the page except its reports: neither focus nor presses nor screen readers may reach it behind `node`. */
function behindOf(box: Element, node: HTMLElement): HTMLElement[] {
  return [...box.children].flatMap((part) => {
    if (!(part instanceof HTMLElement) || part === node || part.inert || part.matches(REPORTS)) return [];
    return part.querySelector(REPORTS) === null ? [part] : behindOf(part, node);
  });
}

/** The number of layers that lock scrolling. */
let locks = 0;

/** Locks the page's scrolling; padding replaces the scroll bar, so nothing moves. */
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
