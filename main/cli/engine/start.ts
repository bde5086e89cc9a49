import { realTime, sleep } from '../../base/clock.ts';
import { spawn, type ChildProcess } from 'node:child_process';
import { DETACHED_VARIABLE } from '../../base/config.ts';
import { defaultDataDir } from '../../base/system/data-dir.ts';
import { VivariumError } from '../../contract/errors.ts';
import { type Host, type LoadedCommand, formatHelp } from '../words/command.ts';
import { findAnswering, isServing, type AnsweringEngine } from './client.ts';
import { DATA_DIR_FLAG, readArguments, switchOption, type Option } from '../words/flags.ts';
import { EXIT_OK, FAILURE_PREFIX, printFailure, type Io } from '../text/io.ts';
import { readServeConfig, SERVE_FLAGS } from './serve-options.ts';
import { ownCommand } from '../../base/system/own-command.ts';
import { printable } from '../text/text.ts';
import { describeEngine } from './engine-commands.ts';

const DETACH_FLAG = {
  ...switchOption('detach', 'Return once it is serving, and leave it in the background'),
  short: 'd',
};

const START_FLAGS = [DETACH_FLAG, ...SERVE_FLAGS];

const OPTIONS_NOTE = 'An option takes precedence over its environment variable.';

export const START: LoadedCommand = {
  options: START_FLAGS,
  help: (io) =>
    formatHelp({
      name: 'start',
      title: 'the Animal Store API at its hostnames, and the interface in the browser',
      options: withDefaults(START_FLAGS, io),
      notes: [
        OPTIONS_NOTE,
        'Without --detach it stays in this terminal. With it, the log is in the data folder, in logs/vivarium.log (at most',
        '4 MiB with its predecessors); "logs" prints it, "stop" stops the engine. If one is already running on the data',
        'folder, it is shown and nothing is started.',
        '',
        'With --ephemeral and without --data-dir, runtime.json is in a temporary folder, which the start names.',
        'SIGINT and SIGTERM let requests in progress finish. Exit code 0; 1 when it could not start.',
      ],
      examples: [
        'vivarium start --detach',
        'vivarium start -d --ephemeral --any-ports',
        'vivarium start --data-dir ./vivarium-data --http-port 9080 --https-port 9443',
        'VIVARIUM_HTTP_PORT=9080 vivarium start',
      ],
    }),
  run: start,
};

const withDefaults = (flags: readonly Option[], io: Parameters<typeof defaultDataDir>[0]): Option[] =>
  flags.map((option) =>
    option.name === DATA_DIR_FLAG.name ? { ...option, does: `${option.does} (default ${defaultDataDir(io)})` } : option,
  );

async function start(args: readonly string[], io: Io, host: Host): Promise<number> {
  try {
    const read = readArguments(args, START_FLAGS);
    const given = [...read.flags].filter(([name]) => name !== DETACH_FLAG.name);
    const words = [
      ...given.flatMap(([name, values]) => values.map((value) => `--${name}=${value}`)),
      ...read.positionals,
    ];
    const config = readServeConfig(words, io);
    // Loads the engine last: usage errors do not need it.
    if (!read.isOn(DETACH_FLAG)) return await (await host.loadEngine())(config, io);
    const { dataDir } = config;
    const engine =
      (dataDir === null ? null : await findAnswering(dataDir)) ?? (await startDetached(dataDir, words, io, host));
    if (engine !== null) {
      io.stdout.write(describeEngine(engine));
      const isChanged = given.some(([name]) => name !== DATA_DIR_FLAG.name);
      io.stderr.write(`vivarium: Already running${isChanged ? '; its options were not changed' : ''}.\n`);
    }
    return EXIT_OK;
  } catch (error) {
    return printFailure(error, args, io);
  }
}

/** Starts an engine that outlives this process, on free ports if the usual ones are taken; reports it. */
export async function startInBackground(dataDir: string, io: Io, host: Host): Promise<AnsweringEngine> {
  const trust = ownCommand(dataDir, io)('vivarium ca trust system');
  io.stderr.write(
    `${FAILURE_PREFIX}Starting Vivarium in the background. It only writes to ${printable(dataDir)}; to trust its certificates here: ${trust}\n`,
  );
  const silent = { ...io, stdout: { write: () => undefined } };
  const words = [`--${DATA_DIR_FLAG.name}=${dataDir}`, '--any-ports'];
  const engine = (await startDetached(dataDir, words, silent, host)) ?? (await findAnswering(dataDir));
  if (engine !== null) return engine;
  throw new StartFailure('unavailable', 'Vivarium has stopped right after its start.');
}

/** The engine's message about why it could not start. */
class StartFailure extends VivariumError {}

/** Starts an engine that outlives this process, and prints its banner, or that of a faster concurrent start. */
async function startDetached(
  dataDir: string | null,
  words: readonly string[],
  io: Io,
  host: Host,
): Promise<AnsweringEngine | null> {
  try {
    await spawnEngine(words, io, host);
    return null;
  } catch (error) {
    const other = dataDir !== null && error instanceof StartFailure ? await findOther(dataDir) : null;
    if (other === null) throw error;
    return other;
  }
}

/** How long another start may take. */
const OTHER_MS_MAX = 30_000;
const LOOK_MS = 100;

/** The Vivarium that has the folder's lock, once it serves; null when there is none, or it takes too long. */
async function findOther(dataDir: string): Promise<AnsweringEngine | null> {
  const { isFolderLocked } = await import('../../offline/at-rest.ts');
  const begunMs = realTime.monotonic();
  while (isFolderLocked(dataDir) === true && realTime.monotonic() - begunMs < OTHER_MS_MAX) {
    if (await isServing(dataDir)) return findAnswering(dataDir);
    await sleep(LOOK_MS);
  }
  return null;
}

/** Resolves once it serves. */
async function spawnEngine(words: readonly string[], io: Io, { self: [program, ...own] }: Host): Promise<void> {
  const child = spawn(program, [...own, 'start', ...words], {
    cwd: io.workingDir,
    env: { ...io.env, [DETACHED_VARIABLE]: '1' },
    detached: true,
    windowsHide: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const stopListening = io.onStopSignal(() => child.kill());
  try {
    io.stdout.write(await readBanner(child));
  } finally {
    stopListening();
    child.stdout.destroy();
    child.stderr.destroy();
    child.unref();
  }
}

/** The banner is the only text that a detached engine prints, once `runtime.json` is written. */
function readBanner(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let stdout = '';
    let stderr = '';
    child.stderr?.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk));
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      // Electron on Windows prints an empty line before any JavaScript runs.
      stdout = (stdout + chunk).replace(/^[\r\n]+/, '');
      if (stdout.endsWith('\n')) resolve(stdout);
    });
    child.once('error', reject);
    child.once('close', (code, signal) => {
      const how = signal ?? `exit code ${code ?? 'unknown'}`;
      reject(
        new StartFailure(
          'unavailable',
          stderr.trimEnd().replace(FAILURE_PREFIX, '') || `Vivarium ended before it was serving (${how}).`,
        ),
      );
    });
  });
}
