import { readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { resolveDataDir } from '../base/data-dir.ts';
import { codeOf } from '../base/error-code.ts';
import { VivariumError } from '../contract/errors.ts';
import type { WorldChange } from '../contract/world.ts';
import { callProcedure } from './client.ts';
import type { LoadedCommand } from './command.ts';
import { surplusHint } from './eaten-options.ts';
import { EXIT_OK, printFailure, readStdin, type Io } from './io.ts';
import {
  type Arguments,
  DATA_DIR_FLAG,
  HELP_FLAG,
  isOn,
  JSON_FLAG,
  lastOf,
  optionRows,
  readArguments,
  usageError,
  type Option,
} from './flags.ts';
import { findRunning } from './running.ts';
import { columns, printable } from './text.ts';

const FILE_FLAG: Option = {
  name: 'file',
  kind: 'value',
  placeholder: 'FILE',
  does: 'Into this file; standard output by default',
};
const DRY_RUN: Option = { name: 'dry-run', kind: 'switch', does: 'Change nothing; print what would change' };

const EXPORT_OPTIONS = [FILE_FLAG, DATA_DIR_FLAG, HELP_FLAG];
const IMPORT_OPTIONS = [DRY_RUN, JSON_FLAG, DATA_DIR_FLAG, HELP_FLAG];

const optionsText = (options: readonly Option[]): string =>
  columns(optionRows(options))
    .map((line) => `  ${line}`)
    .join('\n');

const EXIT_CODES = `Exit codes
  0  done
  1  failed, or usage error
  2  no Vivarium is running on the data folder`;

/** The command `export`. */
export const EXPORT: LoadedCommand = {
  options: EXPORT_OPTIONS,
  help: () => `vivarium export: settings, projects and zones as one text

Usage
  vivarium export [--file FILE]

  The text is JSON. It has projects with their plan, target, pets, names of keys, domains and redirects, and
  zones. It has no secrets, orders, deploys or counters: "vivarium backup create" keeps everything.

Options
${optionsText(EXPORT_OPTIONS)}

${EXIT_CODES}

Examples
  vivarium export
  vivarium export --file vivarium.json
`,
  run: (args, io) => guarded('export', args, EXPORT, io, exportText),
};

/** The command `import`. */
export const IMPORT: LoadedCommand = {
  options: IMPORT_OPTIONS,
  fileWord: 0,
  help: () => `vivarium import: create and change what a text of "vivarium export" has

Usage
  vivarium import FILE [--dry-run]

  What the text does not have stays, and pets are added only where there are none. All of the text is checked before
  the first change; importing it again changes nothing. "-" reads it from standard input.

Options
${optionsText(IMPORT_OPTIONS)}

${EXIT_CODES}

Examples
  vivarium import vivarium.json --dry-run
  vivarium import vivarium.json
`,
  run: (args, io) => guarded('import', args, IMPORT, io, importText),
};

async function guarded(
  name: string,
  args: readonly string[],
  { options, help }: LoadedCommand,
  io: Io,
  work: (read: Arguments, io: Io) => Promise<void>,
): Promise<number> {
  try {
    const read = readArguments(args, options);
    if (isOn(read, HELP_FLAG.name)) io.stdout.write(help(io));
    else await work(read, io);
    return EXIT_OK;
  } catch (error) {
    return printFailure(name, error, args, io);
  }
}

async function ask<Answer>(procedure: string, input: object, read: Arguments, io: Io): Promise<Answer> {
  const running = findRunning(resolveDataDir(lastOf(read, DATA_DIR_FLAG.name), io));
  const reply = await callProcedure(running, procedure, JSON.stringify(input));
  if (reply.kind === 'stream') throw new Error(`${procedure} is not a stream.`);
  return JSON.parse(reply.json) as Answer;
}

async function exportText(read: Arguments, io: Io): Promise<void> {
  const [surplus] = read.positionals;
  if (surplus !== undefined)
    throw usageError(`export takes options only: write --file ${JSON.stringify(surplus)}.${surplusHint('export', io)}`);
  const { text, omitted } = await ask<{ text: string; omitted: string[] }>('world.export', {}, read, io);
  const path = lastOf(read, FILE_FLAG.name);
  if (path === undefined) io.stdout.write(text);
  else await named(path, 'written', () => writeFile(resolve(io.workingDir, path), text));
  for (const sentence of omitted) io.stderr.write(`vivarium export: left out ${printable(sentence)}\n`);
}

interface Applied {
  changes: WorldChange[];
  left: number;
  keys?: { project: string; name: string; secret: string }[];
}

async function importText(read: Arguments, io: Io): Promise<void> {
  const [path, surplus] = read.positionals;
  if (path === undefined || path === '') throw usageError('Name a file, such as "vivarium import vivarium.json".');
  if (surplus !== undefined)
    throw usageError(`Unexpected argument ${JSON.stringify(surplus)}.${surplusHint('import', io)}`);
  const dryRun = isOn(read, DRY_RUN.name);
  const text =
    path === '-'
      ? await readStdin(io)
      : await named(path, 'read', () => readFile(resolve(io.workingDir, path), 'utf8'));
  const applied = await ask<Applied>(dryRun ? 'world.diff' : 'world.apply', { text }, read, io);
  const lines = isOn(read, JSON_FLAG.name) ? [JSON.stringify(applied)] : render(applied, dryRun).map(printable);
  io.stdout.write(`${lines.join('\n')}\n`);
}

async function named<Value>(path: string, what: string, action: () => Promise<Value>): Promise<Value> {
  try {
    return await action();
  } catch (cause) {
    const code = codeOf(cause) ?? 'unknown';
    throw new VivariumError('invalid_request', `The file ${path} cannot be ${what} (${code}).`, { cause });
  }
}

const render = ({ changes, left, keys = [] }: Applied, dryRun: boolean): string[] => [
  ...columns(
    changes.map(({ kind, what, before, after }) => [
      before === undefined ? (dryRun ? 'create' : 'created') : dryRun ? 'change' : 'changed',
      kind,
      what,
      before === undefined ? '' : `${JSON.stringify(before)} → ${JSON.stringify(after)}`,
    ]),
  ),
  ...keys.map(({ project, name, secret }) => `The secret of ${project}/${name}, shown only here: ${secret}`),
  `${left} ${left === 1 ? 'entry is' : 'entries are'} as in the file.`,
];
