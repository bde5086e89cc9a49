import { setTimeout as pause } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { withBrowser, WINDOW } from '../browser.ts';
import {
  createOpenProject,
  duringWrk,
  end,
  type Figure,
  median,
  perSecond,
  startVivarium,
  temporaryFolder,
  type Vivarium,
} from '../harness.ts';

const CHANGES = 40;

/** The pause between two changes, so that each finds an idle page. */
const PAUSE_MS = 400;

/** wrk requests as fast as it is answered, so that the load is at least this high on an otherwise idle machine. */
const LOAD_WANTED = 5_000;

/** For the page: sets `window.shownAt` to the time of the frame that shows `text`, in epoch milliseconds. */
const noteWhenShown = (text: string): string => `window.shownAt = new Promise((resolve) => {
  const main = document.getElementById('main');
  const look = () => {
    if (!main.textContent.includes(${JSON.stringify(text)})) return;
    observer.disconnect();
    requestAnimationFrame(() => resolve(performance.timeOrigin + performance.now()));
  };
  const observer = new MutationObserver(look);
  observer.observe(main, { subtree: true, childList: true, characterData: true });
}), undefined`;

interface Watched {
  page: Page;
  vivarium: Vivarium;
  projectId: string;
}

/** From a call that changes a pet to the frame of an open page that shows the change, idle and under API load. */
export async function interfaceChanges(): Promise<Figure[]> {
  const vivarium = await startVivarium(temporaryFolder());
  const { projectId, secret, host } = await createOpenProject(vivarium, 'Watched');
  await vivarium.call('pets.seed', { projectId, count: 1_000 });
  const port = vivarium.runtime.http.port;

  const measured = await withBrowser(async (browser) => {
    const page = await browser.newPage({ viewport: WINDOW });
    const { url, token } = vivarium.runtime.control;
    await page.goto(`${url}/#token=${token}`);
    await page.goto(`${url}/projects/watched`);
    await page.getByRole('heading', { level: 2, name: 'Watched' }).waitFor();
    const watched = { page, vivarium, projectId };
    const idle = await change(watched, 'Idle');
    const busy = await duringWrk(
      {
        url: `http://127.0.0.1:${port}/v1/pets?limit=20`,
        headers: { Host: `${host}:${port}`, Authorization: `Bearer ${secret}` },
      },
      async () => {
        await pause(2_000);
        return change(watched, 'Busy');
      },
    );
    return { idle, busy };
  });
  await end(vivarium.child);

  const { idle, busy } = measured;
  if (busy.load.failures > 0) throw new Error(`${busy.load.failures} requests failed under load.`);
  return [
    figure('a change in the engine, until an open page shows it', idle, 100, ''),
    figure(
      'the same while the API serves requests from the same process',
      busy.result,
      250,
      `, at ${perSecond(busy.load.requestsPerSecond)}`,
      busy.load.requestsPerSecond >= LOAD_WANTED,
    ),
  ];
}

/** Renames the first pet repeatedly; returns how long each name took to appear, counted from before the call. */
async function change({ page, vivarium, projectId }: Watched, name: string): Promise<number[]> {
  const delays: number[] = [];
  for (let index = 0; index <= CHANGES; index++) {
    const shown = `${name} ${index} of ${projectId}`;
    await page.evaluate(noteWhenShown(shown));
    const calledAt = performance.timeOrigin + performance.now();
    await vivarium.call('pets.update', { projectId, id: '1', name: shown });
    const delayMs = (await page.evaluate<number>('window.shownAt')) - calledAt;
    // The first change compiles the code that the others run.
    if (index > 0) delays.push(delayMs);
    await pause(PAUSE_MS);
  }
  return delays;
}

function figure(what: string, delays: readonly number[], wantedMs: number, load: string, isBusy = true): Figure {
  const sorted = delays.toSorted((a, b) => a - b);
  const p95Ms = sorted[Math.ceil(sorted.length * 0.95) - 1] ?? Number.NaN;
  return {
    what,
    measured: `${Math.round(median(delays))} ms`,
    wanted: `≤ ${wantedMs} ms${load === '' ? '' : ` at ${perSecond(LOAD_WANTED)}`}`,
    met: median(delays) <= wantedMs && isBusy,
    detail: `of ${delays.length}, 95 % within ${Math.round(p95Ms)} ms${load}`,
  };
}
