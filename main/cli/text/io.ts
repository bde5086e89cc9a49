import { readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { DataDirInputs } from '../../base/system/data-dir.ts';
import { codeOf, reasonOf, messageOf } from '../../base/error-code.ts';
import { typedHelp, typedIn } from '../../base/system/own-command.ts';
import { type Failure, invalidRequest, unavailable, VivariumError } from '../../contract/errors.ts';
import { NotRunningError } from '../engine/running.ts';
import { widthLimit } from '../../base/text/terminal.ts';
import { fitHelp, printable } from './text.ts';

/** Streams and environment of a command: the process's own, or a test's. */
export interface Output {
  write(content: string | Uint8Array): unknown;
  /** Whether the output is a terminal. */
  readonly isTTY?: boolean | undefined;
  /** The width of the terminal, in characters. */
  readonly columns?: number | undefined;
}

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Io extends DataDirInputs {
  stdout: Output;
  stderr: Output;
  /** Null in the app on Windows, because Electron has none there. */
  stdin: (AsyncIterable<Uint8Array | string> & { readonly isTTY?: boolean }) | null;
  /** Calls back on a stop signal instead of letting the process end; returns a function that stops listening. */
  onStopSignal(callback: (signal: string) => void): () => void;
}

export const EXIT_OK = 0;
/** Usage error, the procedure was refused, or its result is a failure (`help.ts`). */
export const EXIT_FAILED = 1;
/** No Vivarium is running. */
export const EXIT_NOT_RUNNING = 2;

/** Prints a help text, with its commands as they are typed here, in the width of the terminal. */
export const writeHelp = (text: string, io: Pick<Io, 'stdout' | 'env'>): void =>
  void io.stdout.write(fitHelp(typedHelp(text), widthLimit(io)));

/**
 * Ends a command whose reader has closed (`| head`), and one whose output cannot be written (a full disk).
 * @param goesOn whether it continues without a reader, as a serving Vivarium does
 */
export function endWithReader(goesOn: () => boolean): void {
  for (const output of [process.stdout, process.stderr]) {
    output.on('error', (error: NodeJS.ErrnoException) => {
      if (goesOn()) return;
      if (error.code === 'EPIPE') process.exit(EXIT_OK);
      // The process ends before a stream has written; standard error itself may be what failed.
      if (output === process.stdout) {
        const message = `vivarium: The output cannot be written (${reasonOf(error)}).\n`;
        process.stderr.write(message, () => process.exit(EXIT_FAILED));
      } else process.exit(EXIT_FAILED);
    });
  }
}

/** The standard input. @throws VivariumError with `remedy` where there is none */
export function requireInput({ stdin }: Pick<Io, 'stdin'>, remedy: string): NonNullable<Io['stdin']> {
  if (stdin !== null) return stdin;
  const reason = 'The installed app has no standard input on Windows, because Electron gives its programs none.';
  throw unavailable(`${reason} ${remedy}`);
}

/** Reads standard input to its end, as text. */
export async function readStdin(io: Pick<Io, 'stdin'>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of requireInput(io, 'Name a file instead of -, or write the value itself.'))
    chunks.push(Buffer.from(chunk as Uint8Array));
  return Buffer.concat(chunks).toString('utf8');
}

/**
 * Runs `work`; once `onStream` has been called, an interrupt ends the stream normally. Before that, it ends the
 * process.
 */
export async function interruptible(
  { onStopSignal }: Pick<Io, 'onStopSignal'>,
  work: (signal: AbortSignal, onStream: () => void) => Promise<void>,
): Promise<void> {
  const interruption = new AbortController();
  let stopListening: () => void = () => undefined;
  try {
    await work(interruption.signal, () => {
      stopListening = onStopSignal(() => interruption.abort());
    });
  } finally {
    stopListening();
  }
}

/** A failure reported by the server, with the server's message. */
export class RemoteFailure extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

/**
 * Converts an error to `{code, message, …}`. Errors from outside the catalogue are local, so their message is safe to
 * show.
 */
