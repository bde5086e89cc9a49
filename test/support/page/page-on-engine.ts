import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import { expect, onTestFailed, onTestFinished } from 'vitest';
import type { Config } from '../../../main/base/config.ts';
import { VivariumError } from '../../../main/contract/errors.ts';
import { findHeadlessChromium, FRUGAL, launchChromium } from '../chromium.ts';
import { type Engine, startEngine, track } from '../engine.ts';
import { findViolations } from './page-audit.ts';
import { builtPage } from './page-build.ts';
import { unreadableTexts } from './page-contrast.ts';
import { freePort } from '../ports.ts';

/**
 * A signed-in page of the interface in a real browser before a real engine. A test fails at its end if the page or its
 * console had an error or a warning, or a CSP violation.
 */
export interface EnginePage {
  page: Page;
  engine: Engine;
  /** Loads a path of the interface, as an external link would. */
  open(path: string): Promise<void>;
  /** Goes to a path in the loaded interface, as Back and Forward do, in a quarter of the time of a load. */
  visit(path: string): Promise<void>;
  /** Goes to a path in a new session of the loaded interface: nothing is open there, in half of the time of a load. */
  begin(path: string): Promise<void>;
  /**
   * Asserts that nothing was logged, that axe finds nothing in kinds of elements that are new to this worker, and that
   * all text is readable in the light theme and, if there are new kinds, in the dark one. Contrast is measured without
   * axe, which needs ten times as long. `every-page.test.ts` has whole pages, in both themes.
   */
  expectNoFaults(): Promise<void>;
  /** Asserts that the page at `path`, filled by `fill`, does not scroll sideways in a window of any tested size. */
  expectToFit(path: string, fill: () => Promise<void>): Promise<void>;
}

export interface EnginePageOptions {
  /** A running engine; by default a new one with the demo, which keeps nothing on the disk. */
  engine?: Engine;
  /** A folder in place of the system's root, for machine changes. */
  machineRoot?: string;
  /** Starts without the demo. */
  empty?: boolean;
  /** The path to open. */
  path?: string;
  /** False omits the token; the page then asks for it. */
  signedIn?: boolean;
  viewport?: { width: number; height: number };
  colorScheme?: 'light' | 'dark';
  timezoneId?: string;
  /** True if the test breaks the connection: what the browser itself says about that is no fault. */
  breaksConnection?: boolean;
  /** Runs before the page is opened. */
  prepare?: (engine: Engine) => Promise<void>;
}

/** A tab, and the errors in it since its test began. */
interface Tab {
  context: BrowserContext;
  page: Page;
  errors: string[];
  /** The origin whose interface is loaded in it and waits for a sign-in; null if it is to be loaded. */
  loaded: string | null;
}

const WINDOW = { width: 1440, height: 900 };

/** 4K, 900×600, 1440×900 and 900×600 at 200 % and narrower; the smallest last, because the next page opens in it. */
const WINDOWS = [
  { width: 3_840, height: 2_160 },
  { width: 900, height: 600 },
  { width: 720, height: 450 },
  { width: 420, height: 300 },
];

/** Logs CSP violations, including those that the browser does not report. */
const REPORT_VIOLATIONS = `document.addEventListener('securitypolicyviolation', (event) =>
  console.error('CSP refused ' + event.violatedDirective + ' ' + event.blockedURI + ' ' + event.sample))`;

/** The browser's own message about a failed connection; a page cannot suppress it. */
const isAboutNetwork = (text: string): boolean => /^(?:WebSocket connection to|Failed to load resource)/.test(text);

/** The worker's Chromium, for all of its files; Playwright ends it with the worker. */
let started: Promise<Browser> | undefined;

function startBrowser(): Promise<Browser> {
  const home = mkdtempSync(join(process.env.TEST_WORKER_TMPDIR ?? '', 'v-home-'));
  process.once('exit', () => rmSync(home, { recursive: true, force: true, maxRetries: 5 }));
  // Pages of all engines are the same site, and share a process with its compiled scripts.
  const args = ['--process-per-site', ...FRUGAL];
  return launchChromium({ home, executablePath: findHeadlessChromium(), tmpDir: home, args });
}

let ownPort: Promise<number> | undefined;

/**
 * Starts an engine on the worker's own port. Chromium caches fetched and compiled scripts by origin, which saves a third
 * of the cost of loading the interface.
 */
