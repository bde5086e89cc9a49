import type { Page } from 'playwright-core';
import { openInterface, type Task } from '../browser.ts';
import {
  createOpenProject,
  duringWrk,
  end,
  type Figure,
  type Load,
  median,
  perSecond,
  ROUNDS,
  runWrk,
  startVivarium,
  temporaryFolder,
} from '../harness.ts';

/** The maximum that is kept and shown. */
const ENTRIES = '10,000 entries';

/** The longest that the page may block typing and scrolling. */
const WANTED_MS = 50;

/** How long the page is traced: the size of its trace is limited. */
const LOOK_MS = 3_000;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A user's actions while entries arrive. */
const WAYS: Record<string, (page: Page) => Promise<void>> = {
  'looking on': () => pause(LOOK_MS),
  'scrolling up and down': async (page) => {
    await page.mouse.move(700, 500);
    for (let turn = 0; turn < 30; turn++) await wheel(page, 900);
    for (let turn = 0; turn < 10; turn++) await wheel(page, -3_000);
    await beside(page);
  },
  'typing a filter over bodies': async (page) => {
    await page.getByRole('combobox', { name: 'Filter' }).pressSequentially('status:2xx body:otter', { delay: 40 });
    await pause(500);
    await page.getByRole('combobox', { name: 'Filter' }).fill('');
    await pause(500);
  },
  'sorted by what was asked for': async (page) => {
    const title = page.getByRole('group', { name: 'Columns' }).getByRole('button', { name: 'Asked for' });
    await title.press('Enter');
    await pause(LOOK_MS);
    await page.getByRole('button', { name: 'newest first' }).press('Enter');
  },
};

/** A pointer over the rows pauses them. */
const beside = (page: Page): Promise<void> => page.mouse.move(700, 20);

async function wheel(page: Page, pixels: number): Promise<void> {
  await page.mouse.wheel(0, pixels);
  await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve())))');
}

/** The longest task of the Traffic page with 10,000 entries, while more arrive as fast as the API answers. */
export async function trafficPage(): Promise<Figure[]> {
  const vivarium = await startVivarium(temporaryFolder());
  const { projectId, secret, host } = await createOpenProject(vivarium, 'Bench');
  await vivarium.call('pets.seed', { projectId, count: 1_000 });
  const { port } = vivarium.runtime.http;
  const load: Load = {
    url: `http://127.0.0.1:${port}/v1/pets?limit=1`,
    headers: { Host: `${host}:${port}`, Authorization: `Bearer ${secret}` },
  };
  runWrk({ ...load, seconds: 6 });
  const opened = await openInterface(vivarium, '/projects/bench/traffic');
  const { page, tasksOf } = opened;
  await page.getByText(ENTRIES).waitFor();
  await beside(page);
  const longest = new Map<string, Task[]>();
  const rates: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    for (const [way, act] of Object.entries(WAYS)) {
      const { result, load: done } = await duringWrk(load, () => tasksOf(() => act(page)));
      const [task = { wallMs: 0, cpuMs: 0 }] = result;
      longest.set(way, [...(longest.get(way) ?? []), task]);
      rates.push(done.requestsPerSecond);
    }
  }
  await opened.close();
  await end(vivarium.child);
  return [...longest].map(([way, tasks]) => {
    const measured = median(tasks.map(({ cpuMs }) => cpuMs));
    return {
      what: `Traffic with ${ENTRIES} while more come, ${way}: longest task`,
      measured: `${measured.toFixed(0)} ms`,
      wanted: `≤ ${WANTED_MS} ms`,
      met: measured <= WANTED_MS,
      detail: `processor time, median of ${ROUNDS} rounds, at ${perSecond(median(rates))}; with what else the machine did meanwhile ${median(tasks.map(({ wallMs }) => wallMs)).toFixed(0)} ms`,
    };
  });
}
