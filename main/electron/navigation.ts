import { app, type WebContents } from 'electron';
import type { Log } from '../base/log.ts';
import { isPageUrl } from './page.ts';

export interface NavigationOptions {
  log: Log;
  /** Opens an address in the system's browser, if it may be. */
  openExternal: (url: string) => void;
  /** Previews lead elsewhere than the page does. */
  previews: { has(contents: WebContents): boolean; mayShow(url: string): boolean };
}

/**
 * Keeps every page where it is: the window's own page goes nowhere else, opens no window and embeds nothing. A link that
 * leads elsewhere goes to the system's browser, if it may. No page keeps its window open. Installed before the first page
 * is made.
 */
export function restrictNavigation(options: NavigationOptions): void {
  app.on('web-contents-created', (_event, contents) => restrict(contents, options));
}

function restrict(contents: WebContents, { log, openExternal, previews }: NavigationOptions): void {
  // Asked at every navigation: the session of a page is not there yet when it is made.
  const mayLead = (url: string): boolean => (previews.has(contents) ? previews.mayShow(url) : isPageUrl(url));
  contents.on('will-frame-navigate', (event) => {
    if ((event.isMainFrame || previews.has(contents)) && mayLead(event.url)) return;
    event.preventDefault();
    log.warn('A page was kept from leading elsewhere', { url: event.url });
    if (event.isMainFrame && !previews.has(contents)) openExternal(event.url);
  });
  contents.on('will-redirect', (event) => {
    if (!mayLead(event.url)) event.preventDefault();
  });
  contents.on('will-attach-webview', (event) => event.preventDefault());
  // Electron shows no question; a page with `beforeunload` would keep its window, and the app, without a word.
  contents.on('will-prevent-unload', (event) => event.preventDefault());
  contents.setWindowOpenHandler(({ url }) => {
    if (!previews.has(contents)) openExternal(url);
    return { action: 'deny' };
  });
}
