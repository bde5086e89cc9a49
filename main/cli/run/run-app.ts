import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { realTime, sleep } from '../../base/clock.ts';
import { commandLine, ownCommand, typed } from '../../base/system/own-command.ts';
import type { Listener } from '../../base/system/port-holder.ts';
import { readRuntime, type Running } from '../../base/system/runtime-file.ts';
import { openTemporaryFolder } from '../../base/system/temporary-folder.ts';
import { type ChildProvider, type Children, openChildren } from '../../children/children.ts';
import { conflict } from '../../contract/errors.ts';
import type { OpenedProvider } from '../../contract/providers.ts';
import type { OpenedRun } from '../../contract/runs.ts';
import {
  type Asked,
  noCommand,
  OPTIONS,
  portOf,
  readAs,
  readAsked,
  shown,
  withoutDataDir,
  placeOf,
  readAppFolder,
  runOfFile,
} from './asked-run.ts';
import { checkFree, choosePort, freePort, openAt, schemeOf, withPortFlags } from './app-port.ts';
import { startApp, type AppProcess } from './app-process.ts';
import { type Line, localCommand } from '../words/command.ts';
import { askFor, findAnswering } from '../engine/client.ts';
import { type Arguments, usageError } from '../words/flags.ts';
import { FAILURE_PREFIX, printFailure, type Io } from '../text/io.ts';
import { openLease, type Lease, createReports } from './run-lease.ts';
import { startInBackground } from '../engine/start.ts';
import { printable } from '../text/text.ts';

export const RUN = localCommand({
  name: 'run',
  title: 'serve your dev server at its own hostname, over HTTPS',
  usage: ['[NAME | HOSTNAME] [options] -- COMMAND …', '[NAME | HOSTNAME] [options]'],
  options: OPTIONS,
  notes: [
    'Starts Vivarium in the background if it is not running, then the command with PORT, HOST and VIVARIUM_URL, and',
    'with node_modules/.bin first on its PATH. Once the command listens on a port, the hostname leads there: with a',
    'project, a deploy, a zone, a record, a domain and a certificate. What was not there before is removed when the',
    'command ends.',
    '',
    'By a local proxy and the certificates of Vivarium, which it gets in its environment, the command itself reaches',
    'https://app.acme.test/ and all other hostnames of Vivarium. The proxy passes on its other requests, unrecorded.',
    '',
    'With --as, the command and its children reach the API of a provider here instead of the real one, with a token of',
    'Vivarium in VERCEL_TOKEN or CLOUDFLARE_API_TOKEN: domains that they attach follow Vivarium’s DNS, CAA and clock.',
    '',
    'HOSTNAME has a dot: app.acme.test. NAME has none: shop is served at shop.vivarium.localhost. Without both,',
    'the name is that of package.json, of the git repository or of the folder. In a git worktree, its branch',
    'comes first: fix-ui.app.acme.test, fix-ui-shop.vivarium.localhost.',
    '',
    'Without a command, it takes "run" of a project in this folder’s vivarium.yaml, its "as", and its hostname.',
    '',
    'Ctrl-C ends the command; a second one kills it. Exit code: the command’s; 1 when it could not be served.',
  ],
  examples: [
    'vivarium run app.acme.test -- npm run dev',
    'vivarium run -- next dev',
    'vivarium run',
    'vivarium run api.acme.test --wildcard -- python3 manage.py runserver',
    'vivarium run shop --port 9000 -- docker compose up',
    'vivarium run app.acme.test --as vercel -- npm run dev',
  ],
  names: 'domains.list',
  takesCommand: true,
  run,
});

/** Polling intervals of the command's ports, before and after it is served. */
const LOOK_MS = 250;
const LOOK_AGAIN_MS = 1_000;
/** Polling interval on systems where a poll starts programs. */
const LOOK_AGAIN_BY_PROGRAM_MS = 3_000;

/** How long the command may go without an open port before a message says so. */
const PORTLESS_MS = 15_000;

