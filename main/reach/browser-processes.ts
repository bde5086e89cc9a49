import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { conflict, unavailable } from '../contract/errors.ts';
import { explainNoBrowser, extraArguments, findBrowsers, kindOf } from './browsers.ts';
import type { Browser, BrowserSearch } from './browsers.ts';

/** The most browsers open at a time; each takes about 300 MB. */
export const BROWSERS_MAX = 5;

/** A program that cannot show a window exits within this real time. */
const STARTED_MS = 1_500;

/** How long a browser may take to close its windows, in real time. */
const END_MS_MAX = 3_000;

/** Characters kept from the end of a browser's error output. */
const SAID_LENGTH_MAX = 2_000;

const HAS_GROUPS = process.platform !== 'win32';

/** Start parameters that depend on the profile. */
export interface Prepared {
  args: readonly string[];
  environment: Readonly<Record<string, string | undefined>>;
}

interface Running {
  child: ChildProcess;
  /** Resolves when the process has ended and its profile is removed. */
  gone: Promise<void>;
}

export type BrowserProcesses = ReturnType<typeof createBrowserProcesses>;

/** Browsers with throw-away profiles: starts, counts and ends them with the engine, and removes their profiles. */
export function createBrowserProcesses(options: {
  clock: Pick<Clock, 'realTimer'>;
  log: Log;
  /** Parent folder of profiles, except for confined browsers. */
  temporaryDir: string;
}) {
  const { clock, log, temporaryDir } = options;
  const running = new Set<Running>();
  let starting = 0;
  let stopping = false;

  function run(browser: Browser, profile: string, { args, environment }: Prepared): Promise<void> {
    return new Promise((resolve, reject) => {
      const { child, lastLine } = spawnBrowser(browser, args, environment);
      const started = clock.realTimer(STARTED_MS, resolve);
      const gone = new Promise<void>((settle) => {
        const end = (what: string, cause?: unknown) => {
          started.cancel();
          reject(unavailable(`${browser.name} (${browser.program}) ${what}`, { cause }));
          void removeProfile(profile).then(() => {
            running.delete(entry);
            settle();
          });
        };
        child.once('error', (error) => end(`could not be started: ${error.message}.`, error));
        child.once('exit', (code, signal) => {
          if (code !== 0) log.info('A browser has ended', { program: browser.program, code, signal });
          end(`exited immediately (${code ?? signal}): ${withAdvice(lastLine() || 'it reported no error.')}`);
        });
      });
      const entry: Running = { child, gone };
      running.add(entry);
    });
  }

  async function removeProfile(profile: string): Promise<void> {
    await removeFolder(profile).catch((error: unknown) =>
      log.warn('The profile of a browser could not be removed', { profile, error }),
    );
  }

  async function end({ child, gone }: Running): Promise<void> {
    signal(child, 'SIGTERM');
    const deadline = clock.realTimer(END_MS_MAX, () => signal(child, 'SIGKILL'));
    await gone;
    deadline.cancel();
  }

  return {
    /**
     * Starts `browser`; resolves when it runs.
     * @throws VivariumError `conflict` when too many are open; `unavailable`, with the browser's own message, when it
     * exits immediately.
     */
    async open(browser: Browser, prepare: (profile: string) => Promise<Prepared>): Promise<void> {
      if (stopping) throw unavailable('Vivarium is stopping.');
      if (running.size + starting >= BROWSERS_MAX) {
        throw conflict(
          `${BROWSERS_MAX} temporary browsers are already open. Close one of them, or open the address in it.`,
        );
      }
      const parent = browser.confinedTo ?? temporaryDir;
      mkdirSync(parent, { recursive: true });
      const profile = mkdtempSync(join(parent, 'vivarium-browser-'));
      starting++;
      try {
        const prepared = await prepare(profile).catch(async (error: unknown) => {
          await removeProfile(profile);
          throw error;
        });
        if (stopping) {
          await removeProfile(profile);
          throw unavailable('Vivarium is stopping.');
        }
        await run(browser, profile, prepared);
      } finally {
        starting--;
      }
    },
    opened: (): number => running.size,
    /** Ends all browsers and removes their profiles. */
    async stop(): Promise<void> {
      stopping = true;
      await Promise.all([...running].map(end));
    },
  };
}

/** Arguments for a separate Firefox, even if another one is running. */
export const firefoxArguments = (profile: string): string[] => ['--no-remote', '--new-instance', '--profile', profile];

/** In a process group of its own, so that it can be killed as a whole and the terminal's Ctrl-C does not reach it. */
function spawnBrowser({ program }: Browser, args: readonly string[], environment: Prepared['environment']) {
  const child = spawn(program, [...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: HAS_GROUPS,
    env: { ...environment },
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-SAID_LENGTH_MAX)));
  return { child, lastLine: () => said.trim().split('\n').at(-1) ?? '' };
}

/** Helper processes may write for a moment after the browser has exited. */
const removeFolder = (folder: string): Promise<void> =>
  rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });

/** Adds advice about Chromium's --no-sandbox: without the sandbox, code that escapes a page has the user's rights. */
const withAdvice = (line: string): string =>
  line.includes('--no-sandbox')
    ? `${line.replace(/\.$/, '')}. Start Vivarium as an ordinary user or, on a disposable machine, with VIVARIUM_BROWSER_ARGUMENTS=--no-sandbox.`
    : line;

function signal(child: ChildProcess, name: 'SIGTERM' | 'SIGKILL'): void {
  if (child.pid === undefined) return;
  try {
    if (HAS_GROUPS) process.kill(-child.pid, name);
    else child.kill(name);
  } catch {
    // The process has already ended.
  }
}

/** Real milliseconds for a browser to start and open one page, on a busy machine. */
const TRIAL_MS_MAX = 20_000;

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
    ? ['--headless', ...firefoxArguments(profile), startPage(profile, url)]
    : ['--headless', '--no-first-run', `--user-data-dir=${profile}`, ...more, '--dump-dom', url];
  const { child, lastLine } = spawnBrowser(browser, args, environment);
  const ended = new Promise<string>((resolve) => {
    child.once('error', ({ message }) => resolve(message));
    child.once('close', () => resolve(lastLine()));
  });
  const late = Promise.withResolvers<null>();
  const timer = clock.realTimer(TRIAL_MS_MAX, () => late.resolve(null));
  const opened = await Promise.race([
    options.arrived.then(() => true),
    // The browser may keep running after the page was requested.
    Promise.race([ended, late.promise]).then(() => false),
  ]);
  timer.cancel();
  signal(child, 'SIGKILL');
  const said = await ended;
  await removeFolder(profile).catch(() => undefined);
  return opened ? { opened } : { opened, said };
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
