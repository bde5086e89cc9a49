import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { chromium, type Browser, type LaunchOptions } from 'playwright-core';

/** Names under which systems install Chromium or Chrome. */
const COMMANDS = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'chrome'];

/** Chromium's headless shell, which needs half of the CPU time per page. */
const SHELL_COMMANDS = ['chromium-headless-shell', 'chrome-headless-shell'];

const FIXED_PLACES = [
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
  'C:\\Program Files (x86)\\Google\\Chrome\\Application\\chrome.exe',
];

/**
 * The system's Chromium: `VIVARIUM_CHROMIUM`, the first on PATH, or one in a usual location.
 * @throws Error that says how to install one.
 */
export function findChromium(environment: NodeJS.ProcessEnv = process.env): string {
  const named = environment.VIVARIUM_CHROMIUM;
  const candidates =
    named !== undefined && named !== '' ? [named] : [...onPath(COMMANDS, environment), ...FIXED_PLACES];
  const found = candidates.find(isExecutable);
  if (found !== undefined) return found;
  throw new Error(
    `${named === undefined ? 'No Chromium or Chrome was found' : `VIVARIUM_CHROMIUM is "${named}", which cannot be run`}. ` +
      'Install one ("apt install chromium", "brew install --cask chromium", https://www.google.com/chrome), ' +
      'or set VIVARIUM_CHROMIUM to its program file.',
  );
}

/**
 * For page tests: the headless shell on PATH, or else `findChromium`. Tests of trust stores, proxies and windows need
 * the whole Chromium.
 */
export function findHeadlessChromium(environment: NodeJS.ProcessEnv = process.env): string {
  if (environment.VIVARIUM_CHROMIUM !== undefined) return findChromium(environment);
  return onPath(SHELL_COMMANDS, environment).find(isExecutable) ?? findChromium(environment);
}

function onPath(commands: readonly string[], { PATH = '' }: NodeJS.ProcessEnv): string[] {
  const folders = PATH.split(delimiter).filter((folder) => folder !== '');
  return commands.flatMap((command) => folders.map((folder) => join(folder, command)));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Chromium makes it in its temporary folder. The path of a Unix socket may have 103 bytes on macOS, 107 on Linux. */
const SOCKET = '/org.chromium.Chromium.XXXXXX/SingletonSocket';
const SOCKET_BYTES_MAX = 103;

/**
 * A headless Chromium whose home is `home`, so that it reads only that folder's trust store (`.pki/nssdb`). The caller
 * closes it. @param options.tmpDir its temporary folder, which must outlive it; by default that of the test. Where its
 * socket's path would be too long, it gets a folder directly below /tmp.
 */
export async function launchChromium(options: LaunchOptions & { home: string; tmpDir?: string }): Promise<Browser> {
  const { home, tmpDir = tmpdir(), args = [], ...rest } = options;
  const { XDG_DATA_HOME: _data, XDG_CONFIG_HOME: _config, ...environment } = process.env;
  const isLong = process.platform !== 'win32' && Buffer.byteLength(tmpDir + SOCKET) > SOCKET_BYTES_MAX;
  const own = isLong ? mkdtempSync('/tmp/v-') : tmpDir;
  const browser = await chromium.launch({
    executablePath: findChromium(),
    // Its sandbox needs user namespaces, which containers and root do not have.
    args: ['--no-sandbox', ...args],
    env: { ...environment, HOME: home, TMPDIR: own },
    ...rest,
  });
  if (!isLong) return browser;
  const remove = (): void => rmSync(own, { recursive: true, force: true, maxRetries: 5 });
  // Playwright ends a browser that is still open with the process.
  process.once('exit', remove);
  browser.once('disconnected', () => {
    process.off('exit', remove);
    remove();
  });
  return browser;
}
