import type { WorldChange } from '../contract/world.ts';
import { askFor } from './client.ts';
import { isOn, JSON_FLAG, lastOf, usageError, type Option } from './flags.ts';
import { FAILURE_PREFIX, readFileNamed, writeFileNamed } from './io.ts';
import { localCommand } from './local-command.ts';
import { findRunning } from './running.ts';
import { columns, printable } from './text.ts';

const FILE_FLAG: Option = {
  name: 'file',
  kind: 'value',
  placeholder: 'FILE',
  does: 'Into this file; standard output by default',
};
const DRY_RUN: Option = { name: 'dry-run', kind: 'switch', does: 'Change nothing; print what would change' };

const EXIT_CODES = 'Exit code 0; 1 when it failed; 2 when no Vivarium runs on the data folder.';

/** The command `export`. */
export const EXPORT = localCommand({
  name: 'export',
  title: 'settings, projects and zones as one JSON file',
  usage: ['[--file FILE]'],
  options: [FILE_FLAG],
  notes: [
    'The file has projects with their plan, target, pets, names of keys, domains and redirects, and',
    'zones. It has no secrets, orders, deploys or counters: "vivarium backup create" keeps everything.',
    '',
    EXIT_CODES,
  ],
  examples: ['vivarium export', 'vivarium export --file vivarium.json'],
  async run(read, dataDir, io) {
    const { text, omitted } = await askFor<{ text: string; omitted: string[] }>(findRunning(dataDir), 'world.export');
    const path = lastOf(read, FILE_FLAG.name);
    if (path === undefined) io.stdout.write(text);
    else await writeFileNamed(path, text, io);
    for (const sentence of omitted) io.stderr.write(`${FAILURE_PREFIX}left out ${printable(sentence)}\n`);
  },
});

/** The command `import`. */
export const IMPORT = localCommand({
  name: 'import',
  title: 'create and change what a file of "vivarium export" has',
  usage: ['FILE [--dry-run]'],
  options: [DRY_RUN, JSON_FLAG],
  fileWord: 0,
  notes: [
    'What the file does not have stays, and pets are added only where there are none. All of the file is checked before',
    'the first change; importing it again changes nothing. "-" reads it from standard input.',
    '',
    EXIT_CODES,
  ],
  examples: ['vivarium import vivarium.json --dry-run', 'vivarium import vivarium.json'],
  async run(read, dataDir, io) {
    const [path] = read.positionals;
    if (path === undefined || path === '') throw usageError('Name a file, such as "vivarium import vivarium.json".');
    const dryRun = isOn(read, DRY_RUN.name);
    const text = await readFileNamed(path, io);
    const applied = await askFor<Applied>(findRunning(dataDir), dryRun ? 'world.diff' : 'world.apply', { text });
    const lines = isOn(read, JSON_FLAG.name) ? [JSON.stringify(applied)] : render(applied, dryRun).map(printable);
    io.stdout.write(`${lines.join('\n')}\n`);
  },
});

interface Applied {
  changes: WorldChange[];
  left: number;
  keys?: { project: string; name: string; secret: string }[];
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
  `${changes.length === 0 ? 'Nothing to change: ' : ''}${left} ${left === 1 ? 'entry matches' : 'entries match'} the file.`,
];
