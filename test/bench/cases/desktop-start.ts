import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { withBrowser, WINDOW } from '../browser.ts';
import { end, type Figure, median, rangeOf, ROUNDS, startVivarium, temporaryFolder } from '../harness.ts';

const WANTED = 1.2;

/**
 * From the start of the app until its page is interactive, on the stand-in for Electron, compared with headless
 * Vivarium followed by the page in a browser: both in Chromium, on an existing data folder.
 */
export async function desktopStart(): Promise<Figure[]> {
  // The tests' own context; it needs nothing else here.
  const [{ STAND_IN }, { FREE_PORTS }] = await Promise.all([
    import('../../support/desktop.ts'),
    import('../../support/program.ts'),
  ]);
  const folder = temporaryFolder();

  async function startDesktop(): Promise<number> {
    const env = { TMPDIR: folder, ELECTRON_STAND_IN_APP_DATA: folder };
    const beganMs = performance.now();
    const app = STAND_IN.start(['--', '--data-dir', join(folder, 'desktop'), ...FREE_PORTS], env);
    await interactive(await app.page());
    const tookMs = performance.now() - beganMs;
    await app.evaluate(({ app: running }) => running.quit());
    await app.ended;
    return tookMs;
  }

  async function startHeadless(): Promise<number> {
    const beganMs = performance.now();
    const vivarium = await startVivarium(join(folder, 'headless'));
    const tookMs = await withBrowser(async (browser) => {
      const page = await browser.newPage({ viewport: WINDOW });
      const { url, token } = vivarium.runtime.control;
      await page.goto(`${url}/#token=${token}`);
      await interactive(page);
      return performance.now() - beganMs;
    });
    await end(vivarium.child);
    return tookMs;
  }

  // The first starts create the folders.
  await startDesktop();
  await startHeadless();
  const rounds: { desktop: number; headless: number }[] = [];
  for (let round = 0; round < ROUNDS; round++)
    rounds.push({ desktop: await startDesktop(), headless: await startHeadless() });
  const ratios = rounds.map(({ desktop, headless }) => desktop / headless);
  const medianOf = (side: 'desktop' | 'headless') => median(rounds.map((round) => round[side])).toFixed(0);
  return [
    {
      what: 'start of the app until its page is interactive, on the stand-in for Electron',
      measured: `${median(ratios).toFixed(2)} × headless and the page`,
      wanted: `≤ ${WANTED} ×`,
      met: median(ratios) <= WANTED,
      detail: `${medianOf('desktop')} against ${medianOf('headless')} ms; ${rangeOf(ratios)}`,
    },
  ];
}

/** The page is connected and shows what the demo serves. */
async function interactive(page: Page): Promise<void> {
  await Promise.all([
    page.locator('.rail .open').first().waitFor(),
    page.locator('main table caption').first().waitFor(),
  ]);
}
