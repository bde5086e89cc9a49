import { type Beside, besideOf } from './beside.ts';

const STOPS = ':is(a[href], button, input, select, textarea, summary, [tabindex], [contenteditable]):not(:disabled)';

const FIELD = ':is(input:not([type=file], [type=radio], [type=checkbox]), textarea, select):not(:disabled)';

/** An open dialog, popover or menu. */
export interface Layer {
  /** Asks for its end: Escape, or a press beside it. */
  close: () => void;
  /** What belongs to it; a press on the rest of the node is one beside it. */
  inside?: Element | null;
  /** Its button. A press on it is its own affair, and the focus returns to it. */
  opener?: HTMLElement | null;
  /** Covers the page, which does not scroll meanwhile. */
  modal?: boolean;
  /** What has the focus at first: by default its first control, else the node. */
  begin?: HTMLElement | null;
  /** In a menu, Tab goes on from the button. */
  leavesAtTab?: boolean;
  /** For a node that is fixed at the top left of the window; `anchor` is asked again whenever something moves. */
  beside?: Beside & { anchor: () => DOMRect };
}

/** The nodes of the open ones, the topmost last. Only that one takes keys and presses. */
const open: HTMLElement[] = [];

/** The first field to type in, if there is one. */
export const firstField = (panel: HTMLElement): HTMLElement | null => panel.querySelector<HTMLElement>(FIELD);

/**
 * Puts a node over the page, within `home`, and the focus into it. Returns what removes it and gives the focus back,
 * unless that has gone elsewhere.
 */
export function openLayer(node: HTMLElement, home: Element, layer: Layer): () => void {
  const { inside = node, opener, modal = false, beside } = layer;
  const before = opener ?? document.activeElement;
  const isTop = (): boolean => open.at(-1) === node;
  const holds = (target: EventTarget | null): boolean =>
    target instanceof Node && (inside?.contains(target) === true || opener?.contains(target) === true);

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
    pressed = isTop() && !holds(target);
    if (pressed && !modal) layer.close();
  }

  /** Only the whole click closes what covers the page: it would else end on what lies below. */
  function releaseBeside({ target }: MouseEvent): void {
    if (pressed && !holds(target)) layer.close();
    pressed = false;
  }

  home.append(node);
  open.push(node);
  const unlock = modal ? lockScroll() : undefined;
  const listening = new AbortController();
  const { signal } = listening;
  document.addEventListener('keydown', press, { signal });
  document.addEventListener('pointerdown', pressBeside, { capture: true, signal });
  if (modal) document.addEventListener('click', releaseBeside, { capture: true, signal });
  if (beside !== undefined) keepBeside(node, beside, signal);
  (layer.begin ?? stopsOf(node)[0] ?? node).focus({ preventScroll: true });

  return () => {
    listening.abort();
    open.splice(open.indexOf(node), 1);
    unlock?.();
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
  const stops = stopsOf(node);
  const [from, to] = event.shiftKey ? [stops[0], stops.at(-1)] : [stops.at(-1), stops[0]];
  const { activeElement } = document;
  const isWithin = activeElement !== null && activeElement !== node && node.contains(activeElement);
  if (isWithin && activeElement !== from) return;
  event.preventDefault();
  to?.focus();
}

/** Holds the page still, without a jump where its scroll bar was. */
function lockScroll(): (() => void) | undefined {
  const { style } = document.body;
  if (style.overflow === 'hidden') return undefined;
  style.paddingRight = `${window.innerWidth - document.documentElement.clientWidth}px`;
  style.overflow = 'hidden';
  return () => Object.assign(style, { overflow: '', paddingRight: '' });
}
