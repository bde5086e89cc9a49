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
  /** First half of a surrogate pair whose second half is in the next piece. */
  let half = '';
  /** Lines that the parser counts twice: it counts both characters of a line break in a quoted cell. */
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
    next = lines.at(info.bytes);
    const last = next - (lines.endsAt(info.bytes) ? 1 : 0);
    drift = info.lines - last;
    records.push({ cells, line: last - cells.reduce((breaks, cell) => breaks + breaksIn(cell), 0) });
  }

  function skip(error: CsvError | undefined): void {
    const isEndless = error?.code === 'CSV_QUOTE_NOT_CLOSED' || error?.code === 'CSV_MAX_RECORD_SIZE';
    const line = isEndless ? next : Number(error?.['lines'] ?? next) - drift;
    const fault = `is not CSV: ${error?.message ?? 'it can’t be read'}`;
    records.push({ fault, line, text: lines.textOf(line, QUOTED_MAX) });
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
    const bytes = Buffer.from(text);
    lines.add(bytes);
    await new Promise<void>((resolve) => parser?.write(bytes, () => resolve()));
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
      half = /[\uD800-\uDBFF]$/.test(text) ? text.slice(-1) : '';
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

const breaksIn = (cell: string): number =>
  cell.includes('\n') || cell.includes('\r') ? (cell.match(/\r\n|\r|\n/g)?.length ?? 0) : 0;

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

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** Maximum uncounted bytes; a longer row gets the number of a later line. */
const WAITING_BYTES_MAX = 1024 * 1024;

/** Numbers the lines of UTF-8 text that arrives in pieces, as an editor does: `\n`, `\r\n` and `\r` end a line. */
class TextLines {
  /** The bytes from `#start` on. */
  #bytes: Buffer = Buffer.alloc(0);
  #start = 0;
  #position = 0;
  #line = 1;

  /** Adds a piece, and drops the counted text. */
  add(piece: Buffer): void {
    this.at(this.#start + this.#bytes.length - WAITING_BYTES_MAX);
    // One more byte: it may be the first half of a line break.
    const from = Math.max(0, this.#position - this.#start - 1);
    this.#bytes = Buffer.concat([this.#bytes.subarray(from), piece]);
    this.#start += from;
  }

  /** The line of a byte position; for one before the counted position, the line of that. */
  at(position: number): number {
    this.#count(position - this.#start, Infinity);
    return this.#line;
  }

  /** Whether a line break is right before a position that was just counted. */
  endsAt(position: number): boolean {
    const byte = this.#bytes[position - this.#start - 1];
    return byte === LINE_FEED || byte === CARRIAGE_RETURN;
  }

  /** The start of a line that is not before the counted position; counts up to it. */
  textOf(line: number, bytesMax: number): string {
    this.#count(this.#bytes.length, line);
    const from = this.#position - this.#start;
    const isSecond = this.#bytes[from] === LINE_FEED && this.#bytes[from - 1] === CARRIAGE_RETURN;
    const rest = this.#bytes.subarray(isSecond ? from + 1 : from, from + bytesMax).toString();
    return rest.split(/[\r\n]/, 1)[0] ?? '';
  }

  /** Counts up to an index, or to the beginning of a line. */
  #count(end: number, line: number): void {
    let index = this.#position - this.#start;
    for (; index < Math.min(end, this.#bytes.length) && this.#line < line; index++) {
      const byte = this.#bytes[index];
      const isSecond = byte === LINE_FEED && this.#bytes[index - 1] === CARRIAGE_RETURN;
      if (byte === CARRIAGE_RETURN || (byte === LINE_FEED && !isSecond)) this.#line++;
    }
    this.#position = this.#start + index;
  }
}
