import { basename } from 'node:path';
import { realTime } from '../../base/clock.ts';
import { typed } from '../../base/system/own-command.ts';
import { seedIdentifiers } from '../../base/secret.ts';
import { posixWord } from '../../base/text/shell.ts';
import type { Ask } from '../../contract/index.ts';
import type { ResolvedWorld } from '../../contract/world.ts';
import {
  formatJunit,
  formatMarkdown,
  formatReport,
  hasFailed,
  reportJson,
  type Report,
  jsonOf,
  reportOf,
} from '../../rehearsal/report.ts';
import { rehearse, type Stage } from '../../rehearsal/rehearse.ts';
import { EVENT_KINDS, EVENTS } from '../../rehearsal/renewals/course.ts';
import { POLICIES } from '../../rehearsal/renewals/policies.ts';
import { type AppProcess, startApp } from '../run/app-process.ts';
import { type Host, localCommand } from '../words/command.ts';
import { type Arguments, DATA_DIR_FLAG, JSON_FLAG, usageError, valueOption } from '../words/flags.ts';
import { EXIT_FAILED, EXIT_OK, type Io, writeFileNamed } from '../text/io.ts';
import { type OwnEngine, withOwnEngines } from '../run/own-engine.ts';
import { rehearseRenewals, RENEWALS_OPTIONS, RENEWALS_WORD } from './rehearse-renewals.ts';
import { shellWords, withBinFolders } from '../run/run-app.ts';
import { jsonLine, printable } from '../text/text.ts';
import { ALLOW_FLAG, allowedBy, formatIssue, readWorldFile } from './world-file.ts';

export const JUNIT = valueOption('junit', 'FILE', 'The report as JUnit’s XML, into this file');
export const MARKDOWN = valueOption('markdown', 'FILE', 'The report as Markdown, into this file');

/** Every command takes the data folder; a file's engine has its own. */
const RENEWALS_ONLY = RENEWALS_OPTIONS.filter(({ name }) => name !== DATA_DIR_FLAG.name);

/** Exit code if the file has a fault, or no engine started. */
const EXIT_NOT_REHEARSED = 2;

export const REHEARSE = localCommand({
  name: 'rehearse',
  title: 'run the steps of a vivarium.yaml on a separate engine, or a year of certificate renewals',
  usage: ['FILE [options] [-- COMMAND …]', 'renewals [HOSTNAME …] [options]'],
  options: [ALLOW_FLAG, JUNIT, MARKDOWN, ...RENEWALS_OPTIONS, JSON_FLAG],
  notes: [
    'Starts an engine on free ports and an empty data folder, applies the file, stops the clock at the file’s "clock"',
    'or else at the beginning of today in UTC, runs the "steps" until one fails, and checks "expect". COMMAND runs after the last step.',
    'Nothing is left, and no other Vivarium is touched.',
    '',
    'Commands get VIVARIUM_URL (the first project with a key, else the first), VIVARIUM_KEY (its first key), VIVARIUM_KEYS',
    '(all, as JSON) and VIVARIUM_DATA_DIR for commands such as "vivarium clock advance". They reach and trust the hostnames,',
    'through a local proxy. Their output goes to standard error, the report to standard output.',
    '',
    '"renewals" follows the certificates that ACME clients have from the running Vivarium, or hostnames, through a year with a',
    'mass revocation, an outage of the CA, a CAA record and a lost authorization, and reports when names went dark, and why.',
    'With --client, that command runs instead, on a separate engine. It obtains and renews certificates for the hostnames;',
    'it gets VIVARIUM_ACME_DIRECTORY, _ROOT (a file), _HTTP_PORT, _TLS_PORT and _FOLDER (removed at the end).',
    ...POLICIES.map(({ name, title }) => `Policy ${name}: ${title}`),
    ...EVENT_KINDS.map((kind) => `Event ${kind}: ${EVENTS[kind].title}`),
    '',
    'Exit code 0 when all expectations hold; 1 when one does not; 2 when it could not run.',
  ],
  examples: [
    'vivarium rehearse vivarium.yaml',
    'vivarium rehearse vivarium.yaml --junit report.xml -- npm test',
    'vivarium rehearse vivarium.yaml --json',
    'vivarium rehearse renewals shop.acme.test --profile letsencrypt-2028',
    'vivarium rehearse renewals shop.acme.test --client "caddy run" --day 1s',
    'vivarium rehearse renewals --policy third-left --event caa=30d --event outage=none',
  ],
  fileWord: 0,
  takesCommand: true,
  exitCode: EXIT_NOT_REHEARSED,
  async run(read, _dataDir, io, { args, command, host }) {
    const [path, ...surplus] = read.positionals;
    if (path === RENEWALS_WORD) {
      const renewals = await rehearseRenewals(read, io, host);
      return give(reportOf(renewals), read, io, jsonOf(renewals));
    }
    const stray = RENEWALS_ONLY.find((option) => read.has(option));
    if (stray !== undefined) throw usageError(`--${stray.name} is for "rehearse renewals".`);
    if (path === undefined || path === '') throw usageError(`Name a file: ${typed('vivarium rehearse vivarium.yaml')}`);
    if (surplus.length > 0) throw usageError(`Unexpected argument ${JSON.stringify(surplus[0])}.`);
    if (args.includes('--') && command.length === 0) throw usageError('The command after the two dashes is missing.');
    const report = await rehearseFile(path, allowedBy(read), command.length === 0 ? null : command, io, host);
    return await give(report, read, io);
  },
});

