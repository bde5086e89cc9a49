/** Runs `leave` at Escape within an element; for `{@attach}` on a form that stands in the page. */
export const onEscape =
  (leave: () => void) =>
  (element: HTMLElement): (() => void) => {
    function press(event: KeyboardEvent): void {
      if (event.key !== 'Escape' || event.defaultPrevented) return;
      event.preventDefault();
      leave();
    }
    element.addEventListener('keydown', press);
    return () => element.removeEventListener('keydown', press);
  };
