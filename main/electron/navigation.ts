import { app, type WebContents, BrowserWindow, clipboard, Menu } from 'electron';
import type { Log } from '../base/log.ts';
import { isPageUrl } from './rules.ts';
import { contextTemplate, type MenuActions } from './menu.ts';

interface NavigationOptions {
  log: Log;
  /** Opens an address in the system's browser, if its scheme is allowed. */
  openExternal: (url: string) => void;
  /** Previews may navigate to other addresses than the page. */
  previews: { has(contents: WebContents): boolean; mayShow(url: string): boolean };
}

/**
 * Confines every page: the window's own page cannot navigate, open windows, embed pages or keep its window open. Links
 * to other addresses open in the system's browser if allowed. Install before the first page is created.
 */
export function restrictNavigation(options: NavigationOptions): void {
  app.on('web-contents-created', (_event, contents) => restrict(contents, options));
}

function restrict(contents: WebContents, { log, openExternal, previews }: NavigationOptions): void {
  // Checked at every navigation: a page's session is not set yet when the page is created.
  const mayNavigate = (url: string): boolean => (previews.has(contents) ? previews.mayShow(url) : isPageUrl(url));
  contents.on('will-frame-navigate', (event) => {
    if ((event.isMainFrame || previews.has(contents)) && mayNavigate(event.url)) return;
    event.preventDefault();
    log.warn('A page was prevented from navigating elsewhere', { url: event.url });
    if (event.isMainFrame && !previews.has(contents)) openExternal(event.url);
  });
  contents.on('will-redirect', (event) => {
    if (!mayNavigate(event.url)) event.preventDefault();
  });
  contents.on('will-attach-webview', (event) => event.preventDefault());
  // Electron shows no prompt for `beforeunload`; the page would silently keep its window and the app open.
  contents.on('will-prevent-unload', (event) => event.preventDefault());
  contents.setWindowOpenHandler(({ url }) => {
    if (!previews.has(contents)) openExternal(url);
    return { action: 'deny' };
  });
}

/** Back and forward in the window that has the focus: the app's own, or a preview. */
export const historyActions: Pick<MenuActions, 'goBack' | 'goForward'> = {
  goBack: () => BrowserWindow.getFocusedWindow()?.webContents.navigationHistory.goBack(),
  goForward: () => BrowserWindow.getFocusedWindow()?.webContents.navigationHistory.goForward(),
};

/** What the tab of a browser has, and a window of Electron has not. Install before the first window is created. */
export function addBrowsing(): void {
  app.on('web-contents-created', (_event, contents) => {
    contents.on('context-menu', (_shown, pointed) => {
      const copy = (text: string) => void clipboard.writeText(text);
      const template = contextTemplate(pointed, contents.navigationHistory, { ...historyActions, copy });
      Menu.buildFromTemplate(template).popup();
    });
  });
  // The keys of a mouse, on Windows and Linux.
  app.on('browser-window-created', (_event, window) => {
    window.on('app-command', (_pressed, command) => {
      if (command === 'browser-backward') historyActions.goBack();
      if (command === 'browser-forward') historyActions.goForward();
    });
  });
}
