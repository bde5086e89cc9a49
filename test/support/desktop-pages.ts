import type { BrowserContext, Page } from 'playwright-core';

/** Playwright itself does not tell later that a page has crashed. */
const crashed = new WeakSet<Page>();

/** Whether a page may be left is for Electron to say; Playwright would allow it, unless somebody listens. */
export function leaveDialogs(context: BrowserContext): void {
  context.on('dialog', () => undefined);
}

export function watchCrashes(context: BrowserContext): void {
  const watch = (page: Page) => void page.on('crash', () => crashed.add(page));
  context.pages().forEach(watch);
  context.on('page', watch);
}

export const isGone = (page: Page): boolean => page.isClosed() || crashed.has(page);
