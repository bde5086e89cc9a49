import { z } from 'zod';
import { startInput } from './breaks.ts';

/** What came of one row, or of one test under it; the worst last. */
export const VERDICTS = ['not_met', 'survived', 'failed_as_it_should', 'hung', 'wrong'] as const;
export type Verdict = (typeof VERDICTS)[number];
const verdict = z.enum(VERDICTS);

/** Rows of one table. */
export const ROWS_MAX = 100;
const TABLES_MAX = 50;

/** One fault of a table. What it selects is chosen among the requests of the runs without faults, unless `on` says it. */
export const examineRow = z.strictObject({
  row: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,39}$/, 'must be 1 to 40 lower-case letters, digits and hyphens')
    .meta({ description: 'its name in the report; the entry by default' })
    .optional(),
  break: startInput.shape.entry,
  parameters: startInput.shape.parameters.optional(),
  on: startInput.shape.on.unwrap().pick({ hostname: true, path: true, method: true }).optional(),
  /** Of the selected requests: how many are struck, and how many are spared before. */
  first: z.int().min(1).max(1_000_000).meta({ description: 'how many are struck; 1 by default' }).optional(),
  after: z.int().min(0).max(1_000_000).meta({ description: 'how many are spared before' }).optional(),
  expect: z
    .union([verdict, z.array(verdict).min(1).max(VERDICTS.length)])
    .meta({ description: 'the verdicts that the row may have; another one fails the run' })
    .optional(),
});
export type ExamineRow = z.output<typeof examineRow>;

/** Tables by name, below `examine:` in a `vivarium.yaml`. */
export const examineTables = z
  .record(z.string().regex(/^[a-z0-9][a-z0-9-]{0,39}$/), z.array(examineRow).min(1).max(ROWS_MAX))
  .refine((tables) => Object.keys(tables).length <= TABLES_MAX, `must have at most ${TABLES_MAX} tables`);

/** The request of the runs without faults that a row is placed on. */
export interface Place {
  method: string;
  /** Null: all requests to the hostname. */
  path: string | null;
  hostname: string;
  /** Which request of this method and path, from 1. */
  ordinal: number;
}

export interface TestVerdict {
  name: string;
  verdict: Verdict;
  message?: string;
}

export interface RowVerdict {
  row: string;
  entry: string;
  /** Null where no request of both runs fits. */
  placedOn: Omit<Place, 'hostname'> | null;
  verdict: Verdict;
  /** Why, in a sentence, where it is the whole run that is wrong, hung or not met. */
  message?: string;
  /** Whether the verdict is none that the row expects. */
  unexpected?: true;
  /** The command that runs only this row. */
  repeat: string;
  tests: TestVerdict[];
}

/** The report of `vivarium examine --json` and of `vivarium.examine()`. */
export interface Examination {
  seed: number;
  table: string;
  calm: { tests: number; ms: number; left: { name: string; why: 'fails' | 'flickers' }[] };
  rows: RowVerdict[];
}
