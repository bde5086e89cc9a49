import { type CsvError, type InfoRecord, parse } from 'csv-parse';
import { PET_FIELDS, type PetField } from '../../contract/pet-fields.ts';
import type { ImportDelimiter } from '../../contract/pets.ts';
import {
  columnsOf,
  positionsOf,
  type ImportForm,
  QUOTED_MAX,
  refusedText,
  ROW_CHARACTERS_MAX,
  type Source,
  type TextReader,
} from './import-text.ts';

/** A record with its first line, or with its fault. */
type CsvRecord = { cells: string[]; line: number } | { fault: string; line: number; text: string };

const DELIMITERS: Record<ImportDelimiter, string> = { comma: ',', semicolon: ';', tab: '\t', pipe: '|' };
const NAMES = Object.keys(DELIMITERS) as ImportDelimiter[];

/** Reads CSV with a header line. A malformed record does not affect the others. */
export function createCsvReader({ delimiter: chosen, columns: chosenColumns }: ImportForm): TextReader {
  const found: TextReader['found'] = { titles: [], columns: {} };
  const lines = new TextLines();
  let records: CsvRecord[] = [];
  let positions: (readonly [PetField, number])[] | null = null;
  let failure: Error | null = null;
  /** Text that is not a whole line yet; the first line determines the separator. */
  let begun = '';
  let parser: ReturnType<typeof parse> | null = null;
  let ended: Promise<void> = Promise.resolve();
  /** First half of a surrogate pair or line break whose second half may be in the next piece. */
  let half = '';
  /** Lines that the parser has counted twice, in quoted cells of the records so far. */
  let drift = 0;
  /** The line after the last record. */
  let next = 1;

  function open(delimiter: ImportDelimiter): ReturnType<typeof parse> {
    found.delimiter = delimiter;
    const opened = parse({
      bom: true,
      delimiter: DELIMITERS[delimiter],
      relax_column_count: true,
      skip_empty_lines: true,
      max_record_size: ROW_CHARACTERS_MAX,
      skip_records_with_error: true,
      on_record: (cells: string[], info: InfoRecord) => {
        take(cells, info);
        return null;
      },
      on_skip: (error: CsvError | undefined) => {
        skip(error);
        return undefined;
      },
    });
    opened.on('error', (error: Error) => {
      failure = error;
    });
    ended = new Promise<void>((resolve) => opened.once('close', resolve));
    opened.resume();
    return opened;
  }

  function take(cells: string[], info: InfoRecord): void {
    let inCells = 0;
    for (const [breaks, counted] of cells.map(breaksIn)) {
      inCells += breaks;
      drift += counted - breaks;
    }
    const last = info.lines - drift;
    records.push({ cells, line: last - inCells });
    next = last + 1;
    lines.forget(next);
  }

  function skip(error: CsvError | undefined): void {
    const isEndless = error?.code === 'CSV_QUOTE_NOT_CLOSED' || error?.code === 'CSV_MAX_RECORD_SIZE';
    const line = isEndless ? next : Number(error?.['lines'] ?? next) - drift;
    const fault = `is not CSV: ${error?.message ?? 'it can’t be read'}`;
    records.push({ fault, line, text: lines.textOf(line) });
    next = line + 1;
  }

  /** The rows read since the last call; the very first record is the header. */
  function takeRows(isEnd: boolean): Source[] {
    if (failure !== null) throw refusedText(`is not CSV: ${failure.message}`);
    const taken = records;
    records = [];
    if (positions === null && (taken.length > 0 || isEnd)) {
      const header = taken.shift();
      found.titles = header !== undefined && 'cells' in header ? header.cells.map((title) => title.trim()) : [];
      found.columns = columnsOf(found.titles, chosenColumns);
      positions = positionsOf(found.titles, found.columns, chosenColumns);
    }
    const width = found.titles.length;
    const separator = DELIMITERS[found.delimiter ?? 'comma'];
    return taken.map((record) =>
      'fault' in record
        ? { fault: record.fault, line: record.line, text: () => record.text }
        : readCells(positions ?? [], record, width, separator),
    );
  }

  /** Resolves when the text has been parsed or proved unreadable. */
  async function write(text: string): Promise<void> {
    lines.add(text);
    await new Promise<void>((resolve) => parser?.write(Buffer.from(text), () => resolve()));
  }

  async function parseMore(text: string, isEnd: boolean): Promise<void> {
    if (parser !== null) return write(text);
    begun += text;
    const header = /^\uFEFF?(?:[^"\r\n]|"[^"]*")*[\r\n]/.exec(begun)?.[0];
    if (header === undefined && !isEnd && begun.length < ROW_CHARACTERS_MAX) return;
    parser = open(chosen ?? delimiterOf(header ?? begun));
    await write(begun);
    begun = '';
  }

  return {
    found,
    async read(piece) {
      const text = half + piece;
      half = /[\uD800-\uDBFF\r]$/.test(text) ? text.slice(-1) : '';
      await parseMore(half === '' ? text : text.slice(0, -1), false);
      return takeRows(false);
    },
    async end() {
      await parseMore(half, true);
      parser?.end();
      await ended;
      return takeRows(true);
    },
  };
}

/** The separator of a header line: the one that occurs most often outside quotes. */
export function delimiterOf(header: string): ImportDelimiter {
  const bare = header.replaceAll(/"[^"]*"/g, '');
  const count = (name: ImportDelimiter): number => bare.split(DELIMITERS[name]).length;
  return NAMES.reduce((best, name) => (count(name) > count(best) ? name : best));
}

const LINE_BREAK = /\r\n|\r|\n/;

/** The line breaks of a cell as an editor counts them, and as the parser does: both characters of one. */
const breaksIn = (cell: string): readonly [lines: number, characters: number] =>
  LINE_BREAK.test(cell) ? [cell.split(LINE_BREAK).length - 1, cell.split(/[\r\n]/).length - 1] : [0, 0];

function readCells(
  positions: readonly (readonly [PetField, number])[],
  { cells, line }: { cells: readonly string[]; line: number },
  width: number,
  separator: string,
): Source {
  const text = (): string =>
    cells
      .map((cell) => quoteCell(cell, separator))
      .join(separator)
      .slice(0, QUOTED_MAX);
  if (cells.length > width) {
    const fault = `has ${cells.length} cells, but the header line has ${width}; quote cells that contain a ${
      separator === ',' ? 'comma' : 'separator'
    }`;
    return { fault, line, text };
  }
  const value: Record<string, string> = {};
  for (const [field, position] of positions) {
    const cell = cells[position];
    // An empty cell of an optional column means its default.
    if (cell !== undefined && (cell !== '' || PET_FIELDS[field].kind === 'text')) value[field] = cell;
  }
  return { value, line, text };
}

/** A cell in CSV form (RFC 4180). */
const quoteCell = (cell: string, separator: string): string =>
  /["\r\n]/.test(cell) || cell.includes(separator) ? `"${cell.replaceAll('"', '""')}"` : cell;

/** Lines kept for quoting; of a record that is malformed after more lines, nothing is quoted. */
const KEPT_LINES_MAX = 10_000;

/** The lines from the last record on, as in an editor: `\n`, `\r\n` and `\r` end a line; no piece cuts `\r\n`. */
class TextLines {
  #lines = [''];
  #first = 1;

  add(piece: string): void {
    const [rest = '', ...others] = piece.split(LINE_BREAK);
    const lines = [`${this.#lines.pop() ?? ''}${rest}`, ...others];
    this.#lines = [...this.#lines, ...lines.map((line) => line.slice(0, QUOTED_MAX))];
    this.forget(this.#first + this.#lines.length - KEPT_LINES_MAX);
  }

  textOf(line: number): string {
    return this.#lines[line - this.#first] ?? '';
  }

  /** Drops the lines before this one. */
  forget(line: number): void {
    const passed = Math.min(Math.max(0, line - this.#first), this.#lines.length - 1);
    this.#lines.splice(0, passed);
    this.#first += passed;
  }
}
