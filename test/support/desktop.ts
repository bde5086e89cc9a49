import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import type { RuntimeFile } from '../../main/base/config.ts';
import { createElectronHost } from './desktop-on-electron.ts';
import { createStandInHost } from './desktop-on-stand-in.ts';
import { FREE_PORTS, type Ended } from './program.ts';
import { temporaryFolder, track } from './engine.ts';

/** The module `electron`, as a function that runs in the app's main process is given it. */
export type ElectronModule = typeof Electron.CrossProcessExports;

/** A message box that waits for an answer. */
export interface ShownDialog {
  message: string;
  detail: string;
  buttons: string[];
  /** Presses the button with this label. */
  press(label: string): void;
}

/** A started app, on Electron or on the stand-in for it. */
export interface RunningApp {
  /** The page of the app's window, once it is loaded; after a crash, the one that took its place. */
  page(): Promise<Page>;
  /** The page that is at `address`, of another window. */
  pageAt(address: string): Promise<Page>;
  /** Runs `run`, which must not use anything from outside it, in the main process. */
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

/** The app as it is built; `npm test` builds it first. */
export const DESKTOP_PROGRAM = join(import.meta.dirname, '..', '..', 'out', 'main', 'desktop.js');

export const STAND_IN = createStandInHost();

/** Where the same scenarios run. */
export const HOSTS: readonly DesktopHost[] = [STAND_IN, createElectronHost()];

/** For the names of tests: where they run, or why they do not. */
export const titleOf = ({ name, missing }: DesktopHost): string =>
  missing === null ? name : `${name} (not run: ${missing})`;

export interface Desktop extends RunningApp {
  dataDir: string;
  /** Where it serves, once it does. */
  runtime(): RuntimeFile;
  /** One procedure over its control port. */
  call(procedure: string, input?: unknown): Promise<unknown>;
  /** Asks it to quit, as its menu does, and waits for the end. */
  quit(): Promise<Ended>;
}

/** A session in which Electron draws no hidden window; Electron itself takes the one that the tests run in. */
export const WAYLAND_SESSION = { ELECTRON_STAND_IN_SESSION: 'wayland' };

/** Starts the app on free ports and a data folder of its own, without a demo project unless told otherwise. */
export function startDesktop(
  host: DesktopHost,
  options: { dataDir?: string; args?: readonly string[]; env?: Record<string, string> } = {},
): Desktop {
  const dataDir = options.dataDir ?? join(temporaryFolder(), 'data');
  const { args = [...FREE_PORTS, '--empty'], env = {} } = options;
  if (!existsSync(DESKTOP_PROGRAM)) throw new Error('The app is not built; run npm run build.');
  // The test kills it, so that it cannot clear away what it and Chromium have made there.
  const app = host.start(['--', '--data-dir', dataDir, ...args], { TMPDIR: temporaryFolder(), ...env });
  track(async () => {
    app.signal('SIGKILL');
    await app.ended;
  });
  const runtime = () => JSON.parse(readFileSync(join(dataDir, 'runtime.json'), 'utf8')) as RuntimeFile;
  return {
    ...app,
    dataDir,
    runtime,
    async call(procedure, input) {
      const { url, token } = runtime().control;
      const response = await fetch(`${url}/api/${procedure.replace('.', '/')}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(input ?? {}),
      });
      const value: unknown = await response.json();
      if (!response.ok) throw new Error(JSON.stringify(value));
      return value;
    },
    async quit() {
      await app.evaluate(({ app: running }) => running.quit());
      return app.ended;
    },
  };
}

/** Chooses an item of the app's menu by its label, wherever it is. */
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

/** Whether the app's window can be seen, and where its page is. */
export const windowState = (app: RunningApp): Promise<{ count: number; visible: boolean; url: string }> =>
  app.evaluate(({ BrowserWindow }) => {
    const windows = BrowserWindow.getAllWindows();
    const [window] = windows;
    return {
      count: windows.length,
      visible: window?.isVisible() ?? false,
      url: window?.webContents.getURL() ?? '',
    };
  });

/** Waits until the app's window can be seen, and hides it. */
export async function hideWindow(app: RunningApp): Promise<void> {
  await expect.poll(async () => (await windowState(app)).visible).toBe(true);
  await app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.hide());
  expect((await windowState(app)).visible).toBe(false);
}
