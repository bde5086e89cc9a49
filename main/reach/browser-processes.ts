import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { VivariumError } from '../contract/errors.ts';
import type { Browser } from './browsers.ts';

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
      // A separate process group, so that it can be killed as a whole and the terminal's Ctrl-C does not reach it.
      const child = spawn(browser.program, [...args], {
        stdio: ['ignore', 'ignore', 'pipe'],
        detached: HAS_GROUPS,
        env: { ...environment },
      });
      let said = '';
      child.stderr.on('data', (chunk: Buffer) => {
        said = (said + chunk.toString()).slice(-SAID_LENGTH_MAX);
      });
      const started = clock.realTimer(STARTED_MS, resolve);
      const gone = new Promise<void>((settle) => {
        const end = (what: string, cause?: unknown) => {
          started.cancel();
          reject(new VivariumError('unavailable', `${browser.name} (${browser.program}) ${what}`, { cause }));
          void removeProfile(profile).then(() => {
            running.delete(entry);
            settle();
          });
        };
        child.once('error', (error) => end(`could not be started: ${error.message}.`, error));
        child.once('exit', (code, signal) => {
          if (code !== 0) log.info('A browser has ended', { program: browser.program, code, signal });
          end(`exited immediately (${code ?? signal}): ${withAdvice(lastLine(said))}`);
        });
      });
      const entry: Running = { child, gone };
      running.add(entry);
    });
  }

  async function removeProfile(profile: string): Promise<void> {
    // Helper processes may write for a moment after the browser has exited.
    await rm(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }).catch((error: unknown) =>
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
      if (stopping) throw new VivariumError('unavailable', 'Vivarium is stopping.');
      if (running.size + starting >= BROWSERS_MAX) {
        throw new VivariumError(
          'conflict',
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
          throw new VivariumError('unavailable', 'Vivarium is stopping.');
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

/** Adds advice about Chromium's --no-sandbox: without the sandbox, code that escapes a page has the user's rights. */
const withAdvice = (line: string): string =>
  line.includes('--no-sandbox')
    ? `${line.replace(/\.$/, '')}. Start Vivarium as an ordinary user or, on a disposable machine, with VIVARIUM_BROWSER_ARGUMENTS=--no-sandbox.`
    : line;

const lastLine = (text: string): string => text.trim().split('\n').at(-1) || 'it reported no error.';

function signal(child: ChildProcess, name: 'SIGTERM' | 'SIGKILL'): void {
  if (child.pid === undefined) return;
  try {
    if (HAS_GROUPS) process.kill(-child.pid, name);
    else child.kill(name);
  } catch {
    // The process has already ended.
  }
}
