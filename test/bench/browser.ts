import type { Browser, Page } from 'playwright-core';
import { launchChromium } from '../support/chromium.ts';
import { temporaryFolder, type Vivarium } from './harness.ts';

/** A common window size. */
export const WINDOW = { width: 1440, height: 900 };

/** Runs `work` with the system's Chromium and closes the browser afterwards. */
export async function withBrowser<Result>(work: (browser: Browser) => Promise<Result>): Promise<Result> {
  const browser = await launchChromium({ home: temporaryFolder() });
  try {
    return await work(browser);
  } finally {
    await browser.close();
  }
}

/**
 * A task of a page's main thread: how long it took, and how much of that time the thread ran. The rest went to other
 * programs; on an otherwise idle machine, and in PerformanceObserver there, both are the same.
 */
export interface Task {
  wallMs: number;
  cpuMs: number;
}

/** A real Chromium with a signed-in page. */
export interface BenchPage {
  page: Page;
  /** The tasks of the page's main thread during `act`, longest running time first. */
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

/** PerformanceObserver reports only tasks of 50 ms or more; the browser's own trace reports all of them. */
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
