import { readFile, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { realTime } from '../../base/clock.ts';
import { createTurns } from '../../base/turns.ts';
import { defaultDataDir } from '../../base/system/data-dir.ts';
import { typed } from '../../base/system/own-command.ts';
import { posixWord } from '../../base/text/shell.ts';
import { SEED_MAX } from '../../contract/breaks.ts';
import type { Examination } from '../../contract/examine.ts';
import { examine, type Stage, type Task } from '../../examine/examine.ts';
import { type About, formatExamination, formatJunit, formatMarkdown, hasFailed } from '../../examine/report.ts';
import { OUTPUT_MAX, readResults } from '../../examine/results.ts';
import { tableNamed } from '../../contract/examine-tables.ts';
import type { TestRun } from '../../examine/verdict.ts';
import { startApp } from '../run/app-process.ts';
import { type OwnEngine, withOwnEngines } from '../run/own-engine.ts';
import { FAILURE_PREFIX, type Io } from '../text/io.ts';
import { printable } from '../text/text.ts';
import { type Host, localCommand } from '../words/command.ts';
import { type Arguments, DATA_DIR_FLAG, JSON_FLAG, usageError, valueOption } from '../words/flags.ts';
import { applyFile, endInTime, giveReport, JUNIT, MARKDOWN, readChecked } from './rehearse.ts';
import { FILE_FLAG } from './world.ts';
import { ALLOW_FLAG, allowedBy, findWorldFile, readWorldFile } from './world-file.ts';
import { existsSync } from 'node:fs';
import { messageOf } from '../../base/error-code.ts';
import { openExaminations } from '../../base/system/examinations.ts';
import { askFor } from '../engine/client.ts';
import { findRunning } from '../engine/running.ts';

const TABLE = valueOption('table', 'NAME', 'quick, full, or a name below "examine:" in the file; quick by default');
const ONLY = valueOption('only', 'NAME,…', 'Only these rows, or the rows of these families, such as "http"');
const SEED = valueOption('seed', 'N', 'On which requests the rows are placed; 1 by default');
const JOBS = valueOption('jobs', 'N', 'How many rows run side by side, each on its own engine; 1 by default');
const RESULTS = valueOption('results', 'FILE', 'A file with results that the command writes, instead of its output');
const DATA_DIR = { ...DATA_DIR_FLAG, does: 'The data folder whose window shows the examination' };

const JOBS_MAX = 16;

const OTHERS = '; write others below "examine:" in the file';

/** The end of the output, which is the message of a test that is not reported. */
const TAIL_MAX = 2_000;

/** Exit code if nothing was examined. */
const EXIT_NOT_EXAMINED = 2;

export const EXAMINE = localCommand({
  name: 'examine',
  title: 'run your tests under a table of faults, and say what broke',
  usage: ['[options] -- COMMAND …'],
  options: [FILE_FLAG, ALLOW_FLAG, TABLE, ONLY, SEED, JOBS, RESULTS, JUNIT, MARKDOWN, JSON_FLAG, DATA_DIR],
  notes: [
    'Starts an engine with the world of the vivarium.yaml in this folder, runs COMMAND twice without faults, then once for',
    'each row of the table. A row is a fault on one request that both runs made. The world is restored before each run.',
    'COMMAND gets VIVARIUM_URL, VIVARIUM_KEY and the other variables of "vivarium rehearse", and reaches the hostnames.',
    '',
    'Reads results as TAP, JUnit, "go test -json", Node, vitest, Jest, Mocha, Playwright or pytest print them, else the exit code.',
    'The verdicts:',
    '  survived             the tests pass, and the world is as without the fault',
    '  failed as it should  a test fails, and its message names the fault',
    '  wrong                the world differs, a write was repeated, or no message names the fault',
    '  hung                 more than 10 s and three times as long as without faults; ended',
    '  not met              the tests did nothing that the fault strikes',
    '',
    'Exit code 0; 1 when a row is wrong or hung, or is not what its "expect" in the file says; 2 when it could not run.',
  ],
  examples: [
    'vivarium examine -- npm test',
    'vivarium examine --table full --jobs 4 --markdown report.md -- npm test',
    'vivarium examine --only 500-after-commit -- go test -json ./...',
    'vivarium examine --results report.xml -- pytest --junitxml report.xml',
  ],
  takesCommand: true,
  exitCode: EXIT_NOT_EXAMINED,
  async run(read, dataDir, io, { command, host }) {
    const [surplus] = read.positionals;
    if (surplus !== undefined) throw usageError(`The command belongs after two dashes: -- ${surplus} …`);
    if (command.length === 0)
      throw usageError(`Name the command that runs your tests: ${typed('vivarium examine -- npm test')}`);
    const asked = askedOf(read, command, dataDir, io);
    const give = (found: Examination, about: About): Promise<number> =>
      giveReport(read, io, {
        ...{ text: formatExamination(found, about), json: found, failed: hasFailed(found) },
        ...{ junit: formatJunit(found, about), markdown: formatMarkdown(found, about) },
      });
    return await give(await examineCommand(read, command, asked, io, host, give), asked);
  },
});

/** What is asked for, and the commands that repeat it, whole or with one row; also in a terminal with another environment. */
function askedOf(read: Arguments, command: readonly string[], dataDir: string, io: Io) {
  const table = read.last(TABLE) ?? 'quick';
  const only = read.all(ONLY).flatMap((names) => names.split(',').filter((name) => name !== ''));
  const seed = read.number(SEED, 1, [0, SEED_MAX]);
  const subject = command.map(posixWord).join(' ');
  const value = (name: string) => {
    const given = read.last({ name });
    return given === undefined ? [] : [`--${name}`, given];
  };
  const repeat = (names: readonly string[]): string => {
    const words = [
      ...value(FILE_FLAG.name),
      ...allowedBy(read).flatMap((folder) => [`--${ALLOW_FLAG.name}`, folder]),
      ...['--table', table, '--seed', String(seed)],
      ...value(RESULTS.name),
      ...(dataDir === defaultDataDir(io) ? [] : [`--${DATA_DIR.name}`, dataDir]),
      ...(names.length === 0 ? [] : ['--only', names.join(',')]),
    ];
    return typed(`vivarium examine ${words.map(posixWord).join(' ')} -- ${subject}`);
  };
  return { table, only, seed, subject, repeat: repeat(only), row: (name: string) => repeat([name]) };
}

async function examineCommand(
  read: Arguments,
  command: readonly string[],
  { row, ...asked }: ReturnType<typeof askedOf>,
  io: Io,
  host: Host,
  /** Receives what was found before an interruption. */
  give: (found: Examination, about: About) => Promise<unknown>,
): Promise<Examination> {
  const jobs = read.number(JOBS, 1, [1, JOBS_MAX]);
  const results = read.last(RESULTS);
  if (jobs > 1 && results !== undefined) throw usageError('Runs side by side would write one --results file.');
  const path = await findWorldFile(read.last(FILE_FLAG), io);
  const { text, files } = await readWorldFile(path, allowedBy(read), io);
  const world = await readChecked(path, text, files);
  const first = Object.keys(world.projects ?? {})[0];
  if (first === undefined) throw usageError(`${path} has no project, whose hostnames your tests could ask; add one.`);
  const onRun = (line: string) => void io.stderr.write(`${FAILURE_PREFIX}${printable(line)}\n`);
  const task: Task = { ...asked, rows: tableNamed(asked.table, OTHERS, world.examine), repeat: row, onRun };
  const { keep } = keeperIn(read.dataDir(io), asked, io.workingDir, onRun);
  let found = null as [Examination, About] | null;
  return withOwnEngines('examination', io, host, async (start, signal) => {
    try {
      const stages: Stage[] = [];
      for (let job = 0; job < Math.min(jobs, task.rows.length); job++)
        stages.push(await prepare(await start(), { text, files, first }, { command, results }, io, signal));
      const keepAll: Task['keep'] = async (part, total, stage) => {
        if (part.rows.length > 0) found = [part, { ...asked, interruptedOf: total }];
        await keep?.(part, total, stage);
      };
      return await examine({ ...task, keep: keepAll }, stages);
    } catch (error) {
      if (signal.aborted && found !== null) await give(...found);
      signal.throwIfAborted();
      throw error;
    }
  });
}

async function prepare(
  { runtime: { dataDir }, children, asking }: OwnEngine,
  file: { text: string; files: Record<string, string>; first: string },
  { command, results }: { command: readonly string[]; results: string | undefined },
  io: Io,
  signal: AbortSignal,
): Promise<Stage> {
  const call = asking(signal);
  // Colours and the protocol of a test runner that this command runs in would hide results.
  const { FORCE_COLOR: _, NODE_TEST_CONTEXT: __, ...given } = await applyFile(file, call, { dataDir, children }, io);
  // Go would tell the results of the first run again, without running the tests; pytest cuts messages to the terminal’s width.
  const env = { ...given, NO_COLOR: '1', COLUMNS: '300', GOFLAGS: `${given['GOFLAGS'] ?? ''} -count=1`.trim() };
  await children.check(command, env);
  const path = results === undefined ? null : resolve(io.workingDir, results);
  return {
    call,
    interruption: signal,
    refuse: children.refuse,
    async run(limitMs) {
      if (path !== null) await rm(path, { force: true });
      const decoder = new StringDecoder();
      let text = '';
      const onOutput = (chunk: Buffer): void => {
        text += decoder.write(chunk);
        if (text.length > 2 * OUTPUT_MAX) text = text.slice(-OUTPUT_MAX);
      };
      const began = realTime.monotonic();
      const app = await startApp(command, env, { ...io, onOutput });
      const code = await endInTime(app, limitMs, signal);
      const ms = realTime.monotonic() - began;
      const read = readResults(path === null ? text : await readFile(path, 'utf8').catch(() => ''), io.workingDir);
      return { results: read, passed: code === 0, hung: code === null, ms, tail: text.slice(-TAIL_MAX) };
    },
  } satisfies Stage & { run(limitMs: number): Promise<TestRun> };
}

/** A row does not wait longer for an engine that hangs. */
const ANNOUNCED_MS_MAX = 1_000;

/**
 * Keeps an examination in the user's data folder, if there is one, for the window. What cannot be kept is reported once,
 * and does not end the examination. The window’s commands are pasted in any folder, so they go to that of the tests.
 */
export function keeperIn(dataDir: string, { subject, repeat }: About, folder: string, report: (line: string) => void) {
  if (!existsSync(dataDir)) return {};
  const kept = openExaminations(dataDir);
  const at = new Date(realTime.now()).toISOString();
  const id = `${at.replaceAll(/\D/g, '')}-${process.pid}`;
  const there = (command: string): string => `cd ${posixWord(folder)} && ${command}`;
  let isFailed = false;
  const keep: NonNullable<Task['keep']> = async ({ rows, ...found }, total, stage) => {
    if (isFailed) return;
    try {
      const last = rows.at(-1);
      if (last === undefined) kept.begin(id);
      // Without a run, the stage has the requests of another one.
      if (last?.verdict !== 'not_met') {
        const { log } = await stage.call('traffic.har');
        kept.writeRequests(id, rows.length, log);
      }
      const shown = rows.map((row) => ({ ...row, repeat: there(row.repeat) }));
      kept.write({ id, at, subject, repeat: there(repeat), total, ...found, rows: shown });
      await announce(dataDir);
      if (rows.length === total) report('the window has the requests of each row: Break it, Examine');
    } catch (error) {
      stage.interruption.throwIfAborted();
      isFailed = true;
      report(`The examination is not kept in ${dataDir}: ${messageOf(error)}`);
    }
  };
  // Rows may end at the same time.
  const { enqueue } = createTurns(1);
  return { keep: (...what: Parameters<typeof keep>) => enqueue(() => keep(...what)) };
}

/** Tells the window, if one is open. */
async function announce(dataDir: string): Promise<void> {
  try {
    await askFor(findRunning(dataDir), 'examinations.changed', {}, AbortSignal.timeout(ANNOUNCED_MS_MAX));
  } catch {
    // None runs there, or it is about to stop: the window reads the folder when it is opened.
  }
}
