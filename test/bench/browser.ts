import type { Browser, Page } from 'playwright-core';
import { launchChromium } from '../support/chromium.ts';
import { temporaryFolder, type Vivarium } from './harness.ts';

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

/**
 * A task of a page's main thread: how long it took, and how much of that it ran. The rest belonged to other programs:
 * on a machine with nothing else to do, and as PerformanceObserver tells it there, the two are the same.
 */
export interface Task {
  wallMs: number;
  cpuMs: number;
}

/** A real Chromium with a signed-in page. */
export interface BenchPage {
  page: Page;
  /** The tasks of the page's main thread while `act` goes on, the one that ran longest first. */
  tasksOf(act: () => Promise<void>): Promise<Task[]>;
  close(): Promise<void>;
}

interface TraceEvent {
  name: string;
  ph: string;
  pid: number;
  tid: number;
  /** Microseconds. */
  dur?: number;
  tdur?: number;
  args: { name?: string };
}

/** Opens the interface of a running Vivarium at `path`. */
export async function openInterface(vivarium: Vivarium, path: string): Promise<BenchPage> {
  const browser = await launchChromium({ home: temporaryFolder() });
  const page = await browser.newPage({ viewport: WINDOW });
  const { url, token } = vivarium.runtime.control;
  await page.goto(`${url}/#token=${token}`);
  await page.getByText('live', { exact: true }).waitFor();
  await page.goto(url + path);
  return {
    page,
    tasksOf: (act) => traced(browser, page, act),
    close: () => browser.close(),
  };
}

/** PerformanceObserver tells of tasks from 50 ms on only; the browser's own trace tells of all. */
async function traced(browser: Browser, page: Page, act: () => Promise<void>): Promise<Task[]> {
  await browser.startTracing(page, { categories: ['toplevel'] });
  await act();
  const trace = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] };
  const thread = ({ pid, tid }: TraceEvent) => `${pid}:${tid}`;
  const main = new Set(
    trace.traceEvents
      .filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain')
      .map((event) => thread(event)),
  );
  return trace.traceEvents
    .filter((event) => event.ph === 'X' && event.name.endsWith('RunTask') && main.has(thread(event)))
    .map(({ dur = 0, tdur = 0 }) => ({ wallMs: dur / 1000, cpuMs: tdur / 1000 }))
    .toSorted((a, b) => b.cpuMs - a.cpuMs);
}
