/** Arrow keys among links that belong together: up and down, Home and End. For `{@attach}` on what holds them. */
export function moveByLinks(holder: HTMLElement): () => void {
  function press(event: KeyboardEvent): void {
    const links = [...holder.querySelectorAll<HTMLElement>('a[href]')];
    const here = links.indexOf(document.activeElement as HTMLElement);
    const to = destination(event.key, here, links.length - 1);
    if (here === -1 || to === undefined) return;
    event.preventDefault();
    links[to]?.focus();
  }
  holder.addEventListener('keydown', press);
  return () => holder.removeEventListener('keydown', press);
}

function destination(key: string, here: number, last: number): number | undefined {
  switch (key) {
    case 'ArrowDown':
      return Math.min(here + 1, last);
    case 'ArrowUp':
      return Math.max(here - 1, 0);
    case 'Home':
      return 0;
    case 'End':
      return last;
    default:
      return undefined;
  }
}
