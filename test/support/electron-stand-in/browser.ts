import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { ownApp } from './app.ts';
import { tell } from './driver.ts';

/** Chromium, shared by the app's windows. Its profile is below the program's own `userData`, and outlives a run. */
let launching: Promise<BrowserContext> | null = null;
let firstPage: Page | undefined;

/** Runs before any page is made. */
const preparations: ((context: BrowserContext) => Promise<void>)[] = [];
export function prepareBrowser(preparation: (context: BrowserContext) => Promise<void>): void {
  preparations.push(preparation);
}

async function launch(): Promise<BrowserContext> {
  const profile = join(ownApp.getPath('userData'), 'chromium');
  mkdirSync(profile, { recursive: true });
  // A program that opens no page starts without it, in a third of the time.
  const [{ chromium }, { findHeadlessChromium, FRUGAL }] = await Promise.all([
    import('playwright-core'),
    import('../chromium.ts'),
  ]);
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: findHeadlessChromium(),
    // The sandbox needs user namespaces, which containers and root lack. Electron's ports have a close event.
    args: ['--no-sandbox', '--remote-debugging-port=0', '--enable-blink-features=MessagePortCloseEvent', ...FRUGAL],
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
    viewport: null,
  });
  ownApp.standIn.beforeExit.push(() => context.close());
  [firstPage] = context.pages();
  for (const prepare of preparations) await prepare(context);
  tell({ kind: 'browser', endpoint: `http://127.0.0.1:${debuggingPort(profile)}` });
  // Electron's profile is the folder of `userData` itself.
  if (process.argv.includes('--remote-debugging-port=0')) copyFileSync(portFile(profile), portFile(dirname(profile)));
  return context;
}

const portFile = (profile: string): string => join(profile, 'DevToolsActivePort');

function debuggingPort(profile: string): string {
  const file = portFile(profile);
  if (!existsSync(file)) throw new Error('Chromium did not say where it can be driven.');
  return readFileSync(file, 'utf8').split('\n')[0] ?? '';
}

/** A new blank page. The first call takes the page that Chromium starts with. */
export async function openPage(): Promise<Page> {
  const context = await (launching ??= launch());
  const page = firstPage ?? (await context.newPage());
  firstPage = undefined;
  return page;
}