export function failureOf(error: unknown): Failure {
  if (error instanceof RemoteFailure) return error.failure;
  const message = messageOf(error);
  if (!(error instanceof VivariumError)) return { code: 'internal_error', message };
  return { code: error.code, message, ...(error.issues.length > 0 && { issues: error.issues }) };
}

/** The error of a file named on the command line. */
export function fileFailure(path: string, what: 'read' | 'written', cause: unknown): VivariumError {
  const missing = what === 'read' ? `There is no file ${path}.` : `The folder of ${path} does not exist.`;
  const message = codeOf(cause) === 'ENOENT' ? missing : `The file ${path} cannot be ${what} (${reasonOf(cause)}).`;
  return invalidRequest(message, { cause });
}

/** Reads a file named on the command line; `-` is standard input. */
export async function readFileNamed(path: string, io: Pick<Io, 'workingDir' | 'stdin'>): Promise<string> {
  if (path === '-') return readStdin(io);
  try {
    return await readFile(resolve(io.workingDir, path), 'utf8');
  } catch (cause) {
    throw fileFailure(path, 'read', cause);
  }
}

/** The line about a file that a command wrote. `file`: absolute. */
export const writtenLine = (file: string, bytes: number): string =>
  `Written: ${file} (${Math.ceil(bytes / 1_024).toLocaleString('en')} KiB).`;

/** Writes a file named on the command line, and says so on standard error. */
export async function writeFileNamed(
  path: string,
  content: string | Uint8Array,
  { workingDir, stderr }: Pick<Io, 'workingDir' | 'stderr'>,
): Promise<void> {
  const file = resolve(workingDir, path);
  try {
    await writeFile(file, content);
  } catch (cause) {
    throw fileFailure(path, 'written', cause);
  }
  stderr.write(`${printable(writtenLine(file, Buffer.byteLength(content)))}\n`);
}

/** Begins each message of a command on standard error. */
export const FAILURE_PREFIX = 'vivarium: ';

/** Prints a failure, as JSON if the arguments ask for it; returns the exit code. */
export function printFailure(error: unknown, args: readonly string[], io: Pick<Io, 'stderr'>): number {
  const failure = failureOf(error);
  const text = `${FAILURE_PREFIX}${typedIn(failure.message).split('\n').map(printable).join('\n')}`;
  io.stderr.write(`${args.includes('--json') ? JSON.stringify(failure) : text}\n`);
  return exitCodeOf(error);
}

export const exitCodeOf = (error: unknown): number =>
  error instanceof NotRunningError ? EXIT_NOT_RUNNING : EXIT_FAILED;

/** Asks one question; the default for an empty answer, null when the input ends. */
export type Question = (text: string, byDefault: string) => Promise<string | null>;

/** Whether a person reads and answers questions. */
export const canAsk = ({ stdin, stdout }: Pick<Io, 'stdin' | 'stdout'>): boolean =>
  stdin?.isTTY === true && stdout.isTTY === true;

export const isYes = (answer: string | null): boolean => /^y(?:es)?$/i.test(answer ?? '');

/** Gives `work` the questions of a terminal. */
export async function withQuestions<Result>(
  { stdin, stderr }: Pick<Io, 'stdin' | 'stderr'>,
  work: (question: Question) => Promise<Result>,
): Promise<Result> {
  // Most commands ask nothing.
  const { createInterface } = await import('node:readline/promises');
  // A terminal's input and output are streams.
  const reader = createInterface({ input: stdin as NodeJS.ReadableStream, output: stderr as NodeJS.WritableStream });
  const closed = new AbortController();
  reader.once('close', () => closed.abort());
  try {
    return await work(async (text, byDefault) => {
      try {
        const answer = await reader.question(`${text} [${byDefault}] `, { signal: closed.signal });
        return answer.trim() || byDefault;
      } catch (error) {
        if (closed.signal.aborted) return null;
        throw error;
      }
    });
  } finally {
    reader.close();
  }
}
