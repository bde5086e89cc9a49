import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DETACHED_VARIABLE, RUNTIME_FILE, type RuntimeFile } from '../../base/config.ts';
import { openTemporaryFolder } from '../../base/system/temporary-folder.ts';
import { type Children, openChildren } from '../../children/children.ts';
import { unavailable } from '../../contract/errors.ts';
import { asking } from '../engine/client.ts';
import type { Host } from '../words/command.ts';
import { usageError } from '../words/flags.ts';
import { FAILURE_PREFIX, type Io } from '../text/io.ts';

/** An engine in this process, on free ports and a temporary folder. */
export type OwnEngine = Awaited<ReturnType<typeof startOwnEngine>>;

/**
 * Starts an engine without the demo, which keeps nothing.
 * @throws VivariumError `unavailable` when it could not start; the reason is on standard error.
 */
async function startOwnEngine(io: Pick<Io, 'stderr' | 'env'>, host: Pick<Host, 'loadEngine'>) {
  const folder = openTemporaryFolder();
  let children: Children | null = null;
  let signalStop: (signal: string) => void = () => undefined;
  let ended: Promise<number> = Promise.resolve(0);
  /** Stops it, and removes the folder. */
  const stop = async (): Promise<void> => {
    await children?.close();
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
    if (code !== undefined) throw unavailable('The engine could not be started.');
    const runtime = JSON.parse(await readFile(join(folder, RUNTIME_FILE), 'utf8')) as RuntimeFile;
    children = await openChildren({
      folder: join(folder, 'children'),
      caFile: runtime.caFile,
      env: io.env,
      enginePort: () => runtime.http.port,
      report: (message) => io.stderr.write(`${FAILURE_PREFIX}${message}\n`),
    });
    const { pid, dataDir, control } = runtime;
    return {
      runtime,
      children,
      stop,
      asking: (signal: AbortSignal) => asking(() => ({ ...control, pid, dataDir }), signal),
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * Runs `work` with engines of its own, which are ended after it. A stop signal aborts the signal with an error that says
 * so, and further ones do nothing: the folders are still removed.
 */
export async function withOwnEngines<Result>(
  what: 'examination' | 'rehearsal',
  io: Io,
  host: Host,
  work: (start: () => Promise<OwnEngine>, signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const interrupted = new AbortController();
  const { signal } = interrupted;
  const stopListening = io.onStopSignal(() => interrupted.abort(usageError(`The ${what} was interrupted.`)));
  const engines: OwnEngine[] = [];
  try {
    return await work(async () => {
      signal.throwIfAborted();
      const engine = await startOwnEngine(io, host);
      engines.push(engine);
      signal.throwIfAborted();
      return engine;
    }, signal);
  } finally {
    interrupted.abort();
    await Promise.all(engines.map((engine) => engine.stop()));
    stopListening();
  }
}
