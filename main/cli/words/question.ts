import { createInterface } from 'node:readline/promises';
import type { Io } from '../text/io.ts';

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
