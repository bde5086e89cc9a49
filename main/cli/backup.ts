import { resolve } from 'node:path';
import { resolveDataDir } from '../base/data-dir.ts';
import { ownCommand } from '../base/own-command.ts';
import { shellWord } from '../base/shell.ts';
import type { WrittenBackup } from '../contract/backup.ts';
import { callProcedure } from './client.ts';
import type { LoadedCommand } from './command.ts';
import { surplusHint } from './eaten-options.ts';
import { EXIT_OK, printFailure, type Io } from './io.ts';
import {
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
import { findRunning, NotRunningError } from './running.ts';
import { columns, printable } from './text.ts';

const FORCE_FLAG: Option = { name: 'force', kind: 'switch', does: 'Replace an older backup of that name' };

const OPTIONS = [FORCE_FLAG, JSON_FLAG, DATA_DIR_FLAG, HELP_FLAG];

const help = (): string => `vivarium backup: the whole data folder as one file

Usage
  vivarium backup create FILE [--force]
  vivarium backup restore FILE

  create   Writes the database, the root with its private key, the control token and the demo key. Works while
           Vivarium runs, and without it.
  restore  Replaces the content of the data folder by that of a backup, or its database by a file of its folder
           "backups". Vivarium must not be running. The previous content is moved aside, never deleted.

Options
${columns(optionRows(OPTIONS))
  .map((line) => `  ${line}`)
  .join('\n')}

Exit codes
  0  done
  1  failed, with nothing changed, or usage error

Examples
  vivarium backup create vivarium-backup.db
  vivarium backup restore vivarium-backup.db
  vivarium backup restore vivarium-backup.db --data-dir ./another-folder
`;

/** The command `backup`. */
export const BACKUP: LoadedCommand = { options: OPTIONS, words: ['create', 'restore'], fileWord: 1, help, run: backup };

async function backup(args: readonly string[], io: Io): Promise<number> {
  try {
    const read = readArguments(args, OPTIONS);
    const [action, path, surplus] = read.positionals;
    if (isOn(read, HELP_FLAG.name) || action === undefined) {
      io.stdout.write(help());
      return EXIT_OK;
    }
    if (action !== 'create' && action !== 'restore') {
      throw usageError(`backup has no ${JSON.stringify(action)}; there are create and restore.`);
    }
    if (path === undefined || path === '')
      throw usageError(`Name a file, such as "vivarium backup ${action} vivarium-backup.db".`);
    if (surplus !== undefined)
      throw usageError(`Unexpected argument ${JSON.stringify(surplus)}.${surplusHint(`backup ${action}`, io)}`);
    const dataDir = resolveDataDir(lastOf(read, DATA_DIR_FLAG.name), io);
    const file = resolve(io.workingDir, path);
    const { value, lines } =
      action === 'create'
        ? describeWritten(await create(dataDir, { file, force: isOn(read, FORCE_FLAG.name) }), dataDir, io)
        : await restore(dataDir, file);
    const shown = isOn(read, JSON_FLAG.name) ? [JSON.stringify(value)] : lines.map(printable);
    io.stdout.write(`${shown.join('\n')}\n`);
    return EXIT_OK;
  } catch (error) {
    return printFailure('backup', error, args, io);
  }
}

interface Answer {
  value: object;
  lines: string[];
}

async function create(dataDir: string, target: { file: string; force: boolean }): Promise<WrittenBackup> {
  try {
    const reply = await callProcedure(findRunning(dataDir), 'backup.create', JSON.stringify(target));
    if (reply.kind === 'result') return JSON.parse(reply.json) as WrittenBackup;
  } catch (error) {
    if (!(error instanceof NotRunningError)) throw error;
  }
  return await (await import('../at-rest.ts')).backUpAtRest(dataDir, target);
}

function describeWritten(written: WrittenBackup, dataDir: string, io: Io): Answer {
  const { file, bytes, sealed } = written;
  const own = ownCommand(dataDir, io);
  const secrecy = sealed
    ? 'The root’s private key in it is sealed with this system’s keyring: no other machine can open it.'
    : 'It holds the root’s private key: keep it as secret as the data folder.';
  return {
    value: written,
    lines: [
      `Written: ${file} (${Math.ceil(bytes / 1_024).toLocaleString('en')} KiB). ${secrecy}`,
      'To restore it, stop Vivarium and run:',
      `  ${own(`vivarium backup restore ${shellWord(file, io.platform)}`)}`,
    ],
  };
}

async function restore(dataDir: string, file: string): Promise<Answer> {
  const { restoreAtRest } = await import('../at-rest.ts');
  const restored = restoreAtRest(dataDir, file);
  const { aside, whole, rootChanged } = restored;
  const lines = [
    whole
      ? `Restored into ${dataDir}.`
      : `The database in ${dataDir} is restored; the root and the keys are unchanged.`,
    ...(aside === null ? [] : [`The previous content is in ${aside}.`]),
    ...(rootChanged ? ['The root is another one than before: trust it with "vivarium ca trust".'] : []),
  ];
  return { value: { dataDir, ...restored }, lines };
}
