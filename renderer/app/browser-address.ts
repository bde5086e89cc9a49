import type { AddressBar } from '../shared/navigation/navigator.svelte.ts';

export const browserAddress: AddressBar = {
  read: () => ({ path: window.location.pathname, search: window.location.search }),
  push: (address) => window.history.pushState(null, '', address),
  replace: (address) => window.history.replaceState(null, '', address),
  onMoved: (listener) => window.addEventListener('popstate', listener),
};

/**
 * Routes plain links of the page through `go`, so every place is an `<a href>` that can be opened in a new tab, copied
 * and reached by keyboard. `go` returns whether the address belongs to the interface.
 */
export function followLinks(document: Document, go: (path: string, search: string) => boolean): void {
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (link === null || link.target !== '' || link.hasAttribute('download')) return;
    const url = new URL(link.href, document.baseURI);
    if (url.origin !== window.location.origin || link.getAttribute('href')?.startsWith('#') === true) return;
    if (go(url.pathname, url.search)) event.preventDefault();
  });
}
