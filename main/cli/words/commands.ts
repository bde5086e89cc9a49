import { VERSION } from '../../base/config.ts';
import type { Command } from './command.ts';
import { EXIT_OK } from '../text/io.ts';

/** All commands besides the namespaces of the contract, in the order of the general help. A row is a command. */
export const COMMANDS: readonly Command[] = [
  {
    name: 'start',
    // What other servers are started with.
    aliases: ['serve'],
    usage: '[-d]',
    summary: 'Start it in this terminal, or with -d in the background',
    load: async () => (await import('../engine/start.ts')).START,
  },
  {
    name: 'stop',
    usage: '',
    summary: 'Stop it',
    load: async () => (await import('../engine/engine-commands.ts')).STOP,
  },
  {
    name: 'status',
    usage: '[rates]',
    summary: 'Show what is running, or how many requests',
    isNamespace: true,
    load: async () => (await import('../engine/engine-commands.ts')).STATUS,
  },
  {
    name: 'logs',
    usage: '[-f]',
    summary: 'Print the log of a Vivarium in the background',
    load: async () => (await import('../engine/logs.ts')).LOGS,
  },
  {
    name: 'open',
    usage: '[HOSTNAME]',
    summary: 'Open the interface, or a hostname, in the browser',
    load: async () => (await import('../engine/engine-commands.ts')).OPEN,
  },
  {
    name: 'wait',
    usage: '',
    summary: 'Wait until Vivarium is serving',
    load: async () => (await import('../engine/engine-commands.ts')).WAIT,
  },
  {
    name: 'init',
    usage: '[HOSTNAME] [-- COMMAND]',
    summary: 'Put "vivarium run" into the dev script of a folder',
    load: async () => (await import('../init.ts')).INIT,
  },
  {
    name: 'run',
    usage: '[HOSTNAME] -- COMMAND',
    summary: 'Run your dev server at its own hostname',
    load: async () => (await import('../run/run-app.ts')).RUN,
  },
  {
    name: 'ps',
    usage: '',
    summary: 'List what "run" serves',
    load: async () => (await import('./ask.ts')).shortFor('runs', 'list'),
  },
  {
    name: 'mcp',
    usage: '[--allow-writes]',
    summary: 'Provide tools for coding assistants over standard input',
    load: async () => (await import('../mcp.ts')).MCP,
  },
  {
    name: 'rehearse',
    usage: 'FILE|renewals [-- COMMAND]',
    summary: 'Rehearse a file’s steps on a separate engine, or a year of renewals',
    load: async () => (await import('../world/rehearse.ts')).REHEARSE,
  },
  {
    name: 'examine',
    usage: '[--table NAME] -- COMMAND',
    summary: 'Run your tests under a table of faults, and say what broke',
    load: async () => (await import('../world/examine.ts')).EXAMINE,
  },
  {
    name: 'call',
    usage: "<namespace.procedure> '<json>'",
    summary: 'Call the running Vivarium; JSON output',
    load: async () => (await import('../call.ts')).CALL,
  },
  {
    name: 'doctor',
    usage: '[options]',
    summary: 'Check the environment and suggest fixes',
    isNamespace: true,
    load: async () => (await import('../doctor.ts')).DOCTOR,
  },
  {
    name: 'backup',
    usage: 'create|restore FILE',
    summary: 'Back up the whole data folder as one file, or restore it',
    load: async () => (await import('../world/backup.ts')).BACKUP,
  },
  {
    name: 'snapshot',
    usage: 'save|restore|list|remove NAME',
    summary: 'Save the whole world under a name, or restore it',
    isNamespace: true,
    load: async () => (await import('./ask.ts')).shortFor('snapshot'),
  },
  {
    name: 'break',
    usage: '[ENTRY] | list | off',
    summary: 'Break something on purpose, for a time',
    isNamespace: true,
    load: async () => (await import('./ask.ts')).shortFor('break'),
  },
  {
    name: 'manners',
    usage: '[PROJECT] | what-if',
    summary: 'Grade the API clients whose requests were recorded',
    isNamespace: true,
    load: async () => (await import('./ask.ts')).shortFor('manners'),
  },
  {
    name: 'drill',
    usage: '[list | start NAME | hint | answer | stop]',
    summary: 'Find out what is wrong, and fix it',
    isNamespace: true,
    load: async () => (await import('./ask.ts')).shortFor('drill'),
  },
  {
    name: 'up',
    usage: '[FILE] [--check | --dry-run | --watch]',
    summary: 'Apply the vivarium.yaml in this folder; check it; show what would change',
    load: async () => (await import('../world/world.ts')).UP,
  },
  {
    name: 'down',
    usage: '[FILE]',
    summary: 'Remove what "up" has created',
    load: async () => (await import('../world/world.ts')).DOWN,
  },
  {
    name: 'diff',
    usage: '[FILE]',
    summary: 'Show what "up" would change',
    isHidden: true,
    load: async () => (await import('../world/world.ts')).DIFF,
  },
  {
    name: 'check',
    usage: '[FILE]',
    summary: 'Check a vivarium.yaml',
    isHidden: true,
    load: async () => (await import('../world/world.ts')).CHECK,
  },
  {
    name: 'export',
    usage: '[FILE]',
    summary: 'Write the current state as a vivarium.yaml',
    load: async () => (await import('../world/world.ts')).EXPORT,
  },
  {
    name: 'uninstall',
    usage: '[--dry-run]',
    summary: 'Remove the root from trust stores; list what else to undo',
    load: async () => (await import('../uninstall.ts')).UNINSTALL,
  },
  {
    name: 'completion',
    usage: 'bash|zsh|fish|powershell',
    summary: 'Print a completion script for your shell',
    load: async () => (await import('./completion.ts')).COMPLETION,
  },
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
