import { realTime, sleep } from '../../base/clock.ts';
import { codeOf, reasonOf } from '../../base/error-code.ts';
import { unavailable, VivariumError } from '../../contract/errors.ts';
import { askForStatus, isServing, findAnswering, type AnsweringEngine } from './client.ts';
import { type LoadedCommand, localCommand } from '../words/command.ts';
import { type Running, isAlive } from '../../base/system/runtime-file.ts';
import { parseDuration } from '../../contract/duration.ts';
import { usageError, DATA_DIR_FLAG, JSON_FLAG, readArguments, valueOption } from '../words/flags.ts';
import { askForSignInLink, openInBrowser } from '../../base/system/open-in-browser.ts';
import { ownCommand } from '../../base/system/own-command.ts';
import { firstHelp } from '../words/first-help.ts';
import { EXIT_OK, printFailure, writeHelp, type Io } from '../text/io.ts';
import { columns, counted, printable } from '../text/text.ts';

export const STATUS = localCommand({
  name: 'status',
  title: 'what is running on the data folder',
  options: [JSON_FLAG],
  notes: ['Exit code 0; 2 when no Vivarium is running on the data folder.'],
  examples: ['vivarium status', 'vivarium status --json'],
  async run(read, dataDir, io) {
    const engine = await askForStatus(dataDir);
    const { pid, url } = engine.running;
    io.stdout.write(
      read.isOn(JSON_FLAG) ? `${JSON.stringify({ pid, url, ...engine.report })}\n` : describeEngine(engine),
    );
  },
});

/** The output of `vivarium` alone, in a terminal: the first words, and what is running or how to begin. */
export async function overview(args: readonly string[], io: Io): Promise<number> {
  try {
    const dataDir = readArguments(args, [DATA_DIR_FLAG, JSON_FLAG]).dataDir(io);
    const engine = await findAnswering(dataDir);
    writeHelp(firstHelp(), io);
    io.stdout.write(engine === null ? howToBegin(dataDir, io) : runningLine(engine));
    return EXIT_OK;
  } catch (error) {
    return printFailure(error, args, io);
  }
}

const howToBegin = (dataDir: string, io: Io): string =>
  `Nothing is running on ${printable(dataDir)}. Without an app of your own, begin with: ${ownCommand(dataDir, io)('vivarium start -d')}\n`;

function runningLine({ running: { url }, report: { counts, warnings } }: AnsweringEngine): string {
  const parts = [counted(counts.projects, 'project'), counted(counts.domains, 'domain')];
  if (warnings.length > 0) parts.push(`${counted(warnings.length, 'warning')} (status)`);
  return `Running at ${url}, with ${parts.join(', ')}.\n`;
}

/** Lines about a running engine. */
export function describeEngine({ running, report }: AnsweringEngine): string {
  const { version, dataDir, ports, urls, counts, warnings } = report;
  const rows = columns([
    ['Interface', running.url],
    ['Listening', `HTTP ${ports.http}, HTTPS ${ports.https}, DNS ${ports.dns}`],
    ...(urls.devices === undefined ? [] : [['Devices', urls.devices]]),
    ['Data folder', printable(dataDir)],
    ['Contents', `${counted(counts.projects, 'project')}, ${counted(counts.domains, 'domain')}`],
    ['Process', String(running.pid)],
    ...warnings.map((warning) => ['Warning', printable(warning)]),
  ]);
  return [`Vivarium ${version} is running.`, '', ...rows.map((row) => `  ${row}`), ''].join('\n');
}

/** Longer than the engine's drain time for requests in progress on each listener. */
const END_MS_MAX = 30_000;
const LOOK_MS = 100;

