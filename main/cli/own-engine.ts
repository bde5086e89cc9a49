import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DETACHED_VARIABLE, RUNTIME_FILE, type RuntimeFile } from '../base/config.ts';
import { VivariumError } from '../contract/errors.ts';
import type { Host } from './command.ts';
import type { Io } from './io.ts';

/** An engine in this process, on free ports and a temporary folder. */
export interface OwnEngine {
  runtime: RuntimeFile;
  /** Stops it, and removes the folder. */
  stop(): Promise<void>;
}

/**
 * Starts an engine without the demo, which keeps nothing.
 * @throws VivariumError `unavailable` when it could not start; the reason is on standard error.
 */
export async function startOwnEngine(
  io: Pick<Io, 'stderr' | 'env'>,
  host: Pick<Host, 'loadEngine'>,
): Promise<OwnEngine> {
  const folder = await mkdtemp(join(tmpdir(), 'vivarium-own-'));
  let signalStop: (signal: string) => void = () => undefined;
  let ended: Promise<number> = Promise.resolve(0);
  const stop = async (): Promise<void> => {
    signalStop('SIGTERM');
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const serve = await host.loadEngine();
    const { [DETACHED_VARIABLE]: _, ...env } = io.env;
    const serving = Promise.withResolvers<undefined>();
    const ports = { httpPort: 0, httpsPort: 0, dnsPort: 0, controlPort: 0 };
    const config = { dataDir: folder, ...ports, ephemeral: true, empty: true, open: false };
    ended = serve(config, {
      // The banner is printed once it is serving.
      stdout: { write: () => serving.resolve(undefined) },
      stderr: io.stderr,
      env,
      onStopSignal(callback) {
        signalStop = callback;
        return () => undefined;
      },
    });
    const code = await Promise.race([serving.promise, ended]);
    if (code !== undefined) throw new VivariumError('unavailable', 'The engine could not be started.');
    const runtime = JSON.parse(await readFile(join(folder, RUNTIME_FILE), 'utf8')) as RuntimeFile;
    return { runtime, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