/** Prints a report in the form that is asked for, and writes the files; the exit code. */
export async function giveReport(
  read: Arguments,
  io: Io,
  {
    text,
    json,
    junit,
    markdown,
    failed,
  }: Record<'text' | 'junit' | 'markdown', string> & { json: object; failed: boolean },
): Promise<number> {
  const shown = text.split('\n').map(printable).join('\n');
  io.stdout.write(read.isOn(JSON_FLAG) ? jsonLine(JSON.stringify(json), io.stdout) : shown);
  for (const [{ name }, content] of [[JUNIT, junit] as const, [MARKDOWN, markdown] as const]) {
    const path = read.last({ name });
    if (path !== undefined) await writeFileNamed(path, content, io);
  }
  return failed ? EXIT_FAILED : EXIT_OK;
}

const give = (report: Report, read: Arguments, io: Io, json = reportJson(report)): Promise<number> =>
  giveReport(read, io, {
    ...{ text: formatReport(report), json, failed: hasFailed(report) },
    ...{ junit: formatJunit(report), markdown: formatMarkdown(report) },
  });

async function rehearseFile(
  path: string,
  allowed: readonly string[],
  command: readonly string[] | null,
  io: Io,
  host: Host,
): Promise<Report> {
  const { text, files } = await readWorldFile(path, allowed, io);
  const world = await readChecked(path, text, files);
  return withOwnEngines('rehearsal', io, host, async (start, signal) => {
    const isClockSet = world.clock !== undefined;
    const first = Object.keys(world.projects ?? {})[0];
    const stage = await prepare(await start(), { text, files, isClockSet, first, seed: world.seed ?? 0 }, io, signal);
    const words = command === null ? '' : ` -- ${command.map(posixWord).join(' ')}`;
    const rehearsal = {
      file: basename(path),
      repeat: `vivarium rehearse ${posixWord(path)}${words}`,
      steps: world.steps ?? [],
      command,
      expectations: world.expect ?? {},
    };
    return rehearse(rehearsal, stage);
  });
}

/** @throws VivariumError with the first faults of the file */
export async function readChecked(path: string, text: string, files: Record<string, string>): Promise<ResolvedWorld> {
  const [{ checkFile }, { readWorld }] = await Promise.all([
    import('../../offline/check-file.ts'),
    import('../../world/read.ts'),
  ]);
  const issues = await checkFile(text, files);
  if (issues.length > 0) throw usageError(issues.map((issue) => formatIssue(path, issue)).join('\n'));
  return (await readWorld(text, files)).world;
}

/** Applies the file, with the clock stopped before anything in it can fall due. */
async function prepare(
  { runtime: { dataDir, http, https, dns }, children, asking }: OwnEngine,
  {
    text,
    files,
    isClockSet,
    first,
    seed,
  }: { text: string; files: Record<string, string>; isClockSet: boolean; first: string | undefined; seed: number },
  io: Io,
  signal: AbortSignal,
): Promise<Stage> {
  seedIdentifiers(seed);
  const call = asking(signal);
  if (!isClockSet) {
    const { now } = await call('clock.freeze');
    // Rate windows begin at the same moment in each rehearsal.
    await call('clock.set', { to: `${now.slice(0, 'YYYY-MM-DD'.length)}T00:00:00.000Z` });
  }
  const env = await applyFile({ text, files, first }, call, { dataDir, children }, io);
  const shownPorts = new RegExp(`:(?:${[http, https, dns].map(({ port }) => port).join('|')})(?![0-9])`, 'g');
  return {
    call,
    interruption: signal,
    steady: (shown) => shown.replaceAll(shownPorts, ''),
    async run(command, timeoutMs) {
      const words = typeof command !== 'string' ? command : shellWords(command, io.platform);
      await children.check(words, env);
      return endInTime(await startApp(words, env, { ...io, toStderr: true }), timeoutMs, signal);
    },
  };
}

/** Applies a file to an engine; resolves with the environment of a command that uses its world. */
export async function applyFile(
  { text, files, first }: { text: string; files: Record<string, string>; first: string | undefined },
  call: Ask,
  { dataDir, children }: { dataDir: string; children: Pick<OwnEngine['children'], 'variables'> },
  io: Pick<Io, 'env' | 'workingDir'>,
): Promise<Record<string, string | undefined>> {
  const { keys } = await call('world.apply', { text, files });
  // The key belongs to this address.
  const projectId = keys[0]?.project ?? first;
  const project = projectId === undefined ? null : await call('projects.get', { projectId });
  return {
    ...withBinFolders(io),
    ...children.variables,
    VIVARIUM_URL: project?.secureBaseUrl.production,
    VIVARIUM_KEY: keys[0]?.secret,
    VIVARIUM_KEYS: JSON.stringify(
      Object.fromEntries(keys.map(({ project: slug, name, secret }) => [`${slug}/${name}`, secret])),
    ),
    VIVARIUM_DATA_DIR: dataDir,
  };
}

/** The exit code; null if the command did not end in time and was killed with its children. */
export async function endInTime(app: AppProcess, timeoutMs: number, signal: AbortSignal): Promise<number | null> {
  const over = Promise.withResolvers<null>();
  const finish = () => over.resolve(null);
  const timer = realTime.schedule(timeoutMs, finish);
  signal.addEventListener('abort', finish);
  // Interrupted while the command was starting.
  if (signal.aborted) finish();
  try {
    return await Promise.race([app.exited, over.promise]);
  } finally {
    timer.cancel();
    signal.removeEventListener('abort', finish);
    await app.end();
  }
}
