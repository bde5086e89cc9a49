import { type CsvError, parse } from 'csv-parse';
import { refusedText, ROW_CHARACTERS_MAX, type Source, type TextReader } from './import-text.ts';

type CsvRecord = string[] | { fault: string };

/** Column titles, in lower case, and their fields. */
const COLUMNS: Record<string, string> = {
  id: 'id',
  name: 'name',
  categoryid: 'categoryId',
  category_id: 'categoryId',
  status: 'status',
};

/** Reads CSV with a header line. A malformed record does not affect the others. */
export function createCsvReader(): TextReader {
  let records: CsvRecord[] = [];
  let columns: (string | null)[] | null = null;
  let failure: Error | null = null;
  /** First half of a surrogate pair whose second half is in the next piece. */
  let half = '';

  const parser = parse({
    bom: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: ROW_CHARACTERS_MAX,
    skip_records_with_error: true,
    on_record: (record: string[]) => {
      records.push(record);
      return null;
    },
    on_skip: (error: CsvError | undefined) => {
      records.push({ fault: `is not CSV: ${error?.message ?? 'it can’t be read'}` });
      return undefined;
    },
  });
  parser.on('error', (error: Error) => {
    failure = error;
  });
  const ended = new Promise<void>((resolve) => parser.once('close', resolve));
  parser.resume();

  /** The rows since the last call; the very first record is the header. */
  function takeRows(isEnd: boolean): Source[] {
    if (failure !== null) throw refusedText(`is not CSV: ${failure.message}`);
    const found = records;
    records = [];
    if (columns === null && (found.length > 0 || isEnd)) columns = readHeader(found.shift());
    const titles = columns ?? [];
    return found.map((record) => (Array.isArray(record) ? readCells(titles, record) : record));
  }

  return {
    async read(piece) {
      const text = half + piece;
      half = /[\uD800-\uDBFF]$/.test(text) ? text.slice(-1) : '';
      // Calls back when the text has been parsed or proved unreadable.
      await new Promise<void>((resolve) => parser.write(half === '' ? text : text.slice(0, -1), () => resolve()));
      return takeRows(false);
    },
    async end() {
      parser.end(half);
      await ended;
      return takeRows(true);
    },
  };
}

function readHeader(header: CsvRecord | undefined): (string | null)[] {
  const titles = Array.isArray(header) ? header : [];
  const columns = titles.map((title) => COLUMNS[title.trim().toLowerCase()] ?? null);
  for (const needed of ['name', 'categoryId']) {
    if (!columns.includes(needed)) {
      throw refusedText(
        `needs a header line with the columns name and categoryId (id and status may follow); "${needed}" is missing.`,
      );
    }
  }
  const twice = columns.find((column, index) => column !== null && columns.indexOf(column) !== index);
  if (twice !== undefined) throw refusedText(`has the column "${twice}" twice in its header line.`);
  return columns;
}

function readCells(columns: readonly (string | null)[], cells: readonly string[]): Source {
  if (cells.length > columns.length) {
    return {
      fault: `has ${cells.length} cells, but the header line has ${columns.length}; quote cells that contain a comma`,
    };
  }
  const value: Record<string, string> = {};
  columns.forEach((column, index) => {
    const cell = cells[index];
    // An empty cell of an optional column means its default.
    if (column !== null && cell !== undefined && (cell !== '' || column === 'name')) value[column] = cell;
  });
  return { value };
}
