import type { Browser } from 'playwright-core';
import { launchChromium } from '../support/chromium.ts';
import { temporaryFolder } from './harness.ts';

/** A window as wide as most. */
export const WINDOW = { width: 1440, height: 900 };

/** Runs `work` with the system's Chromium, which is closed after it. */
export async function withBrowser<Result>(work: (browser: Browser) => Promise<Result>): Promise<Result> {
  const browser = await launchChromium({ home: temporaryFolder() });
  try {
    return await work(browser);
  } finally {
    await browser.close();
  }
}
