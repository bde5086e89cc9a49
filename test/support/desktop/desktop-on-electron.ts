import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { _electron, type ElectronApplication, type Page } from 'playwright-core';
import { vi } from 'vitest';
import { environment } from '../../smoke/subject.ts';
import { isGone, leaveDialogs, watchCrashes } from './desktop-pages.ts';
import type { DesktopHost, RunningApp } from './desktop.ts';
import { follow } from '../program.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const PACKAGE = join(ROOT, 'node_modules', 'electron');
const PATIENCE_MS = 30_000;

/** Electron itself. Located through its package's files: requiring the package could start a download. */
export const createElectronHost = (): DesktopHost => ({ name: 'Electron itself', missing: reasonMissing(), start });

function binary(): string | null {
  const pathFile = join(PACKAGE, 'path.txt');
  if (!existsSync(pathFile)) return null;
  const path = join(PACKAGE, 'dist', readFileSync(pathFile, 'utf8'));
  return existsSync(path) ? path : null;
}

function reasonMissing(): string | null {
  if (binary() === null) return 'its binary is not installed here; "npx install-electron" would fetch it';
  const { DISPLAY, WAYLAND_DISPLAY } = process.env;
  if (process.platform === 'linux' && DISPLAY === undefined && WAYLAND_DISPLAY === undefined) {
    return 'there is no display; "xvfb-run npm test" would give it one';
  }
  return process.getuid?.() === 0 ? 'it does not start as root' : null;
}

function start(args: readonly string[], env: Record<string, string>): RunningApp {
  const given = Object.entries({ ...environment(), NO_COLOR: '1', ...env }).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  const starting = _electron.launch({
    executablePath: binary() ?? '',
    args: [ROOT, ...args],
    // Otherwise Playwright would start processes that no user starts.
    chromiumSandbox: true,
    env: Object.fromEntries(given),
  });
  void starting.then((app) => {
    watchCrashes(app.context());
    leaveDialogs(app.context());
  });
  const ended = starting.then((app) => follow(app.process()).ended);

  async function pageAt(address: string): Promise<Page> {
    const app = await starting;
    return vi.waitFor(
      () => {
        const found = app.windows().findLast((page) => !isGone(page) && page.url().startsWith(address));
        if (found === undefined) throw new Error(`No page is at ${address}.`);
        return found;
      },
      { timeout: PATIENCE_MS, interval: 50 },
    );
  }

  return {
    page: () => pageAt('app://vivarium/'),
    pageAt,
    async evaluate(run, argument) {
      const app = await starting;
      return app.evaluate(run as never, argument) as Promise<never>;
    },
    nextDialog: async () => takeDialog(await starting),
    signal: (signal) => void starting.then((app) => app.process().kill(signal)),
    ended,
  };
}

/** Acts as the user: keeps the next message box open until the test presses one of its buttons. */
async function takeDialog(app: ElectronApplication) {
  const shown = await app.evaluate(
    ({ dialog }) =>
      new Promise<{ message: string; detail: string; buttons: string[] }>((resolve) => {
        dialog.showMessageBox = (...given: unknown[]) => {
          const options = given.at(-1) as Electron.MessageBoxOptions;
          const { message, detail = '', buttons = ['OK'] } = options;
          resolve({ message, detail, buttons });
          return new Promise((answer) => {
            Object.assign(globalThis, {
              pressButton: (response: number) => answer({ response, checkboxChecked: false }),
            });
          });
        };
      }),
  );
  return {
    ...shown,
    press(label: string) {
      void app.evaluate((_electron, response) => {
        (globalThis as unknown as { pressButton: (response: number) => void }).pressButton(response);
      }, shown.buttons.indexOf(label));
    },
  };
}
