import { messageOf } from '../base/error-code.ts';
import type { RunningBreak } from '../contract/breaks.ts';
import { internalError, invalidRequest } from '../contract/errors.ts';
import type { Examination, Place, RowVerdict } from '../contract/examine.ts';
import type { Ask } from '../contract/index.ts';
import { didYouMean } from '../contract/issues.ts';
import type { OrderRecord } from '../contract/pets.ts';
import type { TrafficEntry } from '../contract/traffic.ts';
import { type Calm, compareCalm, contentOf, judge, resultsOf, type TestRun, type Traces } from './verdict.ts';
import { familyOf, type Row, nameOf } from '../contract/examine-tables.ts';
import { placeRows, REPEATABLE_HARM, selectionOf } from './placing.ts';

/** An engine with the world of the tests, and the tests. */
export interface Stage {
  call: Ask;
  /** Runs the tests, and ends them after this time. */
  run(limitMs: number): Promise<TestRun>;
  /** For tests that ask no DNS server: refuses the first connections to a hostname. */
  refuse?(hostname: string, count: number): { struck(): number; stop(): void };
  /** Aborts, with the reason, when the user interrupts the examination. */
  interruption: AbortSignal;
}

export interface Task {
  /** The name of the table, and its rows. */
  table: string;
  rows: readonly Row[];
  /** Names or families of the rows to run; all without. */
  only: readonly string[];
  seed: number;
  /** What is examined, as it is shown. */
  subject: string;
  /** The command that runs one row. */
  repeat(row: string): string;
  /** Receives a line about each run. */
  onRun?(line: string): void;
  /** Keeps what was found so far, rows in the order of their ends. `stage` still has the requests of the last run. */
  keep?(found: Examination, rows: number, stage: Stage): Promise<void>;
}

export const SNAPSHOT = 'examine';

/** How long the tests may take without faults. */
const CALM_MS_MAX = 10 * 60_000;
const HUNG_MS_MIN = 10_000;
const HUNG_TIMES = 3;

/** What one row may add at most: a wait that it asks the client for. */
const ADDED_MS_MAX = 60_000;

const PAGE = 1_000;
const PAGES_MAX = 20;
/** Requests of one run whose bodies are compared. */
const COMPARED_MAX = 500;

const NO_PLACE = 'Both runs without faults made no request that fits.';
const NO_QUESTION = 'The tests reach hostnames through a proxy, which asks no DNS server.';

/**
 * Runs the tests twice without faults, then once for each row, each time in the same world. Rows run side by side, one
 * for each stage.
 * @throws VivariumError `invalid_request` for a row that its entry refuses, or if no test passes twice
 */
export async function examine(task: Task, stages: readonly Stage[]): Promise<Examination> {
  const { rows, seed, table, onRun, keep } = task;
  const [first] = stages;
  if (first === undefined) throw internalError('There is no engine.');
  const asked = askedRows(task);
  await checkRows(rows, first);
  await Promise.all(stages.map((stage) => stage.call('snapshots.save', { name: SNAPSHOT, force: true })));
  const one = await observe(task, first, CALM_MS_MAX, 'without faults');
  const other = await observe(task, first, CALM_MS_MAX, 'without faults, again');
  const { tests, left } = compareCalm(one.run.results, other.run.results);
  if (tests.length === 0) {
    const said = one.run.results.find(({ outcome }) => outcome === 'failed')?.message ?? '';
    throw invalidRequest(`No test passes twice without faults. ${said.slice(-2_000)}`.trim());
  }
  const calm: Calm = {
    tests,
    hasLeft: left.length > 0,
    passed: one.run.passed && other.run.passed,
    worlds: [one.traces.content, other.traces.content],
    writes: one.traces.writes,
  };
  const ms = Math.max(one.run.ms, other.run.ms);
  const limitMs = Math.max(HUNG_MS_MIN, HUNG_TIMES * ms);
  const queue = placeRows(rows, [one.entries, other.entries], seed).filter((_, index) => asked[index]);
  const verdicts = new Map<number, RowVerdict>();
  const report = (found: Iterable<RowVerdict>): Examination => {
    const part = asked.includes(false) ? { of: rows.length } : {};
    return { seed, table, calm: { tests: tests.length, ms: Math.round(ms), left }, rows: [...found], ...part };
  };
  await keep?.(report([]), queue.length, first);
  const waiting = queue.entries();
  const work = async (stage: Stage): Promise<void> => {
    for (const [position, placed] of waiting) {
      const { row } = placed;
      const verdict = await examineRow(task, stage, placed, limitMs, calm);
      verdicts.set(position, {
        ...verdict,
        ...(isUnexpected(row, verdict) && { unexpected: true, ...expectedBy(row) }),
      });
      onRun?.(`${nameOf(row)}: ${verdict.verdict.replaceAll('_', ' ')}`);
      await keep?.(report(verdicts.values()), queue.length, stage);
    }
  };
  await Promise.all(stages.map(work));
  return report(queue.flatMap((_item, position) => verdicts.get(position) ?? []));
}

