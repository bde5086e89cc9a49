import { z } from 'zod';
import { nextTurn } from '../../base/turns.ts';
import { eachField, EDITABLE_FIELDS, type factsOf, REQUIRED_FIELDS } from '../../contract/pet-fields.ts';
import { INT64_MAX, INT64_MIN, isInt64Text, petName, petText, petStatus } from '../../contract/values.ts';
import type { NewPetRow, PetRows } from '../dependencies.ts';
import { createCsvReader } from './import-csv.ts';
import { createJsonReader, type ImportForm, type Source } from './import-text.ts';
import { ISSUE_CHARACTERS_MAX, boundedText, VivariumError } from '../../contract/errors.ts';
import {
  ID_RANGES_MAX,
  type ImportReport,
  type ImportPreview,
  type ImportPreviewRow,
  type PetRecord,
  PREVIEW_ROWS_MAX,
} from '../../contract/pets.ts';
import { type IdRange, type Dataset, takenMessage, valuesOf } from '../../model/pet.ts';

/** One row of an import, numbered from 1 without the CSV header: a pet, or the problem with it. */
export type ImportedRow = { row: number; line: number; text: () => string } & (
  | { pet: NewPetRow }
  | { pet: null; message: string }
);

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

const fieldSchema = ({ kind, options = [], initial }: ReturnType<typeof factsOf>): z.ZodType => {
  if (kind === 'int64') return int64;
  if (kind === 'choice') return z.enum(options, { error: `must be one of ${options.join(', ')}` });
  return initial === undefined ? petName : petText;
};

const importedPet = z.object({
  id: int64.optional(),
  ...eachField(EDITABLE_FIELDS, (_field, facts) => {
    const schema = fieldSchema(facts);
    return facts.initial === undefined ? schema : schema.prefault(facts.initial);
  }),
});

/** Text read before yielding to other work: a few milliseconds, and about one transaction's worth of rows. */
const CHARACTERS_PER_TURN = 16_384;

/** Longer values are cut off in messages. */
const QUOTED_MAX = 60;

/** Rows checked before yielding to other work: about 2 ms. */
const ROWS_PER_TURN = 500;

export type PetImport = ReturnType<typeof createPetImport>;

/**
 * Reads an array of pets in JSON, or CSV with a header line (`name`, `categoryId`, optionally `id` and `status`, in any
 * order and case, unless the form maps columns).
 */
export function createPetImport(form: ImportForm) {
  const reader = form.format === 'json' ? createJsonReader(form) : createCsvReader(form);
  let rows = 0;

  async function* numbered(sources: readonly Source[]): AsyncGenerator<ImportedRow[], void, void> {
    for (let start = 0; start < sources.length; start += ROWS_PER_TURN) {
      yield sources.slice(start, start + ROWS_PER_TURN).map((source) => readRow(++rows, source));
      await nextTurn();
    }
  }

  return {
    /** The format detected while the text is read. */
    found: reader.found,
    /**
     * The rows that end in this piece of the text, in batches. Invalid rows carry the reason and do not affect the
     * others.
     * @throws VivariumError invalid_request when the text as a whole can't be read.
     */
    async *read(piece: string): AsyncGenerator<ImportedRow[], void, void> {
      for (let start = 0; start < piece.length; start += CHARACTERS_PER_TURN) {
        const sources = await reader.read(piece.slice(start, start + CHARACTERS_PER_TURN));
        await nextTurn();
        yield* numbered(sources);
      }
    },
    /** The remaining rows at the end of the text. @throws as `read`. */
    async *end(): AsyncGenerator<ImportedRow[], void, void> {
      yield* numbered(await reader.end());
    },
  };
}

/** The value of a row, quoted if it helps to find the row. */
const quoted = (value: unknown): string =>
  typeof value === 'string' && value.trim() !== '' ? `, and is ${JSON.stringify(boundedText(value, QUOTED_MAX))}` : '';

function readRow(row: number, source: Source): ImportedRow {
  const at = { row, line: source.line, text: source.text };
  if ('fault' in source) return { ...at, pet: null, message: source.fault };
  const read = importedPet.safeParse(source.value);
  if (read.success) return { ...at, pet: read.data as NewPetRow };
  const [issue] = read.error.issues;
  const path = issue?.path.join('.') ?? '';
  if (path === '') return { ...at, pet: null, message: `must be an object with ${REQUIRED_FIELDS.join(' and ')}` };
  const found = quoted((source.value as Record<string, unknown>)[path]);
  return { ...at, pet: null, message: `${path} ${issue?.message ?? 'is not acceptable'}${found}` };
}

/** Rejected rows that a report lists. */
const REJECTED_LISTED_MAX = 1_000;

/** Counts the results of rows, and lists the first rejected ones. */
export type ReportWriter = ReturnType<typeof createReport>;

