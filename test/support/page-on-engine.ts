import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import axe from 'axe-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import { launchChromium } from './chromium.ts';
import { type Engine, startEngine } from './engine.ts';
import { buildPage } from './page-build.ts';

/** A page of the interface in a real browser before a real engine. */
export interface EnginePage {
  page: Page;
  engine: Engine;
  /** Errors and warnings of the console and the page, and what the content security policy refused. */
  errors: string[];
  /** Goes to a path of the interface as a link in a mail would: with a whole new load. */
  open(path: string): Promise<void>;
  /**
   * What axe finds wrong with the page as it stands, in both themes; with `name`, a screenshot of each is left in
   * `test/e2e/screenshots`.
   */
  audit(name?: string): Promise<string[]>;
}

export interface EnginePageOptions extends BrowserContextOptions {
  /** One that runs already; one of the demo's is started when left out. */
  engine?: Engine;
  /** Starts without the demo. */
  empty?: boolean;
  /** Where to go once signed in. */
  path?: string;
  /** Runs before the page is opened. */
  prepare?: (engine: Engine) => Promise<void>;
}

const WINDOW = { width: 1440, height: 900 };
const SCREENSHOTS = join(import.meta.dirname, '..', 'e2e', 'screenshots');

/** Says in the console what the content security policy refused, also where the browser keeps it to itself. */
export const TELL_VIOLATIONS = `document.addEventListener('securitypolicyviolation', (event) =>
  console.error('CSP refused ' + event.violatedDirective + ' ' + event.blockedURI + ' ' + event.sample))`;

/** For a file of tests: starts Chromium once; what it returns opens a signed-in page for one test. */
export function useEnginePages(): (options?: EnginePageOptions) => Promise<EnginePage> {
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

  return async ({ engine: running, empty = false, path, prepare, ...options } = {}) => {
    const engine = running ?? (await startEngine({ empty }, { assetsDir: folder }));
    await prepare?.(engine);
    const context = await browser.newContext({ viewport: WINDOW, timezoneId: 'UTC', ...options });
    onTestFinished(() => context.close());
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await context.addInitScript(TELL_VIOLATIONS);
    const page = await context.newPage();
    const errors: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') errors.push(message.text());
    });
    page.on('pageerror', (error) => errors.push(String(error)));
    const { url, token } = engine.app.runtime.control;
    await page.goto(`${url}/#token=${token}`);
    await page.getByText('live', { exact: true }).waitFor();
    const open = async (to: string) => void (await page.goto(url + to));
    if (path !== undefined) await open(path);
    return { page, engine, errors, open, audit: (name) => audit(page, name) };
  };
}

async function audit(page: Page, name: string | undefined): Promise<string[]> {
  const found: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    if (name !== undefined) {
      await mkdir(SCREENSHOTS, { recursive: true });
      await page.screenshot({ path: join(SCREENSHOTS, `${name}-${colorScheme}.png`) });
    }
    found.push(...(await violations(page)).map((violation) => `${colorScheme}: ${violation}`));
  }
  return found;
}

/** What axe finds, each with the elements that it is about. */
async function violations(page: Page): Promise<string[]> {
  // Through the debugger: the page's own policy lets no foreign script in.
  await page.evaluate(axe.source);
  return page.evaluate(async () => {
    const { axe: tester } = globalThis as unknown as { axe: typeof axe };
    return (await tester.run()).violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' ')}`);
  });
}

/** Asserts that nothing was logged and that axe is content, in both themes. */
export async function expectSound({ errors, audit: run }: EnginePage, name?: string): Promise<void> {
  expect(await run(name)).toEqual([]);
  expect(errors).toEqual([]);
}
