import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Browser, Page } from 'playwright-core';
import { launchChromium } from '../../support/chromium.ts';
import { end, type Figure, median, ROOT, startVivarium, temporaryFolder } from '../harness.ts';

const ASSETS = join(ROOT, 'out', 'renderer', 'assets');

const OPENINGS = 15;

/**
 * For the page: sets `window.interactiveAt` to the time, in milliseconds since opening, when the Overview shows the
 * project's addresses, is connected, and has drawn a frame with both.
 */
const NOTE_INTERACTIVE = `window.interactiveAt = new Promise((resolve) => {
  const look = () => {
    const isThere = document.querySelector('main table caption') !== null && document.querySelector('.rail .open') !== null;
    if (isThere) requestAnimationFrame(() => resolve(performance.now()));
    else requestAnimationFrame(look);
  };
  look();
})`;

const NOTE_FRAME = `window.interactiveAt = new Promise((resolve) => {
  const look = () => requestAnimationFrame(() => (document.body === null ? look() : resolve(performance.now())));
  look();
})`;

/** The time from opening the interface until it is usable, and the size of its JavaScript. */
export async function interfaceOpening(): Promise<Figure[]> {
  const vivarium = await startVivarium(temporaryFolder());
  const { url, token } = vivarium.runtime.control;
  const empty = await serveEmptyPage();
  const browser = await launchChromium({ home: temporaryFolder() });
  const [overview, nothing] = [await openTab(browser, NOTE_INTERACTIVE), await openTab(browser, NOTE_FRAME)];
  const times = { overview: [] as number[], nothing: [] as number[] };
  // The first warms up the engine and the browser's own processes.
  for (let opening = 0; opening <= OPENINGS; opening++) {
    const openedMs = await open(overview, `${url}/#token=${token}`);
    const emptyMs = await open(nothing, empty.url);
    if (opening === 0) continue;
    times.overview.push(openedMs);
    times.nothing.push(emptyMs);
  }
  await browser.close();
  await end(vivarium.child);
  empty.close();

  const openedMs = median(times.overview);
  const sizes = readdirSync(ASSETS)
    .filter((file) => file.endsWith('.js'))
    .map((file) => gzipSync(readFileSync(join(ASSETS, file)), { level: 9 }).length);
  const shippedKb = sizes.reduce((sum, size) => sum + size) / 1_000;
  return [
    {
      what: 'the Overview, from opening to interactive, nothing cached',
      measured: `${Math.round(openedMs)} ms`,
      wanted: '≤ 500 ms',
      met: openedMs <= 500,
      detail: `${Math.round(Math.min(...times.overview))} to ${Math.round(Math.max(...times.overview))} ms over ${OPENINGS} openings; an empty page in the same run: ${Math.round(median(times.nothing))} ms`,
    },
    {
      what: 'JavaScript of all pages together, gzip',
      measured: `${Math.round(shippedKb)} kB`,
      wanted: '≤ 300 kB',
      met: shippedKb <= 300,
      detail: `${sizes.length} files, each loaded when its page is first opened`,
    },
  ];
}

/** A separate tab that keeps nothing between two openings: no files, no compiled code. */
async function openTab(browser: Browser, note: string): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  await session.send('Network.setCacheDisabled', { cacheDisabled: true });
  await page.addInitScript(note);
  return page;
}

async function open(page: Page, url: string): Promise<number> {
  await page.goto('about:blank');
  await page.goto(url, { waitUntil: 'commit' });
  return page.evaluate<number>('window.interactiveAt');
}

/** What this machine and its browser take for an empty page. */
async function serveEmptyPage(): Promise<{ url: string; close(): void }> {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>Nothing</title><p>Nothing</p>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, close: () => void server.close() };
}