async function startOnOwnPort(options: Partial<Config>, machine: Parameters<typeof startEngine>[1]): Promise<Engine> {
  const start = async () => startEngine({ ...options, controlPort: await (ownPort ??= freePort()) }, machine);
  return start().catch((error: unknown) => {
    if (!(error instanceof VivariumError) || error.code !== 'conflict') throw error;
    // Another program can take the port between two tests.
    ownPort = undefined;
    return start();
  });
}

let folder: string | undefined;
let shared: (Tab & { file: string | undefined }) | null = null;

/** The tab of this file of tests; a new one for another time zone, which is fixed per tab. */
async function takeTab(timezoneId: string | undefined): Promise<Tab> {
  if (timezoneId !== undefined) {
    const tab = await openTab(timezoneId);
    onTestFinished(() => tab.context.close());
    return tab;
  }
  const { testPath: file } = expect.getState();
  if (shared !== null && shared.file !== file) await drop(shared);
  const tab = (shared ??= Object.assign(await openTab('UTC'), { file }));
  // Isolates the next test from this one's state.
  onTestFailed(() => drop(tab));
  return tab;
}

async function drop(tab: Tab): Promise<void> {
  if (tab === shared) shared = null;
  await tab.context.close();
}

/**
 * Starts a fresh engine for one test, and shows the path from it in the file's tab, whose storage is empty: in a new
 * session of the interface that the last test has left there, or else loaded.
 */
export async function openPage(options: EnginePageOptions = {}): Promise<EnginePage> {
  const { empty = false, path = '/', signedIn = true, viewport = WINDOW, colorScheme = 'light' } = options;
  const { breaksConnection = false, prepare, machineRoot } = options;
  const engine =
    options.engine ??
    (await startOnOwnPort(
      { empty, ephemeral: true },
      { assetsDir: (folder ??= builtPage()), ...(machineRoot !== undefined && { machineRoot }) },
    ));
  await prepare?.(engine);
  const tab = await takeTab(options.timezoneId);
  const { page, context } = tab;
  const errors: string[] = [];
  Object.assign(tab, { errors });
  const { url, token } = engine.app.runtime.control;
  // Without a connection, only a new tab clears the storage.
  track(() => (breaksConnection ? drop(tab) : leave(tab, url).catch(() => drop(tab))));
  // The first of what is done at the end of a test.
  track(() => expect(errors.filter((text) => !breaksConnection || !isAboutNetwork(text))).toEqual([]));
  await page.setViewportSize(viewport);
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce', forcedColors: 'none' });
  const begin = (to: string): Promise<void> => page.evaluate(signIn(to, token));
  await (signedIn && tab.loaded === url ? begin(path) : page.goto(`${url}${path}${signedIn ? `#token=${token}` : ''}`));
  if (signedIn) await page.getByText('live', { exact: true }).waitFor();
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: url });
  const visit = (to: string): Promise<void> => page.evaluate(goTo(to));
  return {
    page,
    engine,
    open: async (to) => void (await page.goto(url + to)),
    visit,
    begin,
    expectNoFaults: () => expectNoFaults(page, errors),
    async expectToFit(to, fill) {
      await visit(to);
      await expectToFit(page, fill);
    },
  };
}

async function openTab(timezoneId: string): Promise<Tab> {
  const browser = await (started ??= startBrowser());
  const context = await browser.newContext({ viewport: WINDOW, timezoneId });
  await context.addInitScript(REPORT_VIOLATIONS);
  const page = await context.newPage();
  const tab: Tab = { context, page, errors: [], loaded: null };
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') tab.errors.push(message.text());
  });
  page.on('pageerror', (error) => tab.errors.push(String(error)));
  return tab;
}

const goTo = (path: string): string =>
  `history.pushState(null, '', ${JSON.stringify(path)}); dispatchEvent(new PopStateEvent('popstate'))`;

/** As a link with another token does in a tab that shows the interface. */
const signIn = (path: string, token: string): string =>
  `${goTo(`${path}#token=${token}`)}; dispatchEvent(new HashChangeEvent('hashchange'))`;

/** The page of a test that has left the interface has no such heading. */
const LEAVE_MS_MAX = 10_000;

/** What the interface reads only when it is loaded. */
const READ_ONCE = JSON.stringify(['vivarium.theme', 'vivarium.single-keys']);

/**
 * Prepares the tab for the next test: ends the session, whose drafts are kept as it ends, by a sign-in that the engine
 * refuses, and empties the storage.
 */
