import { VivariumError } from '../contract/errors.ts';

/** One parsed row: the pet as written, or the reason why there is none. */
export type Source = { value: unknown } | { fault: string };

/** Reads rows from text in pieces that may be cut anywhere. */
export interface TextReader {
  /**
   * The rows that end in this piece.
   * @throws VivariumError invalid_request when the text as a whole can't be read.
   */
  read(piece: string): Promise<Source[]> | Source[];
  /**
   * The remaining rows at the end of the text.
   * @throws as `read`.
   */
  end(): Promise<Source[]> | Source[];
}

/** Longer than any pet; bounds the memory used for text without structure. */
export const ROW_CHARACTERS_MAX = 100_000;

/** The text as a whole can't be read. */
export const refusedText = (message: string): VivariumError =>
  new VivariumError('invalid_request', `text: ${message}`, { issues: [{ path: 'text', message }] });