async function run(given: Arguments, dataDir: string, io: Io, { args, command: ofLine, host }: Line): Promise<number> {
  const read = readAsked(given, dataDir, ofLine);
  const ofFile = read.command.length > 0 ? null : await runOfFile(read.projectId ?? read.word, read.allowed, io);
  const as = read.as.length > 0 || ofFile === null ? read.as : ofFile.as;
  const asked = { ...read, command: ofFile?.command ?? read.command, as: as.map(readAs) };
  if (as.length > 0 && read.noEnv)
    throw usageError('--as, also in a vivarium.yaml, needs the proxy and the certificates that --no-env leaves out.');
  if (asked.command.length === 0) throw noCommand();
  const say = (text: string) => void io.stderr.write(`${FAILURE_PREFIX}${printable(text)}\n`);
  const port = asked.port ?? portOf(io.env['PORT']) ?? (await freePort());
  if (asked.port !== null) await checkFree(asked.port);
  const place =
    ofFile?.place ??
    (asked.projectId !== undefined && asked.word?.includes('.') !== true
      ? {}
      : placeOf(asked.word, await readAppFolder(io.workingDir)));
  const engine = (await findAnswering(asked.dataDir)) ?? (await startInBackground(asked.dataDir, io, host));
  const input = {
    ...place,
    ...(asked.projectId !== undefined && { projectId: asked.projectId }),
    wildcard: asked.wildcard,
    ...(asked.keepHost && { keepHost: true }),
    pid: process.pid,
    folder: io.workingDir,
    command: shown(asked.command),
    asked: shown(withoutDataDir(args)),
  };
  let providers: OpenedProvider[] = [];
  const reports = createReports(asked, io, say);
  const back = (running: Running): void => {
    reports.back(running);
    if (providers.length > 0) void reportEnded(running, providers, say).catch(() => undefined);
  };
  const lease = await openLease(asked.dataDir, engine.running, input, { ...reports, back });
  let children: Children | null = null;
  try {
    providers = await connectProviders(asked, lease, engine.running);
    const command = await withPortFlags(asked.command, port, io.workingDir);
    if (!asked.noEnv) children = await openRunChildren(asked, lease.opened, providers, io, say);
    const env = {
      ...without(withBinFolders(io), children?.unset ?? []),
      ...children?.variables,
      PORT: String(port),
      HOST: '127.0.0.1',
      VIVARIUM_URL: lease.opened.urls[0],
    };
    await children?.check(command, env);
    return await superviseApp(await startApp(command, env, io), lease, { ...asked, given: port }, io, say);
  } finally {
    await children?.close();
    const kept = await lease.close();
    if (kept !== undefined) say(keptLine(kept, ownCommand(asked.dataDir, io)));
  }
}

const keptLine = (slug: string, own: (command: string) => string): string =>
  `The project ${slug} stays, because it was changed meanwhile (a key, a domain, its plan), and leads to the same server. ` +
  `Remove it: ${own(commandLine`vivarium project remove ${slug}`)}`;

/** Opens the providers’ APIs in front of the named projects, or of the run’s own. */
async function connectProviders(
  { as }: Pick<Asked, 'as'>,
  { opened }: Pick<Lease, 'opened'>,
  running: Running,
): Promise<OpenedProvider[]> {
  const connected: OpenedProvider[] = [];
  for (const { provider, projects } of as) {
    const [projectId = opened.projectId, ...also] = projects;
    const input = { provider, projectId, also, pid: process.pid };
    connected.push(await askFor(running, 'providers.connect', input));
  }
  return connected;
}

/** Another Vivarium knows no token of a run, and the command trusts the certificates of the former one only. */
async function reportEnded(
  running: Running,
  providers: readonly OpenedProvider[],
  say: (text: string) => void,
): Promise<void> {
  const listed = await askFor(running, 'providers.list');
  const open = new Set(listed.flatMap(({ connections }) => connections.map(({ id }) => id)));
  const ended = providers.filter(({ id }) => !open.has(id)).map(({ provider }) => provider);
  if (ended.length === 0) return;
  say(
    `The command no longer reaches the API of ${ended.join(', ')}: its token and certificates ended with the former Vivarium. Start the command again.`,
  );
}

const without = (
  env: Record<string, string | undefined>,
  names: readonly string[],
): Record<string, string | undefined> => ({ ...env, ...Object.fromEntries(names.map((name) => [name, undefined])) });

async function openRunChildren(
  { dataDir }: Asked,
  { caFile }: OpenedRun,
  providers: readonly ChildProvider[],
  { env }: Io,
  report: (message: string) => void,
): Promise<Children> {
  // Vivarium may be restarted on other ports.
  const enginePort = (): number | null => {
    const runtime = readRuntime(dataDir);
    return runtime.state === 'read' ? (runtime.ports.http ?? null) : null;
  };
  const children = await openChildren({
    folder: openTemporaryFolder(),
    ...{ caFile, env, enginePort, report, providers },
  });
  report(
    'What the command requests elsewhere passes a proxy of this run, unchanged and unrecorded (--no-env: no proxy).',
  );
  return children;
}

/** The words that run a text as the system's shell does. */
export const shellWords = (command: string, platform: NodeJS.Platform): string[] =>
  platform === 'win32' ? [command] : ['/bin/sh', '-c', command];

/** The environment with the `node_modules/.bin` folders first on its PATH, as npm has them. */
export function withBinFolders({
  env,
  workingDir,
}: Pick<Io, 'env' | 'workingDir'>): Record<string, string | undefined> {
  const path = Object.keys(env).find((name) => name.toUpperCase() === 'PATH') ?? 'PATH';
  return { ...env, [path]: [...binFolders(workingDir), env[path] ?? ''].join(delimiter) };
}

/** The `node_modules/.bin` of the folder and of its parents. */
function binFolders(folder: string): string[] {
  const bin = join(folder, 'node_modules', '.bin');
  const above = dirname(folder) === folder ? [] : binFolders(dirname(folder));
  return existsSync(bin) ? [bin, ...above] : above;
}

