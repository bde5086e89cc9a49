import { resolveDataDir } from '../../base/system/data-dir.ts';
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
import { EXIT_OK, printFailure, type Io } from '../text/io.ts';
import { columns } from '../text/text.ts';

export interface LocalCommand extends Pick<LoadedCommand, 'words' | 'fileWord'> {
  name: string;
  /** What it does, after its name. */
  title: string;
  /** What may follow its name; `[options]` by default. */
  usage?: readonly string[];
  /** Its own options; it has `--data-dir` and `--help` too. */
  options: readonly Option[];
  /** Paragraphs of the help. */
  notes: readonly string[];
  examples: readonly string[];
  /** Resolves with the exit code; 0 by default. Gets at most the words up to `fileWord`. */
  run(read: Arguments, dataDir: string, io: Io): Promise<number> | Promise<void>;
}

/** It starts no other process. */
export interface LoadedLocalCommand extends LoadedCommand {
  run(args: readonly string[], io: Io): Promise<number>;
}

/** A command about one data folder: reads its words and options, reports its errors. */
export function localCommand({ run, ...about }: LocalCommand): LoadedLocalCommand {
  const { name, words, fileWord } = about;
  const options = [...about.options, DATA_DIR_FLAG, HELP_FLAG];
  return {
    options,
    ...(words !== undefined && { words }),
    ...(fileWord !== undefined && { fileWord }),
    help: () => formatHelp({ ...about, options }),
    async run(args, io) {
      try {
        const read = readArguments(args, options);
        const surplus = read.positionals[fileWord === undefined ? 0 : fileWord + 1];
        if (surplus !== undefined) {
          const what =
            fileWord === undefined
              ? `${name} takes options only, not ${JSON.stringify(surplus)}.`
              : `Unexpected argument ${JSON.stringify(surplus)}.`;
          throw usageError(what + surplusHint(name, io));
        }
        return (await run(read, resolveDataDir(lastOf(read, DATA_DIR_FLAG.name), io), io)) ?? EXIT_OK;
      } catch (error) {
        if (args.includes('--json')) return printFailure(error, args, io);
        // Loads the whole contract, which a command needs only after a failure.
        const { withTypedCommands } = await import('./command-line.ts');
        return printFailure(withTypedCommands(error), args, io);
      }
    },
  };
}

/** The help of a command, in the order of all helps. */
export function formatHelp({
  name,
  title,
  usage = ['[options]'],
  options,
  notes,
  examples,
}: Omit<LocalCommand, 'run'>): string {
  const indented = (lines: readonly string[]) => lines.map((line) => `  ${line}`.trimEnd()).join('\n');
  return `vivarium ${name}: ${title}

Usage
${indented(usage.map((words) => `vivarium ${name} ${words}`))}

Options
${indented(columns(optionRows(options)))}

${notes.length === 0 ? '' : `${indented(notes)}\n\n`}Examples
${indented(examples)}
`;
}
