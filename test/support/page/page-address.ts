import type { AddressBar } from '../../../renderer/shared/navigation/navigator.svelte.ts';

/** A browser's history. */
export function fakeBar(first: string): AddressBar & { entries: string[]; back(): void } {
  const entries = [first];
  let at = 0;
  let moved = () => {};
  return {
    entries,
    read() {
      const { pathname, search } = new URL(entries[at] ?? '/', 'http://page');
      return { path: pathname, search };
    },
    push(address) {
      entries.splice(at + 1, Infinity, address);
      at += 1;
    },
    replace(address) {
      entries[at] = address;
    },
    onMoved(listener) {
      moved = listener;
    },
    back() {
      at -= 1;
      moved();
    },
  };
}
