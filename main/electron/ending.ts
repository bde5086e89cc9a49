import { app, dialog, powerMonitor } from 'electron';
import type { Log } from '../base/log.ts';
import { settleInScratch } from './identity.ts';

/** Asked for by a terminal, a supervisor, or a session that ends. */
const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export interface QuitOptions {
  log: Log;
  /** Takes the windows away, lets requests in progress finish, and closes everything. */
  drain: () => Promise<void>;
}

/**
 * However the app is asked to end, it drains first, once; then it ends.
 * @returns whether it is on its way out
 */
export function drainBeforeQuit({ log, drain }: QuitOptions): { isQuitting: () => boolean } {
  let quitting = false;

  app.on('before-quit', (event) => {
    event.preventDefault();
    if (quitting) return;
    quitting = true;
    drain()
      .catch((error: unknown) => log.error('Not everything could be closed', { error }))
      // `app.quit` would ask every page first, and one that hangs would keep an app without servers.
      .finally(() => app.exit(0));
  });
  for (const signal of STOP_SIGNALS) process.on(signal, () => app.quit());
  powerMonitor.on('shutdown', () => app.quit());
  return { isQuitting: () => quitting };
}

/**
 * The process's last resort: what nobody caught is written down and shown, and ends the app, because nobody knows what
 * it left half done. What has been answered is on disk.
 */
export function reportUncaught({ log, logsDir }: { log: Log; logsDir: string }): void {
  let reported = false;

  async function report(error: unknown): Promise<void> {
    log.error('An error that nobody caught', { error: error instanceof Error ? error : new Error(String(error)) });
    if (reported) return;
    reported = true;
    await app.whenReady();
    const { response } = await dialog.showMessageBox({
      type: 'error',
      message: 'Vivarium failed, and has to end',
      detail: `${error instanceof Error ? error.message : String(error)}\n\nThe logs have all of it: ${logsDir}`,
      buttons: ['Start again', 'Quit'],
      cancelId: 1,
    });
    if (response === 0) app.relaunch();
    app.quit();
  }

  process.on('uncaughtException', (error) => void report(error));
  process.on('unhandledRejection', (error) => void report(error));
  // A terminal that started the app may be closed while it runs.
  for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined);
  app.on('child-process-gone', (_event, details) => log.error('One of the app’s processes ended', { ...details }));
}

/** Says why the app cannot even begin, such as a wrong option or a data folder that is somebody else's, and ends it. */
export async function failBeforeStart(error: unknown): Promise<void> {
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`${message}\n`);
  let removeScratch = (): void => undefined;
  try {
    if (!app.isReady()) removeScratch = settleInScratch();
  } catch {
    // The box would leave files in the data folder, and the message has been printed.
    return app.exit(1);
  }
  await app.whenReady();
  dialog.showErrorBox('Vivarium could not start', message);
  removeScratch();
  app.exit(1);
}

/** Calls back when the process is asked to end, which then does not end by itself; returns how to stop listening. */
export type OnStopSignal = (callback: (signal: string) => void) => () => void;

/**
 * Runs a command in the app's main process, without a window, a place in the dock, or a claim to be the only one; the
 * process ends with its exit code. What is printed has left before it does.
 */
export async function runCommandLine(run: (onStopSignal: OnStopSignal) => Promise<number>): Promise<void> {
  const removeScratch = settleInScratch();
  app.dock?.hide();
  const code = await run(onStopSignal);
  await Promise.all([process.stdout, process.stderr].map(flushed));
  removeScratch();
  app.exit(code);
}

/** Electron turns signals into requests to quit, on some systems before Node sees them: both are listened to. */
const onStopSignal: OnStopSignal = (callback) => {
  const onQuit = (event: { preventDefault: () => void }) => {
    event.preventDefault();
    callback('SIGTERM');
  };
  for (const signal of STOP_SIGNALS) process.on(signal, callback);
  app.on('before-quit', onQuit);
  return () => {
    for (const signal of STOP_SIGNALS) process.off(signal, callback);
    app.off('before-quit', onQuit);
  };
};

const flushed = (output: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => {
    output.write('', () => resolve());
  });
