import type { BrowserContext, Page } from 'playwright-core';

/** Playwright does not report past crashes of a page. */
const crashed = new WeakSet<Page>();

/** Leaves `beforeunload` to Electron; Playwright accepts the dialog unless there is a listener. */
export function leaveDialogs(context: BrowserContext): void {
  context.on('dialog', () => undefined);
}

export function watchCrashes(context: BrowserContext): void {
  const watch = (page: Page) => void page.on('crash', () => crashed.add(page));
  context.pages().forEach(watch);
  context.on('page', watch);
}

export const isGone = (page: Page): boolean => page.isClosed() || crashed.has(page);