/** Watches the command's ports until it has ended; resolves with the exit code. */
async function superviseApp(
  app: AppProcess,
  lease: Lease,
  { port: asked, given }: { port: number | null; given: number },
  io: Io,
  say: (text: string) => void,
): Promise<number> {
  const ended = new AbortController();
  const code = app.exited.finally(() => ended.abort());
  passSignals(app, io);
  let refusal: unknown = null;
  const watching = watchPorts(app, lease, { asked, given, ended: ended.signal }, io, say).catch((error: unknown) => {
    refusal = error;
    app.signal('SIGTERM');
    return app.end();
  });
  try {
    const exitCode = await code;
    await watching;
    if (refusal === null) return exitCode;
    return printFailure(refusal, [], io);
  } finally {
    await app.end();
  }
}

/** npm and launchers forward a Ctrl-C that the terminal has already sent: within this time, both count as one. */
const SAME_SIGNAL_MS = 500;

/**
 * The first signal is forwarded; a later one kills. Terminal resizes and stops are forwarded too. Signals are
 * caught until this process ends: a signal must not interrupt the undo of the run.
 */
function passSignals(app: AppProcess, io: Io): void {
  let firstMs: number | null = null;
  io.onStopSignal((signal) => {
    const nowMs = realTime.monotonic();
    if (firstMs !== null && nowMs - firstMs < SAME_SIGNAL_MS) return;
    app.signal(firstMs === null ? (signal as NodeJS.Signals) : 'SIGKILL');
    firstMs ??= nowMs;
    // The command is suspended during the question.
    app.signal('SIGCONT');
  });
  if (io.platform === 'win32') return;
  const resized = () => app.signal('SIGWINCH');
  const continued = () => app.signal('SIGCONT');
  const stopped = () => {
    app.signal('SIGSTOP');
    process.kill(process.pid, 'SIGSTOP');
  };
  process.on('SIGWINCH', resized).on('SIGCONT', continued).on('SIGTSTP', stopped);
}

/** Serves the command where it listens, and again where it moves. @throws VivariumError when the port is not clear. */
async function watchPorts(
  app: AppProcess,
  lease: Lease,
  { asked, given, ended }: { asked: number | null; given: number; ended: AbortSignal },
  io: Io,
  say: (text: string) => void,
): Promise<void> {
  const begunMs = realTime.monotonic();
  let current: Listener | null = null;
  let before = '';
  let isSilent = true;
  const lookAgainMs = io.platform === 'linux' ? LOOK_AGAIN_MS : LOOK_AGAIN_BY_PROGRAM_MS;
  while (!ended.aborted) {
    // Another program, such as Docker's proxy, may listen for the command.
    const found: readonly Listener[] =
      asked === null
        ? await choosePort(await app.listeners(), { given, current: current?.port ?? null })
        : await openAt(asked);
    const ports = found.map(({ port }) => port).join(' ');
    // A server may open its ports one after another.
    const isSettled = ports === before || ports === String(given);
    before = ports;
    if (isSettled && found.length > 0 && !ended.aborted) {
      const next = found.length === 1 ? (found[0] ?? null) : await askForPort(app, found, io);
      if (next === null) return;
      if (next.port !== current?.port || next.host !== current.host) {
        current = next;
        lease.serve(`${(await schemeOf(next)) ?? 'http'}://${next.host}:${next.port}`);
      }
    }
    if (isSilent && current === null && realTime.monotonic() - begunMs > PORTLESS_MS) {
      isSilent = false;
      say(
        `The command has not opened a port for ${PORTLESS_MS / 1_000} s; still waiting. If another program opens it, set it with --port.`,
      );
    }
    await sleep(current === null ? LOOK_MS : lookAgainMs, ended);
  }
  if (current === null) say('The command has ended before it opened a port, so nothing was served.');
}

/** Asks in a terminal; null when the command ends meanwhile. @throws VivariumError that names the ports elsewhere */
async function askForPort(app: AppProcess, found: readonly Listener[], io: Io): Promise<Listener | null> {
  const listed = found.map(({ port }) => port).join(', ');
  if (io.stdout.isTTY === true && io.stderr.isTTY === true && process.stdin.isTTY) {
    const answer = await app.whileHeld(async () => {
      io.stderr.write(`${FAILURE_PREFIX}The command has opened the ports ${listed}. Which one should be served? `);
      const reader = createInterface({ input: process.stdin, terminal: false });
      const line = once(reader, 'line').then(([text]) => String(text).trim());
      try {
        return await Promise.race([line, once(reader, 'close').then(() => ''), app.exited.then(() => null)]);
      } finally {
        reader.close();
      }
    });
    const chosen = found.find(({ port }) => String(port) === answer) ?? null;
    if (chosen !== null || answer === null) return chosen;
  }
  throw conflict(
    `The command has opened the ports ${listed}. Choose one: ${typed(`vivarium run --port ${found[0]?.port ?? 'N'} -- …`)}`,
  );
}
