import { type FSWatcher, watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { sleep } from '../../base/clock.ts';
import type { ResultOf } from '../../contract/index.ts';
import { commandLine, ownCommand } from '../../base/system/own-command.ts';
import type { Running } from '../../base/system/runtime-file.ts';
import { askFor } from '../engine/client.ts';
import { JSON_FLAG, usageError, type Arguments, type Option, valueOption, switchOption } from '../words/flags.ts';
import { EXIT_FAILED, EXIT_OK, FAILURE_PREFIX, interruptible, printFailure, writeFileNamed } from '../text/io.ts';
import type { Io } from '../text/io.ts';
import { localCommand } from '../words/command.ts';
import { findRunning } from '../engine/running.ts';
import { columns, counted, printable } from '../text/text.ts';
import { ALLOW_FLAG, allowedBy, findWorldFile, formatIssue, ownerPath, readWorldFile } from './world-file.ts';

export const FILE_FLAG = valueOption('file', 'FILE', 'The file; vivarium.yaml in this folder by default');
const OUTPUT_FILE: Option = {
  ...FILE_FLAG,
  does: 'Write to this file and keep its comments; standard output by default',
};
const ADOPT = switchOption('adopt', 'Let the file own existing entries');
const REMOVE = switchOption('remove', 'Remove entries that the file no longer contains');
const WATCH = switchOption('watch', 'Apply it again whenever it is saved');
const CHECK_ONLY = switchOption(
  'check',
  'Change nothing; report what is wrong, with line and column; needs no Vivarium',
);
const DRY_RUN = switchOption('dry-run', 'Change nothing; print what would change');

/** @throws VivariumError `invalid_request` for two of them */
function fileOf(read: Arguments): string | undefined {
  const [word] = read.positionals;
  const named = read.last(FILE_FLAG);
  if (word !== undefined && named !== undefined) throw usageError('Name the file once: as a word, or with --file.');
  return word ?? named;
}

const EXIT_CODES = 'Exit code 0; 1 when it failed; 2 when no Vivarium is running on the data folder.';

/** An empty world, which removes all entries that its file owns. */
const EMPTY = '{"vivarium":1}';

export const EXPORT = localCommand({
  name: 'export',
  title: 'settings, projects and zones as one file, vivarium.yaml',
  fileWord: 0,
  usage: ['[FILE]'],
  options: [OUTPUT_FILE],
  notes: [
    'The file has projects with their plan, target, pets, names of keys, domains and redirects, and',
    'zones. It has no secrets, orders, deploys or counters: "vivarium backup create" keeps everything.',
    'A name that ends in .json gets JSON.',
    '',
    EXIT_CODES,
  ],
  examples: ['vivarium export', 'vivarium export vivarium.yaml'],
  async run(read, dataDir, io) {
    const path = fileOf(read);
    const isJson = path?.endsWith('.json') === true;
    const into =
      path === undefined || isJson ? null : await readFile(resolve(io.workingDir, path), 'utf8').catch(() => null);
    const { text, omitted } = await askFor(findRunning(dataDir), 'world.export', {
      format: isJson ? 'json' : 'yaml',
      ...(into !== null && { into }),
    });
    if (path === undefined) io.stdout.write(text);
    else {
      const { withSchemaFor } = await import('../init/folder.ts');
      await writeFileNamed(path, withSchemaFor(dirname(resolve(io.workingDir, path)), text), io);
    }
    if (omitted.length === 0) return;
    // Loads the whole contract.
    const { withCommandLines } = await import('../words/command-line.ts');
    for (const sentence of omitted)
      io.stderr.write(`${FAILURE_PREFIX}Left out: ${printable(withCommandLines(sentence, ownCommand(dataDir)))}\n`);
  },
});

export const UP = localCommand({
  name: 'up',
  title: 'bring the running Vivarium to the state in vivarium.yaml',
  fileWord: 0,
  usage: ['[FILE] [--allow DIR] [--adopt] [--remove] [--watch]', '[FILE] --check | --dry-run'],
  options: [FILE_FLAG, ALLOW_FLAG, ADOPT, REMOVE, CHECK_ONLY, DRY_RUN, WATCH, JSON_FLAG],
  notes: [
    'Prints the difference first. The whole file is checked before the first change; applying it again changes nothing.',
    'The file owns what it creates, and changes and removes nothing else: an existing entry with other content is',
    'refused without --adopt, and an entry that the file no longer contains is only removed with --remove. Pets are added to',
    'empty datasets. "-" reads standard input, which owns nothing. Its domains are verified; zones come from the file only.',
    '',
    'Exit code 0; 1 when it failed or a domain is not verified; 2 when no Vivarium is running on the data folder.',
  ],
  examples: ['vivarium up', 'vivarium up --dry-run', 'vivarium up demo/vivarium.yaml --watch'],
  async run(read, dataDir, io) {
    const chosen = [CHECK_ONLY, DRY_RUN, WATCH]
      .filter(({ name }) => read.isOn({ name }))
      .map(({ name }) => `--${name}`);
    if (chosen.length > 1) throw usageError(`${chosen.join(' and ')} exclude each other.`);
    if (read.isOn(CHECK_ONLY)) return check(read, io);
    if (read.isOn(DRY_RUN)) return showDifference(read, dataDir, io);
    const name = await findWorldFile(fileOf(read), io);
    if (!read.isOn(WATCH) || name === '-') return apply(name, read, dataDir, io);
    await interruptible(io, async (signal, onStream) => {
      onStream();
      const pathsOf = async (): Promise<string[]> => {
        const path = await ownerPath(name, io);
        const { files } = await readWorldFile(name, allowedBy(read), io).catch(() => ({ files: {} }));
        return [path, ...Object.keys(files).map((named) => resolve(dirname(path), named))];
      };
      await watchFiles(pathsOf, signal, async (paths) => {
        await apply(name, read, dataDir, io).catch((error: unknown) => printFailure(error, [], io));
        io.stderr.write(`${FAILURE_PREFIX}watching ${printable(paths.join(', '))}; Ctrl-C ends.\n`);
      });
    });
    return EXIT_OK;
  },
});

async function showDifference(read: Arguments, dataDir: string, io: Io): Promise<number> {
  const name = await findWorldFile(fileOf(read), io);
  const difference = await askFor(findRunning(dataDir), 'world.diff', await inputOf(name, read, io));
  if (read.isOn(JSON_FLAG)) print([JSON.stringify(difference)], io);
  else print([...renderChanges(difference), ...(difference.changes.length === 0 ? [nothing(difference)] : [])], io);
  return EXIT_OK;
}

async function check(read: Arguments, io: Io): Promise<number> {
  const found = await findWorldFile(fileOf(read), io);
  const { name, text, files } = await readWorldFile(found, allowedBy(read), io);
  const { checkFile } = await import('../../offline/check-file.ts');
  const issues = await checkFile(text, files);
  const isValid = issues.length === 0;
  const lines = isValid ? [`${name} is valid.`] : issues.map((issue) => formatIssue(name, issue));
  print(read.isOn(JSON_FLAG) ? [JSON.stringify({ valid: isValid, issues })] : lines, io);
  return isValid ? EXIT_OK : EXIT_FAILED;
}

/** Other words for `up` with one of its options. */
const upWith = (word: string, { name }: Option): typeof UP => ({
  ...UP,
  name: word,
  run: (args, io) => UP.run([`--${name}`, ...args], io),
  help: () =>
    `vivarium ${word}: the same as "vivarium up --${name}"; see "vivarium help up"\n\nExamples\n  vivarium ${word}\n`,
});
export const DIFF = upWith('diff', DRY_RUN);
export const CHECK = upWith('check', CHECK_ONLY);

export const DOWN = localCommand({
  name: 'down',
  title: 'remove what "vivarium up" has created',
  fileWord: 0,
  usage: ['[FILE] [--dry-run]'],
  options: [FILE_FLAG, DRY_RUN, JSON_FLAG],
  notes: [
    'Prints the difference first. Settings get their previous values. Entries that existed before the file are kept, and a',
    'project or zone is kept while it contains anything else. The file itself is not read and may already be deleted.',
    '',
    EXIT_CODES,
  ],
  examples: ['vivarium down --dry-run', 'vivarium down demo/vivarium.yaml'],
  async run(read, dataDir, io) {
    const given = fileOf(read);
    const file = await ownerPath(given ?? (await findWorldFile(undefined, io)), io);
    const running = findRunning(dataDir);
    const input = { text: EMPTY, file };
    const isJson = read.isOn(JSON_FLAG);
    const difference = await askFor(running, 'world.diff', input);
    if (!isJson) print(renderChanges(difference), io);
    const isDry = read.isOn(DRY_RUN);
    const result = isDry ? difference : await askFor(running, 'world.apply', { ...input, remove: true });
    if (isJson) print([JSON.stringify(result)], io);
    else if (result.changes.length === 0) print([`Nothing to remove: ${file} owns nothing that can be removed.`], io);
    else if (!isDry) print([`Removed: ${counted(result.changes.length, 'entry', 'entries')}.`], io);
  },
});

type Difference = ResultOf<'world.diff'>;

async function inputOf(name: string, read: Arguments, io: Io) {
  const { path, text, files } = await readWorldFile(name, allowedBy(read), io);
  return { text, files, ...(path !== undefined && { file: path }), adopt: read.isOn(ADOPT) };
}

/** Prints the difference, and applies it. */
async function apply(name: string, read: Arguments, dataDir: string, io: Io): Promise<number> {
  const running = findRunning(dataDir);
  const input = await inputOf(name, read, io);
  const isJson = read.isOn(JSON_FLAG);
  if (!isJson) print(renderChanges(await askFor(running, 'world.diff', input)), io);
  const applied = await askFor(running, 'world.apply', { ...input, remove: read.isOn(REMOVE) });
  const { changes, keys, unverified } = applied;
  const lines = [
    ...keys.map(({ project, name: key, secret }) => `The secret of ${project}/${key}, shown only here: ${secret}`),
    changes.length === 0 ? nothing(applied) : `Applied: ${counted(changes.length, 'change')}.`,
  ];
  print(isJson ? [JSON.stringify(applied)] : lines, io);
  if (unverified.length === 0) return EXIT_OK;
  await explainUnverified(unverified, running, io);
  return EXIT_FAILED;
}

/** How many of the domains that are not verified are named. */
const UNVERIFIED_MAX = 5;

/** Names them, why the first is not verified, and what helps. */
async function explainUnverified(unverified: readonly string[], running: Running, io: Io): Promise<void> {
  const [first = ''] = unverified;
  const { checks, projectId } = await askFor(running, 'domains.get', { hostname: first });
  const check = checks.find(({ outcome }) => outcome !== 'ok');
  const { withCommandLines } = await import('../words/command-line.ts');
  const own = ownCommand(running.dataDir, io);
  const why = withCommandLines(`${check?.message ?? ''} ${check?.fix ?? ''}`.trim(), own).replace(/(?<![.:])$/, '.');
  const way =
    check?.code === 'no_record'
      ? `In this file, or by: ${own(commandLine`vivarium domain attach ${projectId} ${first} --local`)}`
      : `To see all: ${own(commandLine`vivarium domain verify ${first}`)}`;
  const named = unverified.slice(0, UNVERIFIED_MAX).join(', ');
  const more = unverified.length > UNVERIFIED_MAX ? ` and ${unverified.length - UNVERIFIED_MAX} more` : '';
  io.stderr.write(`${FAILURE_PREFIX}${printable(`Not verified: ${named}${more}. ${why} ${way}`)}\n`);
}

/** Editors write a file in several steps. */
const SETTLE_MS = 100;

/** Runs `work` now and after every change of the files, one at a time, until the signal. */
async function watchFiles(
  pathsOf: () => Promise<readonly string[]>,
  signal: AbortSignal,
  work: (paths: readonly string[]) => Promise<void>,
): Promise<void> {
  let onChange = (): void => undefined;
  let watched: ReadonlySet<string> = new Set();
  const watchers = new Map<string, FSWatcher>();
  signal.addEventListener('abort', () => onChange(), { once: true });
  try {
    while (!signal.aborted) {
      const changed = new Promise<void>((resolve) => (onChange = resolve));
      const paths = await pathsOf();
      watched = new Set(paths);
      // Folders rather than files: editors replace files.
      for (const folder of new Set(paths.map((path) => dirname(path)))) {
        if (watchers.has(folder)) continue;
        const watcher = watch(folder, (_event, entry) => {
          if (entry === null || watched.has(join(folder, entry))) onChange();
        });
        watchers.set(folder, watcher);
      }
      await work(paths);
      await changed;
      if (!signal.aborted) await sleep(SETTLE_MS);
    }
  } finally {
    for (const watcher of watchers.values()) watcher.close();
  }
}

const print = (lines: readonly string[], io: Io): void => {
  if (lines.length > 0) io.stdout.write(`${lines.map(printable).join('\n')}\n`);
};

function renderChanges({ changes, kept }: Difference): string[] {
  const rows = changes.map(({ kind, what, before, after }) => {
    if (before === undefined) return ['create', kind, what, detailOf(after, what)];
    if (after === undefined) return ['remove', kind, what, detailOf(before, what)];
    return ['change', kind, what, `${JSON.stringify(before)} → ${JSON.stringify(after)}`];
  });
  return [...columns(rows), ...kept.map((sentence) => `keep    ${sentence}`)];
}

/** The text of a row after its name. */
function detailOf(value: unknown, what: string): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return what.endsWith(text) ? '' : text;
}

const nothing = ({ left }: Difference): string =>
  `Nothing to change: ${left} ${left === 1 ? 'entry matches' : 'entries match'} the file.`;
