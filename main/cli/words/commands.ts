import { VERSION } from '../../base/config.ts';
import type { Command, LoadedCommand } from './command.ts';
import { EXIT_OK } from '../text/io.ts';

/** A command that a module exports under its name in capitals. */
const row = <Name extends string>(
  name: Name,
  usage: string,
  summary: string,
  load: () => Promise<Record<Uppercase<Name>, LoadedCommand>>,
  more: Pick<Command, 'aliases' | 'isNamespace' | 'isHidden'> = {},
): Command => ({
  ...{ name, usage, summary, ...more },
  load: async () => (await load())[name.toUpperCase() as Uppercase<Name>],
});

/** A namespace of the contract that the general help has among the commands. */
const short = (name: string, usage: string, summary: string): Command => ({
  ...{ name, usage, summary, isNamespace: true },
  load: async () => (await import('./ask.ts')).shortFor(name),
});

const engine = () => import('../engine/engine-commands.ts');
const world = () => import('../world/world.ts');

/** All commands besides the namespaces of the contract, in the order of the general help. A row is a command. */
export const COMMANDS: readonly Command[] = [
  // What other servers are started with.
  row('start', '[-d]', 'Start it in this terminal, or with -d in the background', () => import('../engine/start.ts'), {
    aliases: ['serve'],
  }),
  row('stop', '', 'Stop it', engine),
  row('status', '[rates]', 'Show what is running, or how many requests', engine, { isNamespace: true }),
  row('logs', '[-f]', 'Print the log of a Vivarium in the background', () => import('../engine/logs.ts')),
  row('open', '[HOSTNAME]', 'Open the interface, or a hostname, in the browser', engine),
  row('wait', '', 'Wait until Vivarium is serving', engine),
  row(
    'init',
    '[HOSTNAME] [-- COMMAND]',
    'Put "vivarium run" into the dev script of a folder',
    () => import('../init.ts'),
  ),
  row('run', '[HOSTNAME] -- COMMAND', 'Run your dev server at its own hostname', () => import('../run/run-app.ts')),
  {
    name: 'ps',
    usage: '',
    summary: 'List what "run" serves',
    load: async () => (await import('./ask.ts')).shortFor('runs', 'list'),
  },
  row('mcp', '[--allow-writes]', 'Provide tools for coding assistants over standard input', () => import('../mcp.ts')),
  row(
    'rehearse',
    'FILE|renewals [-- COMMAND]',
    'Rehearse a file’s steps on a separate engine, or a year of renewals',
    () => import('../world/rehearse.ts'),
  ),
  row(
    'examine',
    '[--table NAME] -- COMMAND',
    'Run your tests under a table of faults, and say what broke',
    () => import('../world/examine.ts'),
  ),
  row('call', "<namespace.procedure> '<json>'", 'Call the running Vivarium; JSON output', () => import('../call.ts')),
  row('doctor', '[options]', 'Check the environment and suggest fixes', () => import('../doctor.ts'), {
    isNamespace: true,
  }),
  row(
    'backup',
    'create|restore FILE',
    'Back up the whole data folder as one file, or restore it',
    () => import('../world/backup.ts'),
  ),
  short('snapshot', 'save|restore|list|remove NAME', 'Save the whole world under a name, or restore it'),
  short('break', '[ENTRY] | list | off', 'Break something on purpose, for a time'),
  short('manners', '[PROJECT] | what-if', 'Grade the API clients whose requests were recorded'),
  short('drill', '[list | start NAME | hint | answer | stop]', 'Find out what is wrong, and fix it'),
  row(
    'up',
    '[FILE] [--check | --dry-run | --watch]',
    'Apply the vivarium.yaml in this folder; check it; show what would change',
    world,
  ),
  row('down', '[FILE]', 'Remove what "up" has created', world),
  row('diff', '[FILE]', 'Show what "up" would change', world, { isHidden: true }),
  row('check', '[FILE]', 'Check a vivarium.yaml', world, { isHidden: true }),
  row('export', '[FILE]', 'Write the current state as a vivarium.yaml', world),
  row(
    'uninstall',
    '[--dry-run]',
    'Remove the root from trust stores; list what else to undo',
    () => import('../uninstall.ts'),
  ),
  row(
    'completion',
    'bash|zsh|fish|powershell',
    'Print a completion script for your shell',
    () => import('./completion.ts'),
  ),
  {
    name: 'complete',
    usage: '-- WORD…',
    summary: 'The candidates of a shell’s completion',
    isHidden: true,
    load: async () => (await import('./complete.ts')).createComplete(COMMANDS),
  },
  {
    name: 'help',
    aliases: ['--help', '-h'],
    usage: '[WORD] [--all]',
    summary: 'More on any of them',
    load: async () => (await import('./first-help.ts')).createHelp(COMMANDS),
  },
  {
    name: 'version',
    aliases: ['--version', '-V', '-v'],
    usage: '',
    summary: 'Print the version',
    load: () =>
      Promise.resolve({
        options: [],
        help: () => 'vivarium version: prints the version; also "vivarium --version"\n\nExamples\n  vivarium version\n',
        run(_args, io) {
          io.stdout.write(`${VERSION}\n`);
          return Promise.resolve(EXIT_OK);
        },
      }),
  },
];
