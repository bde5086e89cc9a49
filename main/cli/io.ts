import type { Place } from '../base/data-dir.ts';
import { VivariumError, type InputIssue } from '../contract/errors.ts';
import { NotRunningError } from './running.ts';

/** Where a command reads and writes; the process's own streams, or a test's. */
export interface Output {
  write(content: string | Uint8Array): unknown;
  /** Whether a person looks at it. */
  readonly isTTY?: boolean | undefined;
  /** The width of the terminal, in characters. */
  readonly columns?: number | undefined;
}

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Io extends Place {
  stdout: Output;
  stderr: Output;
  stdin: AsyncIterable<Uint8Array | string>;
  /** Calls back when the process is asked to end, which then does not end by itself; returns how to stop listening. */
  onStopSignal(callback: (signal: string) => void): () => void;
}

export const EXIT_OK = 0;
/** The command was wrong, or what it asked for failed. */
export const EXIT_FAILED = 1;
/** There is nobody to ask. */
export const EXIT_NOT_RUNNING = 2;

/** All of what comes in on standard input, as text. */
export async function readStdin(io: Pick<Io, 'stdin'>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of io.stdin) chunks.push(Buffer.from(chunk as Uint8Array));
  return Buffer.concat(chunks).toString('utf8');
}

/**
 * Runs `work` so that an interruption ends a stream it reads, as its regular end. Before `onStream` is called, an
 * interruption ends the process, as it always does.
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

/** An error as the control port reports it. */
export interface Failure {
  code: string;
  message: string;
  issues?: InputIssue[];
}

/** A failure that came from the other side, in its own words. */
export class RemoteFailure extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** An error as `{code, message, …}`. What is none of the catalogue is told by its own message: it happened here. */
export function failureOf(error: unknown): Failure {
  if (error instanceof RemoteFailure) return error.failure;
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof VivariumError)) return { code: 'internal_error', message };
  return { code: error.code, message, ...(error.issues.length > 0 ? { issues: [...error.issues] } : {}) };
}

export const exitCodeOf = (error: unknown): number =>
  error instanceof NotRunningError ? EXIT_NOT_RUNNING : EXIT_FAILED;
