import { z } from 'zod';
import { realTime } from '../base/clock.ts';
import { messageOf } from '../base/error-code.ts';
import { invalidRequest } from '../contract/errors.ts';
import type { Ask } from '../contract/index.ts';
import { examineRow, ROWS_MAX } from '../contract/examine.ts';
import { summarizeIssues, toInputIssues } from '../contract/issues.ts';
import { examine, SNAPSHOT, type Stage } from '../examine/examine.ts';
import { formatExamination, hasFailed } from '../examine/report.ts';
import { type Row, rowOfFile, tableNamed } from '../contract/examine-tables.ts';
import type { Client } from './client.ts';
import { checkOptions, EXAMINE_OPTIONS } from './options.ts';
import type { Examination, ExamineError, ExamineOptions, ExamineRow } from './types.ts';

type Test = (context: { signal: AbortSignal }) => unknown;

const rowsInput = z.array(examineRow).min(1).max(ROWS_MAX);

/** The one test of an examination in code. */
const TEST = 'the test';

/** Examines a function in this process, on a running engine whose world it restores at the end. */
export async function examineInProcess(
  client: Client,
  renew: () => Promise<void>,
  table: string | readonly ExamineRow[],
  test: Test,
  options: ExamineOptions,
): Promise<Examination> {
  checkOptions('examine', EXAMINE_OPTIONS, options);
  if (typeof test !== 'function') throw invalidRequest('examine needs a function as its test.');
  const { only = [], seed = 1 } = options;
  const name = typeof table === 'string' ? table : 'own';
  const subject = TEST;
  const repeat = (rows: readonly string[]) => {
    const named = rows.length === 0 ? '' : `only: [${rows.map((row) => `'${row}'`).join(', ')}], `;
    return `vivarium.examine(${typeof table === 'string' ? `'${name}'` : 'rows'}, test, { ${named}seed: ${seed} })`;
  };
  const calls = client as unknown as Record<string, Record<string, (input: object) => Promise<unknown>>>;
  const stage: Stage = {
    call: (async (procedure, input = {}) => {
      const [namespace = '', call = ''] = procedure.split('.');
      return calls[namespace]?.[call]?.(input);
    }) as Ask,
    interruption: new AbortController().signal,
    async run(limitMs) {
      // A connection of before asks no DNS server, and makes no handshake.
      await renew();
      return runTest(test, limitMs);
    },
  };
  const task = { table: name, rows: rowsOf(table), only, seed, subject, repeat: (row: string) => repeat([row]) };
  try {
    const examination = await examine(task, [stage]);
    if (!hasFailed(examination)) return examination;
    const report = formatExamination(examination, { subject, repeat: repeat(only) });
    const message = `The test does not hold under faults.\n\n${report}`;
    throw Object.assign(new Error(message), { report: examination }) satisfies ExamineError;
  } finally {
    await client.breaks.stopAll().catch(() => undefined);
    await client.snapshots.restore({ name: SNAPSHOT }).catch(() => undefined);
    await client.snapshots.remove({ name: SNAPSHOT }).catch(() => undefined);
  }
}

function rowsOf(table: string | readonly ExamineRow[]): readonly Row[] {
  if (typeof table === 'string') return tableNamed(table, ', or a list of rows');
  const read = rowsInput.safeParse(table);
  if (read.success) return read.data.map(rowOfFile);
  const found = toInputIssues(read.error.issues, table, [], {
    namesAt: (path) => (path.length === 1 ? Object.keys(examineRow.shape) : []),
    locate: () => ({}) as never,
  });
  throw invalidRequest(`The table is not valid: ${summarizeIssues(found)}`);
}

async function runTest(test: Test, limitMs: number) {
  const controller = new AbortController();
  const over = Promise.withResolvers<'hung'>();
  const timer = realTime.schedule(limitMs, () => over.resolve('hung'));
  const began = realTime.monotonic();
  const outcome = await Promise.race([attempt(test, controller.signal), over.promise]);
  timer.cancel();
  const isHung = outcome === 'hung';
  if (isHung) controller.abort(new Error('The run took too long.'));
  const failure = isHung ? null : outcome;
  const result = failure === null ? { outcome: 'passed' as const } : { outcome: 'failed' as const, message: failure };
  return {
    results: isHung ? [] : [{ name: TEST, ...result }],
    passed: !isHung && failure === null,
    hung: isHung,
    ms: realTime.monotonic() - began,
    tail: '',
  };
}

/** Null, or the message with those of its causes, which say what happened to a connection. */
async function attempt(test: Test, signal: AbortSignal): Promise<string | null> {
  try {
    await test({ signal });
    return null;
  } catch (error) {
    const messages: string[] = [];
    for (
      let cause = error;
      cause !== undefined && messages.length < 5;
      cause = cause instanceof Error ? cause.cause : undefined
    )
      messages.push(
        `${messageOf(cause)} ${cause instanceof Error && 'code' in cause ? String(cause.code) : ''}`.trim(),
      );
    return messages.join(': ') || 'It failed.';
  }
}
