import type { DataDirInputs } from '../../base/system/data-dir.ts';
import { DATA_DIR_FLAG, HELP_FLAG, optionRows, dashesIn, readArguments, usageError, surplusHint } from './flags.ts';
import type { Option, Arguments } from './flags.ts';
import { type Io, EXIT_OK, printFailure } from '../text/io.ts';
import type { ServeConfig } from '../engine/serve-options.ts';
import { columns, indent } from '../text/text.ts';

/** Starts the engine; resolves with the exit code once it has stopped. */
export type ServeEngine = (
  config: ServeConfig,
  io: Pick<Io, 'stdout' | 'stderr' | 'env' | 'onStopSignal'>,
) => Promise<number>;

export interface Host {
  loadEngine(): Promise<ServeEngine>;
  /** The program and the words before a command, to run another command in a separate process. */
  self: readonly [program: string, ...words: string[]];
}

/** One row of the table of commands: what a call of another command and the general help need, without its code. */
export interface Command {
  name: string;
  /** Other words for it, such as `-h`. */
  aliases?: readonly string[];
  /** The words after its name in the general help. */
  usage: string;
  summary: string;
  /** Whether the contract has a namespace of this name; a following word is then one of its procedures. */
  isNamespace?: boolean;
  /** For programs, or another word for an option of a command: not in the help. */
  isHidden?: boolean;
  load(): Promise<LoadedCommand>;
}

export interface LoadedCommand {
  /** Its options, in the order of the help. */
  options: readonly Option[];
  /** The permitted first words, if there are only a few. */
  words?: readonly string[];
  /** The list whose names its first word may be, such as `domains.list`. */
  names?: string;
  /** Which of its words names a file, counted from 0. */
  fileWord?: number;
  help(place: Pick<DataDirInputs, 'platform' | 'env' | 'homeDir'>): string;
  /**
   * Resolves with the exit code. `args`: what follows the name, and `--data-dir` and `--json` from before it; never
   * `--help`.
   */
  run(args: readonly string[], io: Io, host: Host): Promise<number>;
}

/** The command of this name or alias; undefined for a namespace of the contract, and for `status rates`. */
export function findCommand(
  commands: readonly Command[],
  name: string | undefined,
  next: string | undefined,
): Command | undefined {
  const found = commands.find((candidate) => candidate.name === name || candidate.aliases?.includes(name ?? ''));
  const isProcedure = found?.isNamespace === true && next !== undefined && !next.startsWith('-');
  return isProcedure ? undefined : found;
}

/** What the help of a command says. */
interface About {
  name: string;
  /** What it does, after its name. */
  title: string;
  /** What may follow its name; `[options]` by default. */
  usage?: readonly string[];
  options: readonly Option[];
  /** Paragraphs of the help. */
  notes: readonly string[];
  examples: readonly string[];
}

/** A command that reads its words itself. */
export const command = <Given extends About & Omit<LoadedCommand, 'help'>>(about: Given) => ({
  ...about,
  help: () => formatHelp(about),
});

/** Its options are its own; it has `--data-dir` and `--help` too. */
interface LocalCommand extends About, Pick<LoadedCommand, 'words' | 'fileWord' | 'names'> {
  /** Another program's command may follow two dashes; `run` then checks its own words itself. */
  takesCommand?: boolean;
  /** The exit code of an error; by default that of its kind. */
  exitCode?: number;
  /** Resolves with the exit code; 0 by default. Gets at most the words up to `fileWord`. */
  run(read: Arguments, dataDir: string, io: Io, line: Line): Promise<number> | Promise<void>;
}

/** The whole line of a command, and what follows two dashes in it. */
export interface Line {
  args: readonly string[];
  command: readonly string[];
  host: Host;
}

/** Of a caller whose command starts no engine. */
const NO_HOST: Host = { self: ['vivarium'], loadEngine: () => Promise.reject(new Error('There is no engine.')) };

/** A command about one data folder: reads its words and options, reports its errors. */
export function localCommand({ run, takesCommand = false, exitCode, ...about }: LocalCommand) {
  const { name, words, fileWord } = about;
  const others = [DATA_DIR_FLAG, HELP_FLAG].filter((flag) => !about.options.some((own) => own.name === flag.name));
  const options = [...about.options, ...others];
  return command({
    ...about,
    options,
    async run(args: readonly string[], io: Io, host: Host = NO_HOST): Promise<number> {
      const dashes = takesCommand ? dashesIn(args) : args.length;
      const own = args.slice(0, dashes);
      try {
        const read = readArguments(own, options);
        const most = fileWord === undefined ? (words === undefined ? 0 : 1) : fileWord + 1;
        const surplus = takesCommand ? undefined : read.positionals[most];
        if (surplus !== undefined) {
          const what =
            most === 0
              ? `${name} takes options only, not ${JSON.stringify(surplus)}.`
              : `Unexpected argument ${JSON.stringify(surplus)}.`;
          throw usageError(what + surplusHint(name, io));
        }
        return (await run(read, read.dataDir(io), io, { args, command: args.slice(dashes + 1), host })) ?? EXIT_OK;
      } catch (error) {
        // Loads the whole contract, which a command needs only after a failure.
        const shown = own.includes('--json') ? error : (await import('./command-line.ts')).withTypedCommands(error);
        const code = printFailure(shown, own, io);
        return exitCode ?? code;
      }
    },
  });
}

/** The help of a command, in the order of all helps. */
export function formatHelp({ name, title, usage = ['[options]'], options, notes, examples }: About): string {
  return `vivarium ${name}: ${title}

Usage
${indent(usage.map((words) => `vivarium ${name} ${words}`))}

Options
${indent(columns(optionRows(options)))}

${notes.length === 0 ? '' : `${indent(notes)}\n\n`}Examples
${indent(examples)}
`;
}
