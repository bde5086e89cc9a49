import { resolve } from 'node:path';
import { ownCommand, typedIn } from '../../base/system/own-command.ts';
import { shellWord } from '../../base/text/shell.ts';
import type { WrittenBackup } from '../../contract/snapshots.ts';
import { askFor } from '../engine/client.ts';
import { JSON_FLAG, usageError, switchOption } from '../words/flags.ts';
import { writtenLine, type Io } from '../text/io.ts';
import { localCommand } from '../words/command.ts';
import { findRunning, NotRunningError } from '../engine/running.ts';
import { printable } from '../text/text.ts';

const FORCE_FLAG = switchOption('force', 'Replace an older backup of that name');

export const BACKUP = localCommand({
  name: 'backup',
  title: 'the whole data folder as one file',
  usage: ['create FILE [--force]', 'restore FILE'],
  options: [FORCE_FLAG, JSON_FLAG],
  words: ['create', 'restore'],
  fileWord: 1,
  notes: [
    'create   Writes the database, the root with its private key, the control token and the demo key. Works while',
    '         Vivarium runs, and without it.',
    'restore  Replaces the content of the data folder with that of a backup, or its database with a file of its folder',
    '         "backups". Vivarium must not be running. The previous content is moved aside, never deleted.',
    '',
    'Exit code 0; 1 when it failed, with nothing changed.',
  ],
  examples: [
    'vivarium backup create vivarium-backup.db',
    'vivarium backup restore vivarium-backup.db',
    'vivarium backup restore vivarium-backup.db --data-dir ./another-folder',
  ],
  async run(read, dataDir, io) {
    const [action, path] = read.positionals;
    if (action !== 'create' && action !== 'restore') {
      throw usageError(
        action === undefined
          ? 'Say what to do: "vivarium backup create FILE" or "vivarium backup restore FILE".'
          : `backup has no ${JSON.stringify(action)}; there are create and restore.`,
      );
    }
    if (path === undefined || path === '')
      throw usageError(`Name a file, such as "vivarium backup ${action} vivarium-backup.db".`);
    const file = resolve(io.workingDir, path);
    const { value, lines } =
      action === 'create'
        ? describeWritten(await create(dataDir, { file, force: read.isOn(FORCE_FLAG) }), dataDir, io)
        : await restore(dataDir, file);
    const shown = read.isOn(JSON_FLAG) ? [JSON.stringify(value)] : lines.map(printable);
    io.stdout.write(`${shown.join('\n')}\n`);
  },
});

interface Answer {
  value: object;
  lines: string[];
}

async function create(dataDir: string, target: { file: string; force: boolean }): Promise<WrittenBackup> {
  try {
    return await askFor(findRunning(dataDir), 'backup.create', target);
  } catch (error) {
    if (!(error instanceof NotRunningError)) throw error;
  }
  return await (await import('../../offline/at-rest.ts')).backUpAtRest(dataDir, target);
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
      `${writtenLine(file, bytes)} ${secrecy}`,
      'To restore it, stop Vivarium and run:',
      `  ${own(`vivarium backup restore ${shellWord(file, io.platform)}`)}`,
    ],
  };
}

async function restore(dataDir: string, file: string): Promise<Answer> {
  const { restoreAtRest } = await import('../../offline/at-rest.ts');
  const restored = restoreAtRest(dataDir, file);
  const { aside, whole, rootChanged } = restored;
  const lines = [
    whole
      ? `Restored into ${dataDir}.`
      : `The database in ${dataDir} is restored; the root and the keys are unchanged.`,
    ...(aside === null ? [] : [`The previous content is in ${aside}.`]),
    ...(rootChanged ? [typedIn('The root has changed: trust the new one with "vivarium ca trust".')] : []),
  ];
  return { value: { dataDir, ...restored }, lines };
}
