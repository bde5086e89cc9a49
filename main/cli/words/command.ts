import type { DataDirInputs } from '../../base/system/data-dir.ts';
import type { Option } from './flags.ts';
import type { Io } from '../text/io.ts';
import type { ServeConfig } from '../engine/serve-options.ts';

/** Starts the engine; resolves with the exit code once it has stopped. */
export type ServeEngine = (
  config: ServeConfig,
  io: Pick<Io, 'stdout' | 'stderr' | 'env' | 'onStopSignal'>,
) => Promise<number>;

/** The process of a command. */
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
  /** For programs, or part of another command: not in the help. */
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
  const command = commands.find((candidate) => candidate.name === name || candidate.aliases?.includes(name ?? ''));
  const isProcedure = command?.isNamespace === true && next !== undefined && !next.startsWith('-');
  return isProcedure ? undefined : command;
}