/** Whether `only` names a row, as it does without names. @throws VivariumError for a name that no row and no family has */
function askedRows({ rows, only, table }: Task): boolean[] {
  const names = rows.flatMap((row) => [nameOf(row), familyOf(row)]);
  const unknown = only.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    const known = didYouMean(unknown, names) || ` It has ${[...new Set(names)].join(', ')}.`;
    throw invalidRequest(`The table ${table} has no row and no family "${unknown}".${known}`);
  }
  return rows.map((row) => only.length === 0 || [nameOf(row), familyOf(row)].some((name) => only.includes(name)));
}

/** Starts the break of each row, which checks it, and repairs it at once. */
async function checkRows(rows: readonly Row[], stage: Stage): Promise<void> {
  for (const row of rows) {
    const { break: entry, on = {}, parameters = {}, first = 1, after = 0 } = row;
    try {
      const { id } = await stage.call('breaks.start', { entry, on, parameters, first, after });
      await stage.call('breaks.stop', { id });
    } catch (error) {
      stage.interruption.throwIfAborted();
      throw invalidRequest(`The row ${nameOf(row)} is not valid: ${messageOf(error)}`);
    }
  }
}

const expectedBy = ({ expect }: Row) => expect !== undefined && { expected: [expect].flat() };

const isUnexpected = ({ expect }: Row, { verdict }: RowVerdict): boolean =>
  expect === undefined ? verdict === 'wrong' || verdict === 'hung' : ![expect].flat().includes(verdict);

/** Runs the tests in the world of before. */
async function observe({ subject, onRun }: Task, stage: Stage, limitMs: number, what: string) {
  await restore(stage);
  const run = await stage.run(limitMs);
  stage.interruption.throwIfAborted();
  if (run.hung) throw invalidRequest(`${subject} took more than ten minutes ${what}.`);
  const results = resultsOf(run, subject);
  onRun?.(`${what}: ${results.length} ${results.length === 1 ? 'test' : 'tests'}, ${(run.ms / 1_000).toFixed(1)} s`);
  const entries = await recorded(stage);
  return { run: { ...run, results }, entries, traces: await tracesOf(stage, entries, 1) };
}

async function restore(stage: Stage): Promise<void> {
  stage.interruption.throwIfAborted();
  await stage.call('snapshots.restore', { name: SNAPSHOT });
  await stage.call('traffic.clear', {});
}

async function examineRow(
  task: Task,
  stage: Stage,
  { row, place }: ReturnType<typeof placeRows>[number],
  limitMs: number,
  calm: Calm,
): Promise<RowVerdict> {
  const name = nameOf(row);
  const verdict = { row: name, entry: row.break, placedOn: placedOn(place), repeat: task.repeat(name) };
  const notMet = (message: string): RowVerdict => ({ ...verdict, verdict: 'not_met', message, tests: [] });
  if (place === null) return notMet(NO_PLACE);
  if (stage.refuse !== undefined && familyOf(row) === 'dns' && row.refusesConnections !== true)
    return notMet(NO_QUESTION);
  await restore(stage);
  const fault = await cause(stage, row, place, task.seed).catch((error: unknown) => {
    stage.interruption.throwIfAborted();
    return messageOf(error);
  });
  if (typeof fault === 'string') return notMet(fault);
  const run = await stage.run(limitMs + fault.addedMs);
  stage.interruption.throwIfAborted();
  const struck = await fault.end();
  const entries = await recorded(stage);
  if (struck === 0) return notMet('The run made no request that the fault could strike.');
  const statuses = entries.flatMap(({ fault: by, status }) => (by === undefined ? [] : [status]));
  const results = resultsOf(run, task.subject);
  const traces = await tracesOf(stage, entries, 2);
  // A question, a handshake and a refused connection have no answer.
  return { ...verdict, ...judge({ ...run, results }, traces, calm, statuses.length === 0 ? [null] : statuses) };
}

