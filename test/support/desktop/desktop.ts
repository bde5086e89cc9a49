import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, expect, vi } from 'vitest';
import type { RuntimeFile } from '../../../main/base/config.ts';
import { createElectronHost } from './desktop-on-electron.ts';
import { createStandInHost } from './desktop-on-stand-in.ts';
import { FREE_PORTS, type Ended } from '../program.ts';
import { track } from '../engine.ts';
import { callAt, type Output } from '../rpc/rpc-call.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/** The module `electron`, as passed to a function in the app's main process. */
export type ElectronModule = typeof Electron.CrossProcessExports;

/** A message box that waits for an answer. */
export interface ShownDialog {
  message: string;
  detail: string;
  buttons: string[];
  /** The title of its window, on the stand-in; null for none. */
  parent?: string | null;
  /** Whether the program has taken it back, on the stand-in. */
  isWithdrawn?(): boolean;
  /** Presses the button with this label. */
  press(label: string): void;
}

/** A started app, on Electron or on the stand-in for it. */
export interface RunningApp {
  /** The page of the app's window once it has loaded; after a crash, its replacement. */
  page(): Promise<Page>;
  /** The page at `address` in another window. */
  pageAt(address: string): Promise<Page>;
  /** Runs `run`, which must be self-contained, in the main process. */
  evaluate<Result, Argument = undefined>(
    run: (electron: ElectronModule, argument: Argument) => Result | Promise<Result>,
    argument?: Argument,
  ): Promise<Result>;
  nextDialog(): Promise<ShownDialog>;
  signal(signal: NodeJS.Signals): void;
  ended: Promise<Ended>;
}

export interface DesktopHost {
  name: string;
  /** Why it cannot be used on this machine. */
  missing: string | null;
  start(args: readonly string[], env: Record<string, string>): RunningApp;
}

/** The built app; `npm test` builds it first. */
export const DESKTOP_PROGRAM = join(import.meta.dirname, '..', '..', '..', 'out', 'main', 'desktop.js');

export const STAND_IN = createStandInHost();

/** Where the same scenarios run. */
export const HOSTS: readonly DesktopHost[] = [STAND_IN, createElectronHost()];

/** For test names: where they run, or why they are skipped. */
export const titleOf = ({ name, missing }: DesktopHost): string =>
  missing === null ? name : `${name} (not run: ${missing})`;

export interface Desktop extends RunningApp {
  dataDir: string;
  /** Its address, once it serves. */
  runtime(): RuntimeFile;
  serving(): Promise<void>;
  /** Calls one procedure over its control port. */
  call<Procedure extends string>(procedure: Procedure, input?: unknown): Promise<Output<Procedure>>;
  /** Quits it as its menu does, and waits for the end. */
  quit(): Promise<Ended>;
}

/** A session in which Electron draws no hidden window; real Electron uses the session of the tests. */
export const WAYLAND_SESSION = { ELECTRON_STAND_IN_SESSION: 'wayland' };

export interface DesktopStart {
  dataDir?: string;
  args?: readonly string[];
  env?: Record<string, string>;
  /** Opens no window, which saves a Chromium on the stand-in. */
  hidden?: boolean;
  /** A link passed by the system. */
  link?: string;
}

/** Starts the app on free ports and its own data folder, without a demo project by default. Ends it after the test. */
export function startDesktop<Host extends DesktopHost>(host: Host, options: DesktopStart = {}) {
  const desktop = launchDesktop(host, options, temporaryFolder);
  track(() => kill(desktop));
  return desktop;
}

/** One app for all tests of a `describe`; each test restores its state. */
export function useDesktop<Host extends DesktopHost>(host: Host, options: DesktopStart = {}) {
  let desktop: ReturnType<typeof launchDesktop<Host>> | null = null;
  afterAll(async () => {
    if (desktop !== null) await kill(desktop);
  });
  // Removed with the folder of the test file.
  const folder = () => mkdtempSync(join(dirname(tmpdir()), 'desktop-'));
  return () => (desktop ??= launchDesktop(host, options, folder));
}

async function kill(app: RunningApp): Promise<void> {
  app.signal('SIGKILL');
  await app.ended;
}

function launchDesktop<Host extends DesktopHost>(host: Host, options: DesktopStart, newFolder: () => string) {
  const { args = [...FREE_PORTS, '--empty'], env = {}, hidden = false, link } = options;
  const dataDir = options.dataDir ?? join(newFolder(), 'data');
  if (!existsSync(DESKTOP_PROGRAM)) throw new Error('The app is not built; run npm run build.');
  const own = [...(hidden ? ['--hidden'] : []), ...(link === undefined ? [] : [link])];
  // The test kills the app, which then cannot remove the files that it and Chromium made there.
  const app = host.start([...own, '--', '--data-dir', dataDir, ...args], { TMPDIR: newFolder(), ...env }) as ReturnType<
    Host['start']
  >;
  const runtime = () => JSON.parse(readFileSync(join(dataDir, 'runtime.json'), 'utf8')) as RuntimeFile;
  const early = app.ended.then<never>(({ code, stderr }) => {
    throw new Error(`The app ended with ${code}: ${stderr}`);
  });
  early.catch(() => undefined);
  const desktop: Desktop = {
    ...app,
    dataDir,
    runtime,
    async serving() {
      const isServing = () => existsSync(join(dataDir, 'runtime.json'));
      await Promise.race([vi.waitFor(() => expect(isServing()).toBe(true), SERVING), early]);
    },
    call: (procedure, input) => callAt(runtime().control, procedure, input),
    async quit() {
      await app.evaluate(({ app: running }) => running.quit());
      return app.ended;
    },
  };
  return desktop as Desktop & typeof app;
}

const SERVING = { timeout: 30_000, interval: 20 };

/** The errors that the app itself has printed, without Chromium's own lines. */
export const ownErrors = ({ stderr }: Ended): string =>
  stderr
    .split('\n')
    .filter((line) => !/^\[\d+:|^DevTools listening /.test(line))
    .join('\n');

/** Clicks an item of the app's menu by its label, at any depth. */
export function chooseFromMenu(app: RunningApp, label: string): Promise<void> {
  return app.evaluate(({ Menu }, wanted) => {
    const find = (menu: Electron.Menu | null | undefined): Electron.MenuItem | undefined => {
      for (const item of menu?.items ?? []) {
        const found = item.label === wanted ? item : find(item.submenu);
        if (found !== undefined) return found;
      }
      return undefined;
    };
    const item = find(Menu.getApplicationMenu());
    if (item === undefined) throw new Error(`There is no "${wanted}" in the menu.`);
    item.click();
  }, label);
}

/** Whether the app's window is visible, and the address of its page. */
export const windowState = (app: RunningApp): Promise<{ count: number; visible: boolean; url: string }> =>
  app.evaluate(({ BrowserWindow }) => {
    const windows = BrowserWindow.getAllWindows();
    const [window] = windows;
    return { count: windows.length, visible: window?.isVisible() ?? false, url: window?.webContents.getURL() ?? '' };
  });

/** Waits until the app's window is visible, and hides it. */
export async function hideWindow(app: RunningApp): Promise<void> {
  await expect.poll(async () => (await windowState(app)).visible).toBe(true);
  await app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.hide());
  await expect.poll(async () => (await windowState(app)).visible).toBe(false);
}
