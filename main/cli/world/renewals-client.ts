import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { realTime, sleep } from '../../base/clock.ts';
import { directoryUrl } from '../../acme/resources.ts';
import type { Course } from '../../rehearsal/renewals/course.ts';
import { type Observation, observe } from '../../rehearsal/renewals/observe.ts';
import { originOf } from '../../base/text/hostname.ts';
import { freePort } from '../run/app-port.ts';
import { startApp } from '../run/app-process.ts';
import { askFor } from '../engine/client.ts';
import type { Host } from '../words/command.ts';
import { usageError } from '../words/flags.ts';
import { FAILURE_PREFIX, type Io } from '../text/io.ts';
import { startOwnEngine } from '../run/own-engine.ts';
import { shellWords, withBinFolders } from '../run/run-app.ts';
import { printable } from '../text/text.ts';

/** Suffixes that every root permits. */
const PERMITTED = /(?:^|\.)(?:localhost|test|example|internal)$/;

/**
 * Runs a client on a separate engine, with `profile@day` as its directory, and observes it.
 * @throws VivariumError, or an Error with a sentence, when it could not run
 */
export async function observeClient(observation: Observation, profile: string, io: Io, host: Host): Promise<Course[]> {
  const interrupted = new AbortController();
  const stopListening = io.onStopSignal(() => interrupted.abort(usageError('The rehearsal was interrupted.')));
  const { signal } = interrupted;
  const engine = await startOwnEngine(io, host).catch((error: unknown) => {
    stopListening();
    throw error;
  });
  try {
    signal.throwIfAborted();
    const { pid, dataDir, control, https, caFile } = engine.runtime;
    const call = <Answer>(procedure: string, input: object) =>
      askFor<Answer>({ ...control, pid, dataDir }, procedure, input, signal);
    const [acmeHttpPort, acmeTlsPort] = [await freePort(), await freePort()];
    await call('settings.update', { acmeHttpPort, acmeTlsPort });
    await call('clock.freeze', {});
    await call('clock.set', { to: new Date(observation.year.fromMs).toISOString() });
    for (const name of observation.names) {
      if (!PERMITTED.test(name)) await call('ca.extend', { suffix: name.replace(/^\*\./, ''), confirm: true });
    }
    const folder = join(dataDir, 'client');
    await mkdir(folder);
    const env = {
      ...withBinFolders(io),
      ...engine.children.variables,
      VIVARIUM_ACME_DIRECTORY: directoryUrl(
        originOf('https', 'localhost', https.port),
        `${profile}@${observation.dayMs}ms`,
      ),
      VIVARIUM_ACME_ROOT: caFile,
      VIVARIUM_ACME_HTTP_PORT: String(acmeHttpPort),
      VIVARIUM_ACME_TLS_PORT: String(acmeTlsPort),
      VIVARIUM_ACME_FOLDER: folder,
      VIVARIUM_DATA_DIR: dataDir,
      // Caddy's storage folder: certificates of a rehearsal must not mix with the user's.
      XDG_DATA_HOME: folder,
      XDG_CONFIG_HOME: folder,
    };
    return await observe(observation, {
      call,
      start: () => startApp(shellWords(observation.command, io.platform), env, { ...io, toStderr: true }),
      async sleep(ms) {
        await sleep(ms, signal);
        signal.throwIfAborted();
      },
      monotonic: () => realTime.monotonic(),
      say: (sentence) => io.stderr.write(`${FAILURE_PREFIX}${printable(sentence)}\n`),
    });
  } finally {
    await engine.stop();
    stopListening();
  }
}