const placedOn = (place: Place | null): RowVerdict['placedOn'] =>
  place === null ? null : { method: place.method, path: place.path, ordinal: place.ordinal };

/** A fault in force; `end` returns how often it has struck. */
async function cause(stage: Stage, row: Row, place: Place, seed: number) {
  const { on, first, after } = selectionOf(row, place);
  if (row.refusesConnections === true && stage.refuse !== undefined) {
    const refusing = stage.refuse(place.hostname, first);
    return {
      addedMs: 0,
      end(): number {
        refusing.stop();
        return refusing.struck();
      },
    };
  }
  const { parameters } = row;
  const rule = { entry: row.break, on, first, after, seed, for: 'PT1H' };
  const started = await stage.call('breaks.start', { ...rule, ...(parameters !== undefined && { parameters }) });
  return {
    addedMs: addedMs(started, first),
    end: async () => (await stage.call('breaks.stop', { id: started.id })).struck,
  };
}

/** How long a polite client waits because of the fault, such as for its `Retry-After`. A black hole asks for no wait. */
function addedMs({ entry, parameters }: RunningBreak, first: number): number {
  const told = /Retry-After: *(\d+)/i.exec(String(parameters['header'] ?? ''))?.[1];
  const seconds = entry.startsWith('api.') ? Number(parameters['seconds'] ?? 0) : Number(told ?? 0);
  const delay = Number(parameters['delayMs'] ?? 0) + Number(parameters['jitterMs'] ?? 0);
  const ms = (seconds * 1_000 + delay) * Math.min(first, 100);
  return Number.isFinite(ms) && ms > 0 ? Math.min(ms, ADDED_MS_MAX) : 0;
}

/** The requests of a run, oldest first. */
async function recorded(stage: Stage): Promise<TrafficEntry[]> {
  const found: TrafficEntry[] = [];
  let before: string | undefined;
  for (let page = 0; page < PAGES_MAX; page++) {
    const input = { limit: PAGE, ...(before !== undefined && { before }) };
    const { items, next } = await stage.call('traffic.list', input);
    found.push(...items);
    if (next === undefined) break;
    before = next;
  }
  return found.toReversed();
}

async function tracesOf(stage: Stage, entries: readonly TrafficEntry[], least: number): Promise<Traces> {
  const { text } = await stage.call('world.export', { format: 'json' });
  const projects = await stage.call('projects.list');
  const orders: Record<string, OrderRecord[]> = {};
  for (const { id, slug } of projects) orders[slug] = await stage.call('orders.list', { projectId: id });
  const content = contentOf({ ...(JSON.parse(text) as object), orders });
  return { content, writes: await writesOf(stage, entries, least) };
}

/** How often the target carried out each equal write; of a target with fewer than `least`, none is compared. */
async function writesOf(stage: Stage, entries: readonly TrafficEntry[], least: number): Promise<Map<string, number>> {
  const done = entries.filter(
    ({ method, stage: at, status, fault }) =>
      REPEATABLE_HARM.has(method) && at === 'target' && ((status ?? 500) < 400 || fault !== undefined),
  );
  const alike = Map.groupBy(done, ({ method, authority, target }) => JSON.stringify([method, authority, target]));
  const counts = new Map<string, number>();
  const compared = [...alike.values()].filter(({ length }) => length >= least).flat();
  for (const { id, method, target, requestBytes } of compared.slice(0, COMPARED_MAX)) {
    const { requestHeaders, requestBody } = await stage.call('traffic.get', { id });
    // With such a key, the client asks for no second effect.
    if (requestHeaders.some(({ name }) => name.toLowerCase() === 'idempotency-key')) continue;
    const request = JSON.stringify([method, target, requestBody?.text ?? requestBytes]);
    counts.set(request, (counts.get(request) ?? 0) + 1);
  }
  return counts;
}
