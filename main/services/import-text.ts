import { VivariumError } from '../contract/errors.ts';
import type { ImportColumns, ImportDelimiter, ImportFormat } from '../contract/pets.ts';

/** How a text is to be read. */
export interface ImportForm {
  format: ImportFormat;
  /** What separates the cells of CSV; found in its header line when undefined. */
  delimiter?: ImportDelimiter | undefined;
  /** The column of a field, by its title; by the field's own name when undefined, none when empty. */
  columns?: ImportColumns | undefined;
}

/** One parsed row: the pet as written, or the reason why there is none. */
export type Source = ({ value: unknown } | { fault: string }) & {
  /** Where it begins, numbered from 1 as an editor does: line breaks in quoted cells count. */
  line: number;
  /** The row as written, at most `QUOTED_MAX` characters of it. */
  text: () => string;
};

/** Reads rows from text in pieces that may be cut anywhere. */
export interface TextReader {
  /** What was found; the titles are empty until the header line or the first element has been read. */
  readonly found: { delimiter?: ImportDelimiter; titles: readonly string[]; columns: ImportColumns };
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

/** What a report quotes of a row. */
export const QUOTED_MAX = 200;

export const FIELDS = ['id', 'name', 'categoryId', 'status'] as const;
export type Field = (typeof FIELDS)[number];

/** The text as a whole can't be read. */
export const refusedText = (message: string): VivariumError =>
  new VivariumError('invalid_request', `text: ${message}`, { issues: [{ path: 'text', message }] });