export const STOP = localCommand({
  name: 'stop',
  title: 'stop the Vivarium that runs on the data folder',
  options: [],
  notes: [
    'Lets requests in progress finish, and returns when Vivarium has ended.',
    '',
    'Exit code 0; 1 when it did not end; 2 when no Vivarium is running on the data folder.',
  ],
  examples: ['vivarium stop', 'vivarium stop --data-dir ./vivarium-data'],
  async run(_read, dataDir, io) {
    // The answer proves that the process is this Vivarium: a number in a file may be another process's by now.
    const { running } = await askForStatus(dataDir);
    const { pid } = running;
    // On Windows, a signal would end it at once.
    if (io.platform === 'win32') await requestStop(running);
    else terminate(pid);
    const begunMs = realTime.monotonic();
    while (isAlive(pid)) {
      if (realTime.monotonic() - begunMs > END_MS_MAX) {
        throw unavailable(`Process ${pid} has not ended within ${END_MS_MAX / 1_000} s.`);
      }
      await sleep(LOOK_MS);
    }
    io.stdout.write('Stopped.\n');
  },
});

/** Asks for the stop through the control port. */
export async function requestStop({ url, token }: Running): Promise<void> {
  const response = await fetch(`${url}/stop`, { method: 'POST', headers: { authorization: `Bearer ${token}` } });
  if (!response.ok) throw unavailable(`Vivarium refused to stop (HTTP ${response.status}).`);
}

function terminate(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM');
  } catch (cause) {
    // It ended in the meantime.
    if (codeOf(cause) === 'ESRCH') return;
    throw new VivariumError('forbidden', `Process ${pid} cannot be stopped (${reasonOf(cause)}).`, { cause });
  }
}

const TIMEOUT_FLAG = valueOption(
  'timeout',
  'DURATION',
  'The longest wait, such as 30s (the default) or 2m; a number means seconds',
);
const DEFAULT_TIMEOUT = '30s';

export const WAIT = localCommand({
  name: 'wait',
  title: 'wait until a Vivarium serves the data folder',
  options: [TIMEOUT_FLAG],
  notes: ['Exit code 0 once it listens on all its ports; 1 after the time limit.'],
  examples: ['vivarium wait', 'vivarium wait --timeout 2m'],
  async run(read, dataDir) {
    const timeout = read.last(TIMEOUT_FLAG) ?? DEFAULT_TIMEOUT;
    const timeoutMs = readTimeout(timeout);
    const begunMs = realTime.monotonic();
    const left = () => timeoutMs - (realTime.monotonic() - begunMs);
    // A time of 0 looks once.
    while (!(await isServing(dataDir, Math.ceil(Math.max(left(), LOOK_MS))))) {
      const leftMs = left();
      if (leftMs <= 0) throw unavailable(`No Vivarium served ${dataDir} within ${timeoutMs / 1_000} s.`);
      await sleep(Math.min(LOOK_MS, leftMs));
    }
  },
});

function readTimeout(text: string): number {
  try {
    const milliseconds = parseDuration(/^[0-9.]+$/.test(text) ? `${text}s` : text);
    if (milliseconds >= 0) return milliseconds;
  } catch {
    // Said below.
  }
  throw usageError(
    `--timeout must be a duration such as 30s or 2m, or a number of seconds, not ${JSON.stringify(text)}.`,
  );
}

const INTERFACE = localCommand({
  name: 'open',
  title: 'open the interface in the default browser, signed in; or a hostname',
  usage: ['[options]', 'HOSTNAME [options of "reach open"]'],
  options: [],
  notes: [
    'A hostname is opened as by "reach open": in a throw-away browser that finds it and trusts its certificate.',
    'Where no browser can be opened, it prints a link that signs in once, within a minute.',
    '',
    'Exit code 0; 2 when no Vivarium is running on the data folder.',
  ],
  examples: ['vivarium open', 'vivarium open app.acme.test'],
  async run(_read, dataDir, io) {
    const { running } = await askForStatus(dataDir);
    const link = await askForSignInLink(running);
    const opened = await openInBrowser(link, io);
    io.stdout.write(
      opened
        ? `Opened ${running.url} in the browser.\n`
        : `No browser could be opened. This link works once, within a minute:\n\n  ${link}\n`,
    );
  },
});

export const OPEN: LoadedCommand = {
  ...INTERFACE,
  names: 'domains.list',
  async run(args, io) {
    const hostname = args.find((arg, at) => !arg.startsWith('-') && args[at - 1] !== `--${DATA_DIR_FLAG.name}`);
    if (hostname === undefined) return INTERFACE.run(args, io);
    return (await import('../words/ask.ts')).ask('reach', ['open', ...args], io, []);
  },
};
