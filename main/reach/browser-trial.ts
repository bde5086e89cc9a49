import { spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Clock } from '../base/clock.ts';
import { type Browser, type BrowserSearch, explainNoBrowser, findBrowsers, kindOf } from './browsers.ts';
import { extraArguments } from './open-browser.ts';

/** Real milliseconds for a browser to start and open one page, on a busy machine. */
const TRIAL_MS_MAX = 20_000;

/** Characters kept from the end of a browser's error output. */
const SAID_LENGTH_MAX = 2_000;

const HAS_GROUPS = process.platform !== 'win32';

interface TrialOptions {
  browser: Browser;
  /** Opened without a window; `arrived` resolves when its request arrives over verified HTTPS. */
  url: string;
  arrived: Promise<unknown>;
  /** The Firefox profile whose settings and certificates are copied; null for none. */
  firefoxProfile: string | null;
  environment: Readonly<Record<string, string | undefined>>;
  /** The user's extra arguments. */
  more: readonly string[];
  /** Parent folder of profiles, except for confined browsers. */
  temporaryDir: string;
  clock: Pick<Clock, 'realTimer'>;
}

/** The result; `said`: the last line of the browser's error output, which may be empty. */
export type TrialResult = { opened: true } | { opened: false; said: string };

/**
 * Opens a page in a browser as the user has set it up: with the system's settings, policies and trust store, and with a
 * copy of a Firefox profile's settings and certificates. Changes none of them.
 */
async function tryBrowser(options: TrialOptions): Promise<TrialResult> {
  const { browser, url, environment, more, clock } = options;
  const profile = mkdtempSync(join(browser.confinedTo ?? options.temporaryDir, 'vivarium-trial-'));
  const firefox = kindOf(browser) === 'firefox';
  if (firefox) copySettings(options.firefoxProfile, profile);
  const args = firefox
    ? ['--headless', '--no-remote', '--new-instance', '--profile', profile, startPage(profile, url)]
    : ['--headless', '--no-first-run', `--user-data-dir=${profile}`, ...more, '--dump-dom', url];
  const child = spawn(browser.program, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: HAS_GROUPS,
    env: { ...environment },
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-SAID_LENGTH_MAX)));
  const ended = new Promise<void>((resolve) => {
    child.once('error', (error) => {
      said = error.message;
      resolve();
    });
    child.once('close', () => resolve());
  });
  const late = Promise.withResolvers<null>();
  const timer = clock.realTimer(TRIAL_MS_MAX, () => late.resolve(null));
  const opened = await Promise.race([
    options.arrived.then(() => true),
    // The browser may keep running after the page was requested.
    Promise.race([ended, late.promise]).then(() => false),
  ]);
  timer.cancel();
  endGroup(child.pid);
  await ended;
  await rm(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }).catch(() => undefined);
  return opened ? { opened } : { opened, said: said.trim().split('\n').at(-1) ?? '' };
}

interface TrialPage extends Pick<TrialOptions, 'url' | 'arrived'> {
  forget: () => void;
}

/** Opens a page in every installed browser with the user's own profile; a sentence if there is none. */
export async function tryBrowsers(
  page: () => TrialPage,
  { search, ...options }: { search: BrowserSearch } & Pick<TrialOptions, 'firefoxProfile' | 'temporaryDir' | 'clock'>,
) {
  const { environment, platform } = search;
  const found = new Map([...findBrowsers(search)].reverse().map((browser) => [browser.name, browser]));
  if (found.size === 0) return explainNoBrowser(platform);
  return Promise.all(
    [...found.values()].map(async (browser) => {
      const { url, arrived, forget } = page();
      const trial = { ...options, browser, url, arrived, environment, more: extraArguments(environment) };
      const result = await tryBrowser(trial).finally(forget);
      return { name: browser.name, kind: kindOf(browser), result };
    }),
  );
}

/** Firefox's preferences for DNS, proxies and trust. */
const COPIED_SETTINGS = /^user_pref\("(?:network\.(?:trr|proxy)\.|security\.enterprise_roots\.)[^\n]*$/gm;
const COPIED_FILES = ['cert9.db', 'key4.db'];

function copySettings(from: string | null, to: string): void {
  if (from === null) return;
  for (const name of COPIED_FILES) if (existsSync(join(from, name))) copyFileSync(join(from, name), join(to, name));
  const lines = ['prefs.js', 'user.js']
    .filter((name) => existsSync(join(from, name)))
    .flatMap((name) => readFileSync(join(from, name), 'utf8').match(COPIED_SETTINGS) ?? []);
  writeFileSync(join(to, 'user.js'), `${lines.join('\n')}\n`);
}

/** Firefox probes its DNS server while it opens its first page, so this page retries the URL every second. */
function startPage(profile: string, url: string): string {
  const file = join(profile, 'start.html');
  writeFileSync(file, `<!doctype html><meta http-equiv="refresh" content="1"><img src="${url}" alt="">`);
  return pathToFileURL(file).href;
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(HAS_GROUPS ? -pid : pid, 'SIGKILL');
  } catch {
    // The group has already ended.
  }
}
