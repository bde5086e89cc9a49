import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { launchChromium } from './chromium.ts';
import { buildPage } from './page-build.ts';
import { TELL_VIOLATIONS } from './page-on-engine.ts';
import { startPageEngine, type PageEngine } from './page-engine.ts';
import { demoWorld, type World } from './page-world.ts';

/** One page in a browser of its own kind, before an engine of its own. */
export interface OpenedPage {
  page: Page;
  engine: PageEngine;
  /** Errors of the console and the page, and what the content security policy refused. */
  errors: string[];
}

export interface PageOptions extends BrowserContextOptions {
  world?: World;
  /** Where to go, after the origin; the link that signs in when left out. */
  path?: string;
  /** Runs before the page is opened. */
  prepare?: (engine: PageEngine) => Promise<void> | void;
}

const WINDOW = { width: 1440, height: 900 };

/** For a file of tests: builds the interface and starts Chromium once; what it returns opens a page for one test. */
export function usePages(): (options?: PageOptions) => Promise<OpenedPage> {
  let folder: string;
  let browser: Browser;
  let home: string;

  beforeAll(async () => {
    folder = await buildPage();
    home = await mkdtemp(join(tmpdir(), 'vivarium-home-'));
    browser = await launchChromium({ home });
  });

  afterAll(async () => {
    await browser.close();
    await rm(home, { recursive: true, force: true });
  });

  return async ({ world = demoWorld(), path, prepare, ...context } = {}) => {
    const engine = await startPageEngine(world, folder);
    onTestFinished(() => engine.stop());
    await prepare?.(engine);
    const opened = await browser.newContext({ viewport: WINDOW, timezoneId: 'UTC', ...context });
    onTestFinished(() => opened.close());
    await opened.addInitScript(TELL_VIOLATIONS);
    const page = await opened.newPage();
    const errors: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') errors.push(message.text());
    });
    page.on('pageerror', (error) => errors.push(String(error)));
    await page.goto(path === undefined ? engine.link : engine.url + path);
    return { page, engine, errors };
  };
}
