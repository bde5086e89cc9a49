import { resolveDataDir } from '../base/data-dir.ts';
import type { LoadedCommand } from './command.ts';
import { surplusHint } from './eaten-options.ts';
import {
  DATA_DIR_FLAG,
  HELP_FLAG,
  lastOf,
  optionRows,
  readArguments,
  usageError,
  type Arguments,
  type Option,
} from './flags.ts';
import { EXIT_OK, exitCodeOf, failureOf, type Io } from './io.ts';
import { columns, printable } from './text.ts';

export interface LocalCommand {
  name: string;
  /** What it does, after its name. */
  title: string;
  /** Its own options; it has `--data-dir` and `--help` too. */
  options: readonly Option[];
  /** Paragraphs of the help, each line at most 100 characters. */
  notes: readonly string[];
  examples: readonly string[];
  run(read: Arguments, dataDir: string, io: Io): Promise<void>;
}

/** A command about the engine of one data folder, without words of its own: reads its options, reports its errors. */
export function localCommand({ name, title, options: own, notes, examples, run }: LocalCommand): LoadedCommand {
  const options = [...own, DATA_DIR_FLAG, HELP_FLAG];
  return {
    options,
    help: () => formatHelp({ name, title, options, notes, examples }),
    async run(args, io) {
      try {
        const read = readArguments(args, options);
        const [surplus] = read.positionals;
        if (surplus !== undefined)
          throw usageError(`${name} takes options only, not ${JSON.stringify(surplus)}.${surplusHint(name, io)}`);
        await run(read, resolveDataDir(lastOf(read, DATA_DIR_FLAG.name), io), io);
        return EXIT_OK;
      } catch (error) {
        const failure = failureOf(error);
        if (args.includes('--json')) io.stderr.write(`${JSON.stringify(failure)}\n`);
        else io.stderr.write(`vivarium ${name}: ${printable(failure.message)}\n`);
        return exitCodeOf(error);
      }
    },
  };
}

/** The help of a command, in the order of all helps. */
export function formatHelp(
  { name, title, options, notes, examples }: Omit<LocalCommand, 'run'>,
  usage = '[options]',
): string {
  const indented = (lines: readonly string[]) => lines.map((line) => `  ${line}`.trimEnd()).join('\n');
  return `vivarium ${name}: ${title}

Usage
${indented([`vivarium ${name} ${usage}`])}

Options
${indented(columns(optionRows(options)))}

${notes.length === 0 ? '' : `${indented(notes)}\n\n`}Examples
${indented(examples)}
`;
}
