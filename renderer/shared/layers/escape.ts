/** Runs `leave` on Escape within an element; for `{@attach}` on an inline form. */
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
