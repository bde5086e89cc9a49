import type { Place } from '../base/data-dir.ts';

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
