import { app } from 'electron';
import { settleInScratch } from './identity.ts';

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
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  const onQuit = (event: { preventDefault: () => void }) => {
    event.preventDefault();
    callback('SIGTERM');
  };
  for (const signal of signals) process.on(signal, callback);
  app.on('before-quit', onQuit);
  return () => {
    for (const signal of signals) process.off(signal, callback);
    app.off('before-quit', onQuit);
  };
};

const flushed = (output: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => {
    output.write('', () => resolve());
  });
