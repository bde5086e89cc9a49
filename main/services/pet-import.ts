import { type CsvError, parse } from 'csv-parse';
import { z } from 'zod';
import { type ExactJson, parseExactJson } from '../base/exact-json.ts';
import { VivariumError } from '../contract/errors.ts';
import { INT64_MAX, INT64_MIN, isInt64Text, petName, petStatus } from '../contract/values.ts';
import type { NewPetRow } from './dependencies.ts';

/** One row of an import, numbered from 1 without the CSV's header: a pet, or what is wrong with it. */
export type ImportedRow = { row: number; pet: NewPetRow } | { row: number; pet: null; message: string };

const ROWS_MAX = 1_000_000;

const INT64_MESSAGE = `must be an integer from ${INT64_MIN} to ${INT64_MAX}`;
const int64 = z.union(
  [
    z.bigint().refine((value) => value >= INT64_MIN && value <= INT64_MAX, INT64_MESSAGE),
    z
      .string()
      .trim()
      .refine(isInt64Text)
      .transform((text) => BigInt(text)),
  ],
  { error: (issue) => (issue.input === undefined ? 'is required' : INT64_MESSAGE) },
);

const importedPet = z.object({
  id: int64.optional(),
  name: petName,
  categoryId: int64,
  status: z.enum(petStatus.options, { error: `must be one of ${petStatus.options.join(', ')}` }).default('available'),
});

/** Rows that are read before others get their turn; about ten milliseconds. */
const ROWS_PER_TURN = 500;

/** How much CSV is parsed before others get their turn. */
const CSV_CHARACTERS_PER_TURN = 32_768;

/**
 * Reads an array of pets in JSON, or CSV with a header line (`name`, `categoryId`, and perhaps `id` and `status`, in
 * any order and case). Rows that can't be taken carry the reason; the others are not held up by them, and neither is
 * anybody else: long texts are read in turns.
 * @throws VivariumError invalid_request when the text as a whole can't be read.
 */
export async function readImport(format: 'json' | 'csv', text: string): Promise<ImportedRow[]> {
  const sources = format === 'json' ? readJson(text) : await readCsv(text);
  if (sources.length > ROWS_MAX) throw refused(`has ${sources.length} rows; one import takes ${ROWS_MAX} at most.`);
  const rows: ImportedRow[] = [];
  for (const source of sources) {
    rows.push(readRow(rows.length + 1, source));
    if (rows.length % ROWS_PER_TURN === 0) await nextTurn();
  }
  return rows;
}

/** What a format makes of one row: the pet as it was written, or why there is none. */
type Source = { value: unknown } | { fault: string };

const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

function readRow(row: number, source: Source): ImportedRow {
  if ('fault' in source) return { row, pet: null, message: source.fault };
  const read = importedPet.safeParse(source.value);
  if (read.success) return { row, pet: read.data };
  const [issue] = read.error.issues;
  const path = issue?.path.join('.') ?? '';
  const message =
    path === '' ? 'must be an object with name and categoryId' : `${path} ${issue?.message ?? 'is not acceptable'}`;
  return { row, pet: null, message };
}

function readJson(text: string): Source[] {
  let value: ExactJson;
  try {
    value = parseExactJson(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw refused(`is not JSON: ${error instanceof Error ? error.message : String(error)}.`);
  }
  if (!Array.isArray(value)) throw refused('must be a JSON array of pets: [{"name": "Rex", "categoryId": 1}].');
  return value.map((member) => ({ value: member }));
}

const COLUMNS: Record<string, string> = {
  id: 'id',
  name: 'name',
  categoryid: 'categoryId',
  category_id: 'categoryId',
  status: 'status',
};

async function readCsv(text: string): Promise<Source[]> {
  const [header, ...body] = await parseCsv(text);
  const columns = readHeader(header);
  return body.map((record) => (Array.isArray(record) ? readCells(columns, record) : record));
}

/** The records in order, those that are not CSV as faults; they do not spoil the ones after them. */
async function parseCsv(text: string): Promise<(string[] | { fault: string })[]> {
  const records: (string[] | { fault: string })[] = [];
  const parser = parse({
    bom: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: 100_000,
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
  const ended = new Promise<void>((resolve, reject) => {
    parser.once('error', (error: Error) => reject(refused(`is not CSV: ${error.message}`)));
    parser.once('end', resolve);
  });
  parser.resume();
  for (let start = 0; start < text.length; start += CSV_CHARACTERS_PER_TURN) {
    parser.write(text.slice(start, start + CSV_CHARACTERS_PER_TURN));
    await nextTurn();
  }
  parser.end();
  await ended;
  return records;
}

function readHeader(header: string[] | { fault: string } | undefined): (string | null)[] {
  const titles = Array.isArray(header) ? header : [];
  const columns = titles.map((title) => COLUMNS[title.trim().toLowerCase()] ?? null);
  for (const needed of ['name', 'categoryId']) {
    if (!columns.includes(needed)) {
      throw refused(
        `needs a header line with the columns name and categoryId (id and status may follow); "${needed}" is missing.`,
      );
    }
  }
  const twice = columns.find((column, index) => column !== null && columns.indexOf(column) !== index);
  if (twice !== undefined) throw refused(`has the column "${twice}" twice in its header line.`);
  return columns;
}

function readCells(columns: readonly (string | null)[], cells: readonly string[]): Source {
  if (cells.length > columns.length) {
    return {
      fault: `has ${cells.length} cells, and the header line only ${columns.length}; quote what contains a comma`,
    };
  }
  const value: Record<string, string> = {};
  columns.forEach((column, index) => {
    const cell = cells[index];
    // An empty cell of an optional column stands for its default.
    if (column !== null && cell !== undefined && (cell !== '' || column === 'name')) value[column] = cell;
  });
  return { value };
}

const refused = (message: string): VivariumError =>
  new VivariumError('invalid_request', `text: ${message}`, { issues: [{ path: 'text', message }] });
