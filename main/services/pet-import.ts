import { CsvError, parse } from 'csv-parse/sync';
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

/**
 * Reads an array of pets in JSON, or CSV with a header line (`name`, `categoryId`, and perhaps `id` and `status`, in
 * any order and case). Rows that can't be taken carry the reason; the others are not held up by them.
 * @throws VivariumError invalid_request when the text as a whole can't be read.
 */
export function readImport(format: 'json' | 'csv', text: string): ImportedRow[] {
  const values = format === 'json' ? readJson(text) : readCsv(text);
  if (values.length > ROWS_MAX) throw refused(`has ${values.length} rows; one import takes ${ROWS_MAX} at most.`);
  return values.map((value, index) => readRow(index + 1, value));
}

function readRow(row: number, value: unknown): ImportedRow {
  const read = importedPet.safeParse(value);
  if (read.success) return { row, pet: read.data };
  const [issue] = read.error.issues;
  const path = issue?.path.join('.') ?? '';
  return {
    row,
    pet: null,
    message:
      path === '' ? 'must be an object with name and categoryId' : `${path} ${issue?.message ?? 'is not acceptable'}`,
  };
}

function readJson(text: string): ExactJson[] {
  let value: ExactJson;
  try {
    value = parseExactJson(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw refused(`is not JSON: ${error instanceof Error ? error.message : String(error)}.`);
  }
  if (!Array.isArray(value)) throw refused('must be a JSON array of pets: [{"name": "Rex", "categoryId": 1}].');
  return value;
}

const COLUMNS: Record<string, string> = {
  id: 'id',
  name: 'name',
  categoryid: 'categoryId',
  category_id: 'categoryId',
  status: 'status',
};

function readCsv(text: string): unknown[] {
  let rows: string[][];
  try {
    rows = parse(text, { bom: true, relax_column_count: true, skip_empty_lines: true, max_record_size: 100_000 });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw refused(`is not CSV: ${error.message}`);
  }
  const [header, ...body] = rows;
  const columns = (header ?? []).map((title) => COLUMNS[title.trim().toLowerCase()] ?? null);
  for (const needed of ['name', 'categoryId']) {
    if (!columns.includes(needed)) {
      throw refused(
        `needs a header line with the columns name and categoryId (id and status may follow); "${needed}" is missing.`,
      );
    }
  }
  return body.map((cells) => {
    const value: Record<string, string> = {};
    columns.forEach((column, index) => {
      const cell = cells[index];
      // An empty cell of an optional column stands for its default.
      if (column !== null && cell !== undefined && (cell !== '' || column === 'name')) value[column] = cell;
    });
    return value;
  });
}

const refused = (message: string): VivariumError =>
  new VivariumError('invalid_request', `text: ${message}`, { issues: [{ path: 'text', message }] });
