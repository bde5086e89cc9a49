import { app, powerMonitor } from 'electron';
import type { Log } from '../base/log.ts';

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
