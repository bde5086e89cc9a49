import { VERSION } from '../base/version.ts';
import type { Command } from './command.ts';
import { EXIT_OK } from './io.ts';

/** All commands besides the namespaces of the contract, in the order of the general help. A row is a command. */
export const COMMANDS: readonly Command[] = [
  {
    name: 'serve',
    usage: '[options]',
    summary: 'Start it',
    load: async () => (await import('./serve.ts')).SERVE,
  },
  {
    name: 'call',
    usage: "<namespace.procedure> '<json>'",
    summary: 'Call a running one; JSON output',
    load: async () => (await import('./call.ts')).CALL,
  },
  {
    name: 'doctor',
    usage: '[options]',
    summary: 'Check the environment and suggest fixes',
    isNamespace: true,
    load: async () => (await import('./doctor.ts')).DOCTOR,
  },
  {
    name: 'help',
    aliases: ['--help', '-h'],
    usage: '[command]',
    summary: 'More on any of them',
    load: async () => (await import('./help.ts')).createHelp(COMMANDS),
  },
  {
    name: 'version',
    aliases: ['--version', '-V'],
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
