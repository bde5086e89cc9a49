import { z } from 'zod';
import { call } from './base.ts';
import { startInput } from './breaks.ts';
import { nearest } from './issues.ts';
import { about, timestamp } from './values.ts';
import { type Verdict, VERDICTS } from './grades.ts';

const VERDICT_NAMES = Object.keys(VERDICTS) as Verdict[];
const verdict = z.enum(VERDICT_NAMES);

function nearestTo(given: unknown): string {
  const [near] = [given].flat().flatMap((each) => nearest(String(each), VERDICT_NAMES));
  return near === undefined ? '' : `; the nearest is ${near}`;
}

/** Rows of one table. */
export const ROWS_MAX = 100;
const TABLES_MAX = 50;

/** One fault of a table. What it selects is chosen among the requests of the runs without faults, unless `on` says it. */
export const examineRow = z.strictObject({
  row: about(
    z.string().regex(/^[a-z0-9][a-z0-9-]{0,39}$/, 'must be 1 to 40 lower-case letters, digits and hyphens'),
    'its name in the report; the entry by default',
  ).optional(),
  break: startInput.shape.entry,
  parameters: startInput.shape.parameters.optional(),
  on: startInput.shape.on.unwrap().pick({ hostname: true, path: true, method: true }).optional(),
  /** Of the selected requests: how many are struck, and how many are spared before. */
  first: about(z.int().min(1).max(1_000_000), 'how many are struck; 1 by default').optional(),
  after: about(z.int().min(0).max(1_000_000), 'how many are spared before').optional(),
  expect: about(
    z.union([verdict, z.array(verdict).min(1).max(VERDICT_NAMES.length)], {
      error: ({ input }) => `must be one of ${VERDICT_NAMES.join(', ')}, or a list of them${nearestTo(input)}`,
    }),
    'the verdicts that the row may have; another one fails the run',
  ).optional(),
});
export type ExamineRow = z.output<typeof examineRow>;

/** Tables by name, below `examine:` in a `vivarium.yaml`. */
export const examineTables = z
  .record(z.string().regex(/^[a-z0-9][a-z0-9-]{0,39}$/), z.array(examineRow).min(1).max(ROWS_MAX))
  .refine((tables) => Object.keys(tables).length <= TABLES_MAX, `must have at most ${TABLES_MAX} tables`);

/** The request of the runs without faults that a row is placed on. */
export interface Place {
  /** Both null: all requests to the hostname. */
  method: string | null;
  path: string | null;
  hostname: string;
  /** Which request of this method and path, from 1. */
  ordinal: number;
}

const testVerdict = z.object({ name: z.string(), verdict, message: z.string().exactOptional() });
export type TestVerdict = z.infer<typeof testVerdict>;

const rowVerdict = z.object({
  row: z.string(),
  entry: z.string(),
  /** Null where no request of both runs fits. */
  placedOn: z.object({ method: z.string().nullable(), path: z.string().nullable(), ordinal: z.int() }).nullable(),
  verdict,
  /** Why, in a sentence, where it is the whole run that is wrong, hung or not met. */
  message: z.string().exactOptional(),
  /** Whether the verdict is none that the row expects. */
  unexpected: z.literal(true).exactOptional(),
  /** What the row expects instead, where the table says it. */
  expected: z.array(verdict).exactOptional(),
  /** The command that runs only this row. */
  repeat: z.string(),
  tests: z.array(testVerdict),
});
export type RowVerdict = z.infer<typeof rowVerdict>;

const left = z.object({ name: z.string(), why: z.enum(['fails', 'flickers']) });

/** The report of `vivarium examine --json` and of `vivarium.examine()`. */
const examination = z.object({
  seed: z.int(),
  table: z.string(),
  calm: z.object({ tests: z.int(), ms: z.number(), left: z.array(left) }),
  rows: z.array(rowVerdict),
  /** How many rows the table has, where only some of them were asked for. */
  of: z.int().exactOptional(),
});
export type Examination = z.infer<typeof examination>;

/** An examination in the data folder, as far as it has come: its rows in the order of their ends. */
export const keptExamination = examination.extend({
  /** When it began, in real time, and the process. */
  id: z
    .string()
    .regex(/^\d{17}-\d{1,10}$/, 'must be the id of an examination')
    .meta({ examples: ['20261128103000000-4711'] }),
  at: timestamp,
  /** What was examined, and the command that repeats it. */
  subject: z.string(),
  repeat: z.string(),
  /** How many rows it will have. */
  total: z.int(),
});
export type KeptExamination = z.infer<typeof keptExamination>;

const one = keptExamination.pick({ id: true }).strict();

export const examinations = {
  list: call(
    'The last test suites that `vivarium examine` has run under faults, newest first',
    z.array(keptExamination.pick({ id: true, at: true, subject: true, table: true, seed: true })),
  ),
  get: call('One examination: the verdict for each row, and for each test under it', keptExamination, one),
  requests: call(
    'The requests of one of its runs as an HTTP archive (HAR 1.2); secrets are redacted',
    z.object({ name: z.string(), har: z.string() }),
    one.extend({ run: about(z.int().min(0).max(ROWS_MAX), 'which row, from 1; 0 for the run without faults') }),
  ),
  changed: call('Announce that `vivarium examine` has kept something', z.strictObject({})),
};