export function createReport() {
  const rejected: ImportReport['rejected'] = [];
  const added: IdRange[] = [];
  let created = 0;
  let rejectedTotal = 0;

  function addId(id: bigint): void {
    created++;
    const range = added.at(-1);
    if (range !== undefined && range.last + 1n === id) range.last = id;
    else if (added.length <= ID_RANGES_MAX) added.push({ first: id, last: id });
  }

  return {
    /** Result of a row: the id of the imported pet, or the reason for its rejection. */
    add({ row, line, text }: Pick<ImportedRow, 'row'> & Partial<ImportedRow>, message: bigint | string) {
      if (typeof message === 'bigint') addId(message);
      else if (rejectedTotal++ < REJECTED_LISTED_MAX) {
        const at = { row, ...(line !== undefined && { line }), ...(text !== undefined && { text: text() }) };
        rejected.push({ ...at, message: boundedText(message, ISSUE_CHARACTERS_MAX) });
      }
    },
    report: (): ImportReport => ({
      created,
      ...(added.length <= ID_RANGES_MAX && {
        added: added.map(({ first, last }) => ({ first: String(first), last: String(last) })),
      }),
      rejected,
      rejectedTotal,
    }),
  };
}

interface Previewed extends ImportForm {
  text: string;
  /** Whether more text follows, so the last row may be incomplete. */
  more: boolean;
}

/** Reads the first rows of a text as an import would, without adding any. */
export async function previewImport(
  pets: Pick<PetRows, 'getMany'>,
  dataset: Dataset,
  { text, more, ...form }: Previewed,
): Promise<ImportPreview> {
  const reading = createPetImport(form);
  const rows: ImportedRow[] = [];
  let fault: string | undefined;
  try {
    for await (const some of reading.read(text)) {
      rows.push(...some);
      if (rows.length >= PREVIEW_ROWS_MAX) break;
    }
    if (!more && rows.length < PREVIEW_ROWS_MAX) for await (const some of reading.end()) rows.push(...some);
  } catch (error) {
    if (!(error instanceof VivariumError)) throw error;
    fault = error.issues[0]?.message ?? error.message;
  }
  const shown = rows.slice(0, PREVIEW_ROWS_MAX);
  const ids = shown.map(({ pet }) => pet?.id).filter((id) => id !== undefined);
  const taken = new Set(pets.getMany(dataset, ids).map(({ id }) => id));
  return {
    ...reading.found,
    titles: [...reading.found.titles],
    ...(fault !== undefined && { fault }),
    rows: shown.map((row) => preview(row, taken, dataset)),
  };
}

function preview(row: ImportedRow, taken: ReadonlySet<bigint>, dataset: Dataset): ImportPreviewRow {
  const at = { row: row.row, line: row.line, text: row.text() };
  if (row.pet === null) return { ...at, message: row.message };
  const { id } = row.pet;
  const texts = valuesOf(row.pet).map(String);
  const values = Object.fromEntries(EDITABLE_FIELDS.map((field, index) => [field, texts[index]])) as Omit<
    PetRecord,
    'id'
  >;
  const pet = { ...(id !== undefined && { id: String(id) }), ...values };
  return { ...at, pet, ...(id !== undefined && taken.has(id) && { message: takenMessage(id, dataset) }) };
}

const words = z.object({
  names: z.array(z.string()).min(1),
  kinds: z.array(z.object({ categoryId: z.int(), breeds: z.array(z.string()).min(1) })).min(1),
  statuses: z.array(petStatus).min(1),
});

/** Generated pets: the same ones each time, to make demos and bug reports reproducible. */
export type PetSeeds = ReturnType<typeof createPetSeeds>;

const SEED = 2_026;

/** Random numbers consumed per pet. */
const DRAWS = 4;

/** @param json the text of `resources/demo/seed.json` */
export function createPetSeeds(json: string) {
  const { names, kinds, statuses } = words.parse(JSON.parse(json));
  return {
    *generate(count: number, skip = 0): Iterable<NewPetRow> {
      const random = createRandom(SEED, skip * DRAWS);
      for (let made = 0; made < count; made++) {
        const kind = pick(kinds, random);
        yield {
          name: `${pick(names, random)} the ${pick(kind.breeds, random)}`,
          categoryId: BigInt(kind.categoryId),
          status: pick(statuses, random),
        };
      }
    },
  };
}

const pick = <Item>(items: readonly Item[], random: () => number): Item =>
  items[Math.floor(random() * items.length)] as Item;

/** Mulberry32: small, fast, and good enough for choosing names; can skip any distance. Values in [0, 1). */
function createRandom(seed: number, skip: number): () => number {
  let state = (seed + Math.imul(skip, STEP)) >>> 0;
  return () => {
    state = (state + STEP) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const STEP = 0x6d2b79f5;