async function leave(tab: Tab, url: string): Promise<void> {
  const { context, page } = tab;
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  // What comes under the pointer would be hovered.
  await page.mouse.move(0, 0);
  await Promise.all(context.pages().map((each) => each !== page && each.close()));
  await page.evaluate(signIn('/nowhere', 'over'));
  await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor({ timeout: LEAVE_MS_MAX });
  const isAsLoaded = await page.evaluate<boolean>(`(() => {
    const isAsLoaded = ${READ_ONCE}.every((name) => localStorage.getItem(name) === null);
    localStorage.clear();
    sessionStorage.clear();
    return isAsLoaded;
  })()`);
  tab.loaded = isAsLoaded ? url : null;
  await context.clearPermissions();
}

/** A report of an action. */
export const toast = (page: Page, text: string | RegExp) =>
  page.getByRole('region', { name: 'Reports' }).getByText(text);

/** Waits until a text is shown, at least once. */
export const seen = (within: Page | Locator, text: string | RegExp): Promise<void> =>
  within.getByText(text).first().waitFor();

/** A part of the page, by its heading. */
export const region = (page: Page, name: string) => page.getByRole('region', { name, exact: true });

/** A text field, by its label. */
export const field = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true });

/** Types a text in place of what a field has, and presses Enter. */
export async function enter(into: Locator, text: string): Promise<void> {
  await into.fill(text);
  await into.press('Enter');
}

/** Waits until the focus is on this element. */
export const waitForFocus = (locator: Locator): Promise<void> =>
  locator.and(locator.page().locator(':focus')).waitFor();

/** What `holdCalls` returns: while held, the engine does not get the calls, as if it were slow. */
export interface HeldCalls {
  hold(): void;
  /** Sends the held calls, and later ones at once. */
  release(): void;
}

/** Lets a test hold back the page's calls of a procedure, such as `zones/list`; for pages that are opened afterwards. */
export async function holdCalls(page: Page, procedure: string): Promise<HeldCalls> {
  let isHolding = false;
  let held: (() => void)[] = [];
  await page.routeWebSocket(/\/rpc$/, (socket) => {
    const server = socket.connectToServer();
    socket.onMessage((message) => {
      if (isHolding && message.includes(`/${procedure}"`)) held.push(() => server.send(message));
      else server.send(message);
    });
  });
  const release = (): void => {
    isHolding = false;
    for (const send of held) send();
    held = [];
  };
  // The file's next tests have the same tab.
  onTestFinished(release);
  return { hold: () => void (isHolding = true), release };
}

/** Runs a command of the palette, once the search lists it first. */
export async function runCommand(page: Page, text: string, command: RegExp): Promise<void> {
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Command' }).fill(text);
  await page.getByRole('option', { name: command, selected: true }).waitFor();
  await page.keyboard.press('Enter');
}

/** Presses one key after the other without a pause, which would end a sequence such as `g p`. */
export const pressAll = (page: Page, ...keys: string[]): Promise<unknown> =>
  Promise.all(keys.map((key) => page.keyboard.press(key)));

/** Clicks a button, and returns the text that it copies. */
export async function copyBy(button: Locator): Promise<string> {
  const page = button.page();
  const read = () => page.evaluate<string>('navigator.clipboard.readText()');
  await page.evaluate(`navigator.clipboard.writeText('')`);
  await button.click();
  await expect.poll(read).not.toBe('');
  return read();
}

/** The kinds of elements in which a test of this worker has found no fault. */
const faultless = new Set<string>();

async function expectNoFaults(page: Page, errors: readonly string[]): Promise<void> {
  let kinds: string[] = [];
  const findFaults = async () => {
    const audit = await findViolations(page, faultless);
    kinds = audit.kinds;
    const found = audit.violations;
    for (const colorScheme of audit.isNew ? (['dark', 'light'] as const) : (['light'] as const)) {
      await page.emulateMedia({ colorScheme });
      found.push(...(await unreadableTexts(page)).map((text) => `${colorScheme}: ${text}`));
    }
    return found;
  };
  // An element that is being removed or filled may have neither a name nor readable text.
  await expect.poll(findFaults).toEqual([]);
  for (const kind of kinds) faultless.add(kind);
  expect(errors).toEqual([]);
}

/** By how many pixels the page scrolls sideways, once it is drawn in its present size. */
const OVERFLOW = `(async () => {
  for (let frame = 0; frame < 2; frame += 1) await new Promise(requestAnimationFrame);
  return document.documentElement.scrollWidth - innerWidth;
})()`;

async function expectToFit(page: Page, fill: () => Promise<void>): Promise<void> {
  await fill();
  for (const viewport of WINDOWS) {
    await page.setViewportSize(viewport);
    await expect
      .poll(() => page.evaluate(OVERFLOW), { message: `${viewport.width}×${viewport.height}` })
      .toBeLessThanOrEqual(0);
  }
}
