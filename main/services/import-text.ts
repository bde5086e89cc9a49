import { VivariumError } from '../contract/errors.ts';

/** What a format makes of one row: the pet as it was written, or why there is none. */
export type Source = { value: unknown } | { fault: string };

/** Reads rows out of a text that comes in pieces, cut anywhere. */
export interface TextReader {
  /** The rows that end in this piece. @throws VivariumError invalid_request when the text as a whole can't be read. */
  read(piece: string): Promise<Source[]> | Source[];
  /** What is left when there is no more. @throws as `read`. */
  end(): Promise<Source[]> | Source[];
}

/** No pet is as long; a text without structure must not be gathered in memory. */
export const ROW_CHARACTERS_MAX = 100_000;

/** The text as a whole can't be read. */
export const refusedText = (message: string): VivariumError =>
  new VivariumError('invalid_request', `text: ${message}`, { issues: [{ path: 'text', message }] });
