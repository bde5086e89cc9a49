import { app, BaseWindow, dialog, type Event, powerMonitor } from 'electron';
import { spawn } from 'node:child_process';
import { realTime } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { prepareScratchPaths } from './system.ts';
import { openingOf, pageOfLink } from './rules.ts';
import { messageOf } from '../base/error-code.ts';

/** Sent by a terminal, a supervisor, or the end of a session. */
const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export interface QuitOptions {
  log: Log;
  /** Hides the windows, lets requests in progress finish, and closes everything. */
  drain: () => Promise<void>;
}

/** Maximum time for closing all parts. */
const DRAIN_MS_MAX = 10_000;

/** Drains once before any kind of quit, then exits. */
export function drainBeforeQuit({ log, drain }: QuitOptions) {
  let quitting = false;
  let draining: Promise<void> | null = null;

  function drainOnce(): Promise<void> {
    quitting = true;
    return (draining ??= drainInTime());
  }

  function drainInTime(): Promise<void> {
    const limit = Promise.withResolvers<never>();
    const timer = realTime.schedule(DRAIN_MS_MAX, () => limit.reject(new Error(`closing took ${DRAIN_MS_MAX} ms`)));
    return Promise.race([drain(), limit.promise])
      .catch((error: unknown) => log.error('Not everything could be closed', { error }))
      .finally(() => timer.cancel());
  }

  app.on('before-quit', (event) => {
    event.preventDefault();
    // `app.quit` would ask every page first; a page that hangs would leave an app without servers.
    void drainOnce().then(() => app.exit(0));
  });
  for (const signal of STOP_SIGNALS) process.on(signal, () => app.quit());
  // Electron on Linux delays the end of a session only if another listener was added before.
  powerMonitor.on('suspend', () => undefined);
  powerMonitor.on('shutdown', (event?: Event) => {
    // Without this, the session does not wait for the draining.
    event?.preventDefault();
    app.quit();
  });
  if (process.platform === 'win32') void app.whenReady().then(hearSessionEnd);
  return {
    /** Drains; further calls wait for the first. Never rejects. */
    drain: drainOnce,
    isQuitting: (): boolean => quitting,
  };
}

/**
 * Windows asks windows whether its session may end, and Electron then emits no `before-quit`. The app's own window may
 * never have been opened, so an empty and invisible one is asked.
 */
function hearSessionEnd(): void {
  const window = new BaseWindow({ title: 'Vivarium', show: false });
  window.on('query-session-end', (event) => {
    // The session waits for the draining.
    event.preventDefault();
    app.quit();
  });
}

/** Passes on uncaught errors; the servers run in this process, so the engine may have failed. */
export function catchUncaught(log: Log, fail: (error: unknown) => void): void {
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);
  // The terminal that started the app may close while it runs.
  for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined);
  app.on('child-process-gone', (_event, details) => log.error('One of the app’s processes ended', { ...details }));
}

/**
 * Drains, names the error in a box, and quits: no engine runs, and none can be started. The box waits for the draining,
 * because on macOS it blocks this process and its servers.
 */
export async function endWith(error: unknown, options: { logsDir: string; drain: () => Promise<void> }): Promise<void> {
  await Promise.all([options.drain(), app.whenReady()]);
  await dialog.showMessageBox({
    type: 'error',
    message: 'Vivarium failed and has to quit',
    detail: `${messageOf(error)}\n\nThe logs have the details: ${options.logsDir}`,
    buttons: ['Quit'],
  });
  app.quit();
}

/** Reports an error from before the start, such as a wrong option or another user's data folder, and exits. */
export async function failBeforeStart(error: unknown): Promise<void> {
  const message = messageOf(error);
  process.stderr.write(`${message}\n`);
  try {
    if (!app.isReady()) prepareScratchPaths();
  } catch {
    // The dialog would leave files in the data folder, and the message has already been printed.
    return app.exit(1);
  }
  await app.whenReady();
  dialog.showErrorBox('Vivarium could not start', message);
  app.exit(1);
}

/** Calls back on a stop signal instead of letting the process end; returns a function that stops listening. */
export type OnStopSignal = (callback: (signal: string) => void) => () => void;

/** A command of the installed app. */
export type Command = (onStopSignal: OnStopSignal) => Promise<number>;

/** The exit code that shells report for a program ended by SIGINT. */
const EXIT_INTERRUPTED = 130;

/**
 * Runs a command in the app's main process, without a window, dock icon or single-instance lock. Flushes the output and
 * exits with the command's exit code; with 130 when a signal stops a command that does not listen for it.
 */
export async function runCommandLine(run: Command): Promise<void> {
  try {
    prepareScratchPaths();
    app.dock?.hide();
    openAppInstead();
    app.on('before-quit', (event) => {
      if (event.defaultPrevented) return;
      event.preventDefault();
      app.exit(EXIT_INTERRUPTED);
    });
    const code = await run(onStopSignal);
    await Promise.all([process.stdout, process.stderr].map(flushed));
    app.exit(code);
  } catch (error) {
    // Electron would only print a warning, and never exit.
    process.stderr.write(`${messageOf(error)}\n`);
    app.exit(1);
  }
}

/** macOS takes a running command for the app: Finder, the Dock and links then reach this process, which has no window. */
function openAppInstead(): void {
  const open = (link: string | null) => {
    const child = spawn('open', openingOf(process.execPath, link), { detached: true, stdio: 'ignore' });
    child.once('error', () => undefined).unref();
  };
  app.on('activate', () => open(null));
  app.on('open-url', (event, link) => {
    event.preventDefault();
    if (pageOfLink(link) !== null) open(link);
  });
}

/** Electron turns signals into quit requests, on some systems before Node sees them: listen to both. */
const onStopSignal: OnStopSignal = (callback) => {
  const onQuit = (event: Event) => {
    event.preventDefault();
    callback('SIGTERM');
  };
  for (const signal of STOP_SIGNALS) process.on(signal, callback);
  // Before the listener that ends the command.
  app.prependListener('before-quit', onQuit);
  return () => {
    for (const signal of STOP_SIGNALS) process.off(signal, callback);
    app.off('before-quit', onQuit);
  };
};

const flushed = (output: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => {
    output.write('', () => resolve());
  });
