import { writeFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { openInterface, type Task } from '../browser.ts';
import { jsonOf } from './engine-turns.ts';
import {
  createOpenProject,
  end,
  type Figure,
  median,
  startVivarium,
  temporaryFolder,
  type Vivarium,
} from '../harness.ts';

const SEEDED = 1_000_000;
const FILE_BYTES = 60_000_000;

/** The pause between two requests of the client. */
const PAUSE_MS = 10;

/** The longest that the page may block typing and scrolling. */
const PAGE_WANTED_MS = 50;

/** How long the working page is traced: the size of its trace is limited. */
const LOOK_MS = 4_000;

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, LOOK_MS));

interface Project {
  projectId: string;
  secret: string;
  host: string;
}

/** How long an API client and the page's main thread wait while the page adds 1,000,000 pets and imports 60 MB. */
export async function longWork(): Promise<Figure[]> {
  const folder = temporaryFolder();
  const vivarium = await startVivarium(folder);
  const project = await createOpenProject(vivarium, 'Menagerie');
  const file = join(folder, 'pets.json');
  writeFileSync(file, jsonOf(FILE_BYTES));
  const opened = await openInterface(vivarium, '/projects/menagerie/pets');
  const { page, tasksOf } = opened;
  await page.getByText('No pets in production').waitFor();

  const figures: Figure[] = [];
  const idle = await asking(vivarium, project, pause);
  for (const [what, work] of [
    [`adding ${SEEDED.toLocaleString('en')} made-up pets`, () => seed(page)],
    ['importing a JSON file of 60 MB', () => importFile(page, file)],
  ] as const) {
    const startedMs = performance.now();
    const seen = tasksOf(pause);
    const waits = await asking(vivarium, project, work);
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(0);
    figures.push(apiFigure(what, waits, idle, seconds), pageFigure(what, await seen));
  }
  await opened.close();
  await end(vivarium.child);
  return figures;
}

/** On a busy machine this measures the machine; `engineTurns` measures the engine alone. */
function apiFigure(what: string, waits: readonly number[], idle: readonly number[], seconds: string): Figure {
  return {
    what: `GET /v1/pets while ${what} (${seconds} s): median, 99th percentile`,
    measured: `${median(waits).toFixed(0)}, ${quantile(waits, 0.99).toFixed(0)} ms`,
    wanted: 'nobody kept waiting',
    met: null,
    detail: `of ${waits.length}; while nothing else goes on ${median(idle).toFixed(0)}, ${quantile(idle, 0.99).toFixed(0)} ms`,
  };
}

function pageFigure(what: string, tasks: readonly Task[]): Figure {
  const longest = tasks[0]?.cpuMs ?? 0;
  const took = tasks.map(({ wallMs }) => wallMs);
  return {
    what: `the page while ${what}: longest task`,
    measured: `${longest.toFixed(0)} ms`,
    wanted: `≤ ${PAGE_WANTED_MS} ms`,
    met: longest <= PAGE_WANTED_MS,
    detail: `processor time; with what else the machine did meanwhile, 99.9 % took at most ${quantile(took, 0.999).toFixed(0)} ms`,
  };
}

async function seed(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'More actions for the pets' }).click();
  await page.getByRole('menuitem', { name: 'Add made-up pets' }).click();
  await page.getByRole('textbox', { name: 'How many' }).fill(String(SEEDED));
  await page.keyboard.press('Enter');
  await page.getByText('1,000,000 pets added to production.').waitFor({ timeout: 600_000 });
}

async function importFile(page: Page, file: string): Promise<void> {
  await page.getByRole('button', { name: 'Import', exact: true }).first().click();
  const dialog = page.getByRole('dialog', { name: 'Import pets' });
  await dialog.getByLabel('File to import').setInputFiles(file);
  await dialog.getByRole('button', { name: 'Import', exact: true }).click();
  const goingOn = dialog.getByRole('button', { name: 'Continue without this window' });
  await goingOn.waitFor();
  await goingOn.waitFor({ state: 'detached', timeout: 600_000 });
}

/** How long each request of a client took, in ms; it requests a page of pets repeatedly during `work`. */
async function asking(vivarium: Vivarium, project: Project, work: () => Promise<unknown>): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const waits: number[] = [];
  let working = true;
  const worked = work().finally(() => (working = false));
  while (working) {
    const sentMs = performance.now();
    await ask(vivarium, project, agent);
    waits.push(performance.now() - sentMs);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  agent.destroy();
  await worked;
  return waits;
}

function ask(vivarium: Vivarium, { host, secret }: Project, agent: Agent): Promise<void> {
  const { port } = vivarium.runtime.http;
  return new Promise((resolve, reject) => {
    const headers = { Host: `${host}:${port}`, Authorization: `Bearer ${secret}` };
    get({ host: '127.0.0.1', port, path: '/v1/pets?limit=20', headers, agent }, (response) => {
      response.resume();
      response.once('end', () => resolve());
      response.once('error', reject);
    }).once('error', reject);
  });
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
