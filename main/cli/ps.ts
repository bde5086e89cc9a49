import { ask } from './ask.ts';
import type { LoadedCommand } from './command.ts';
import { DATA_DIR_FLAG, HELP_FLAG, JSON_FLAG } from './flags.ts';
import { formatHelp } from './local-command.ts';

const OPTIONS = [JSON_FLAG, DATA_DIR_FLAG, HELP_FLAG];

/** `vivarium ps`: short for `runs list`. */
export const PS: LoadedCommand = {
  options: OPTIONS,
  help: () =>
    formatHelp({
      name: 'ps',
      title: 'the commands that "vivarium run" has started',
      options: OPTIONS,
      notes: ['Exit code 0; 2 when no Vivarium runs on the data folder.'],
      examples: ['vivarium ps', 'vivarium ps --json'],
    }),
  run: (args, io) => ask('runs', ['list', ...args], io, []),
};
