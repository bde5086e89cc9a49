/** Frames to wait for a page that is loading, about five seconds. */
const FRAMES_MAX = 300;

const MARK_MS = 2_000;

/** Scrolls to an element and marks it for a moment. */
export function reveal(element: Element): void {
  element.scrollIntoView({ block: 'center' });
  element.animate([{ outline: '2px solid var(--focus)', outlineOffset: '4px' }, { outline: '2px solid transparent' }], {
    duration: MARK_MS,
    easing: 'ease-in',
  });
}

/** Focuses the control with that label, once the page has drawn it, and marks it. */
export async function revealField(within: Element, label: string): Promise<void> {
  for (let frame = 0; frame < FRAMES_MAX; frame++) {
    const control = controlOf(within, label);
    if (control !== undefined) {
      reveal(control);
      control.focus({ preventScroll: true });
      return;
    }
    await new Promise(requestAnimationFrame);
  }
}

/** The control that a label names, or the first of a named group. */
function controlOf(within: Element, label: string): HTMLElement | undefined {
  const labelled = [...within.querySelectorAll('label')].find(({ textContent }) => textContent.trim() === label);
  if (labelled?.control !== undefined && labelled.control !== null) return labelled.control;
  const named = within.querySelector<HTMLElement>(`[aria-label="${CSS.escape(label)}"]`);
  if (named === null) return undefined;
  return named.matches('input, select, textarea, button')
    ? named
    : (named.querySelector<HTMLElement>('input:checked, input, [tabindex="0"], button') ?? undefined);
}
