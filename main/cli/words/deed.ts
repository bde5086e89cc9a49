import type { Ask, Contract, ProcedureName, ResultOf } from '../../contract/index.ts';
import type { Io } from '../text/io.ts';
import type { OwnCommand, Shown } from '../text/text.ts';
import type { Arguments } from './flags.ts';
import type { JsonSchema } from './json-schema.ts';

/** How an input is written on the command line, where the contract alone does not say it. */
export interface InputWords {
  /** Its option; derived from its name by default. */
  flag?: string;
  /** Whether it may be given without its option; by default, required plain values may. */
  isWord?: boolean;
  /** It is a path, relative to the working folder. */
  isFile?: true;
  /** It is the text of a file, which is named instead; `-` is standard input. */
  isContent?: true;
  /** The procedure whose list has the names to complete; null for a new name. */
  names?: string | null;
  /** The word for its value in the help, and what it does. */
  placeholder?: string;
  does?: string;
  /** Whether no help has it, because another option has it as a part. */
  isSilent?: true;
  /** Its value from the texts on the line. */
  read?(texts: readonly string[]): unknown;
}

/** A call that is being made. */
export interface Calling {
  read: Arguments;
  /** The input, and what only the command line knows. */
  asked: Record<string, unknown>;
  /** Whether the namespace stood alone. */
  isAlone: boolean;
  call: Ask;
  io: Io;
  own: OwnCommand;
}

/** What the command line adds to a procedure of the contract. */
export interface Deed<Result = unknown> {
  /** Its word after the namespace, if not its name; empty for what the namespace itself does. */
  words?: string;
  /** Whether the namespace does it without another word; the help of the namespace lists all. */
  isAlone?: true;
  /** Whether a word that names no procedure is its first input. */
  isOtherwise?: true;
  /** The option that tells it from another procedure of the same word: `all` of `break off --all`. */
  by?: string;
  /** The command that does it. The procedure remains callable by its name, which no list has. */
  command?: string;
  /** By the input's path, such as `on.hostname`. */
  inputs?: Readonly<Record<string, InputWords>>;
  /** The object whose parts are options without its name in front. */
  lifted?: string;
  /** The project must be named. */
  isNamed?: true;
  /** Options and words that are no input. */
  own?: Readonly<Record<string, JsonSchema & InputWords>>;
  /** Paragraphs and examples of the help. */
  notes?: readonly string[];
  examples?: readonly string[];
  /** Completes the input. */
  prepare?(input: Record<string, unknown>, calling: Calling): Promise<Record<string, unknown>>;
  /** The part of the result that was asked for. */
  pick?(result: Result, calling: Calling): unknown;
  /** The name in a row of the list, and what it is, for a shell's completion; null for a name of no use. */
  offers?(row: Result extends readonly (infer Row)[] ? Row : unknown): readonly [name: string, does?: string] | null;
  /** The result as one sentence, where it only repeats the input. */
  says?(result: Result): string;
  /** What is shown of the result, as a table or as names and values. */
  shows?(result: Result): unknown;
  /** The result as text, where it is neither a table nor names and values; ends with a line break. */
  view?(result: Result, shown: Shown): string;
  /** Columns that the table begins with: a narrow terminal has no room for the others. */
  first?: readonly string[];
  /** What an empty list means, and the command that changes it. `PROJECT` stands for the project asked about. */
  empty?: readonly [sentence: string, command?: string];
  /** When a result is a failure, as the end of a sentence: it exits with 1 or the number, except by `vivarium call`. */
  failed?: readonly [
    when: string,
    isFailed: (result: Result, asked: Readonly<Record<string, unknown>>) => boolean | number,
  ];
  /** Files that are written besides, by their paths; none for an undefined path. */
  files?(result: Result, calling: Calling): readonly (readonly [path: unknown, text: string])[];
  /** The input with which the list continues at the result's `next`. */
  cursor?: string;
  /** The result is itself a JSON document for other programs. */
  isDocument?: true;
}

export type Deeds = {
  [Namespace in keyof Contract]?: {
    [Name in keyof Contract[Namespace] & string]?: Deed<ResultOf<`${Namespace}.${Name}` & ProcedureName>>;
  };
};
