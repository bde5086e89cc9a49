import { app, dialog, type BrowserWindow } from 'electron';
import type { Log } from '../base/log.ts';
import { settleInScratch } from './identity.ts';
import { PAGE_URL } from './page-url.ts';

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

/** Offers to load the page again when its process has ended or answers no more. The servers are another process. */
export function offerReload(window: BrowserWindow, options: { log: Log; isQuitting: () => boolean }): void {
  const { log, isQuitting } = options;
  let asking = false;

  async function offer(message: string, buttons: [reload: string, leave: string]): Promise<void> {
    if (asking || isQuitting() || window.isDestroyed()) return;
    asking = true;
    window.show();
    const { response } = await dialog.showMessageBox(window, {
      type: 'warning',
      message,
      detail: 'The servers are running; only the window is affected.',
      buttons,
      cancelId: 1,
    });
    asking = false;
    if (response !== 0 || window.isDestroyed()) return;
    await window.loadURL(PAGE_URL).catch((error: unknown) => log.error('The page could not be loaded', { error }));
  }

  window.webContents.on('render-process-gone', (_event, { reason, exitCode }) => {
    if (reason === 'clean-exit') return;
    log.error('The page’s process ended', { reason, exitCode });
    void offer('The window’s page ended unexpectedly', ['Reload', 'Leave it']);
  });
  window.on('unresponsive', () => {
    log.warn('The page does not answer');
    void offer('The window’s page does not answer', ['Reload', 'Wait']);
  });
}
