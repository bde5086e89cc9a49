import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, join } from 'node:path';
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

/**
 * For pages that live for seconds: drawing in the browser's own process costs a quarter less, and code that V8 does not
 * optimize costs a tenth less than code that it optimizes and then drops with the page.
 */
export const FRUGAL = ['--in-process-gpu', '--js-flags=--no-opt --no-maglev'];

function onPath(commands: readonly string[], { PATH = '' }: NodeJS.ProcessEnv): string[] {
  const folders = PATH.split(delimiter).filter((folder) => folder !== '');
  return commands.flatMap((command) => folders.map((folder) => join(folder, command)));
}

export function isExecutable(path: string): boolean {
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
 * `folder`, or a new one directly below /tmp if the path of Chromium's socket would be too long in it. `made` gets the
 * function that removes the new one.
 */
export function folderForSocket(folder: string, made: (remove: () => void) => void): string {
  if (process.platform === 'win32' || Buffer.byteLength(folder + SOCKET) <= SOCKET_BYTES_MAX) return folder;
  const short = mkdtempSync('/tmp/v-');
  made(() => rmSync(short, { recursive: true, force: true, maxRetries: 5 }));
  return short;
}

/**
 * A headless Chromium whose home is `home`, so that it reads only that folder's trust store (`.pki/nssdb`). The caller
 * closes it. @param options.tmpDir its temporary folder, which must outlive it; by default that of the test.
 */
export async function launchChromium(options: LaunchOptions & { home: string; tmpDir?: string }): Promise<Browser> {
  const { home, tmpDir = tmpdir(), executablePath = findChromium(), args = [], ...rest } = options;
  const { XDG_DATA_HOME: _data, XDG_CONFIG_HOME: _config, ...environment } = process.env;
  let remove = (): void => {};
  // The headless shell has no such socket.
  const isShell = SHELL_COMMANDS.includes(basename(executablePath));
  const own = isShell ? tmpDir : folderForSocket(tmpDir, (made) => (remove = made));
  const browser = await chromium.launch({
    executablePath,
    // Its sandbox needs user namespaces, which containers and root do not have.
    args: ['--no-sandbox', ...args],
    env: { ...environment, HOME: home, TMPDIR: own },
    ...rest,
  });
  browser.once('disconnected', () => remove());
  return browser;
}
