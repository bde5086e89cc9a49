import { parseDuration } from '../contract/duration.ts';
import type { Ask } from '../contract/index.ts';
import type { Expectations, Step } from '../contract/rehearsal.ts';
import type { TrafficDetail } from '../contract/traffic.ts';
import { describeCount, compareAnswer, compareCount, compareDnsAnswer, compareDomain } from './compare.ts';
import type { Result } from '../base/text/junit.ts';
import type { Report } from './report.ts';

/** The engine and the machine, as a rehearsal uses them. */
export interface Stage {
  call: Ask;
  /** Runs a command; a string is run by the shell. Null if it did not end in time. */
  run(command: string | readonly string[], timeoutMs: number): Promise<number | null>;
  /** Aborts, with the reason, when the user interrupts the rehearsal. */
  interruption: AbortSignal;
  /** Removes variable parts from a text, such as the engine's ports. */
  steady(text: string): string;
}

export interface Rehearsal {
  file: string;
  repeat: string;
  steps: readonly Step[];
  /** The caller's command, run after the last step. */
  command: readonly string[] | null;
  expectations: Expectations;
}

/** How long a command may take, in real time. */
const RUN_MS_MAX = 10 * 60_000;

/** Page size of the list of requests, which the contract limits. */
const PAGE = 1_000;
const PAGES_MAX = 1_000;

/** Runs the steps until one fails; if none does, checks the expectations. */
export async function rehearse(
  { file, repeat, steps, command, expectations }: Rehearsal,
  stage: Stage,
): Promise<Report> {
  const results: Result[] = [];
  const tasks = [
    ...steps.map((step) => ({ title: describeStep(step), do: () => takeStep(step, stage) })),
    ...(command === null
      ? []
      : [{ title: `run ${command.join(' ')}`, do: () => runCommand(command, 0, RUN_MS_MAX, stage) }]),
  ];
  for (const task of tasks) {
    const hasFailed = results.at(-1)?.outcome === 'failed' || results.at(-1)?.outcome === 'skipped';
    results.push(hasFailed ? skipped(task.title) : await resultOf(task.title, task.do, stage));
  }
  const hasFailed = results.some(({ outcome }) => outcome === 'failed');
  const expected: Result[] = [];
  for (const { title, check } of checksOf(expectations, stage)) {
    expected.push(hasFailed ? skipped(title) : await resultOf(title, check, stage));
  }
  return { file, command: repeat, steps: results, expectations: expected };
}

const skipped = (title: string): Result => ({ title, outcome: 'skipped', reasons: [] });

async function resultOf(title: string, task: () => Promise<string[]>, stage: Stage): Promise<Result> {
  let reasons: string[];
  try {
    reasons = await task();
  } catch (error) {
    stage.interruption.throwIfAborted();
    if (!(error instanceof Error)) throw error;
    reasons = [error.message];
  }
  return { title, outcome: reasons.length === 0 ? 'passed' : 'failed', reasons: reasons.map(stage.steady) };
}

/** Describes a step in one line, in the words of its file. */
export function describeStep(step: Step): string {
  const { run, clock, request, times = 1, key, dns, repair } = step;
  if (run !== undefined) return `run ${run}`;
  if (clock !== undefined) return `clock ${isDuration(clock) ? '+' : ''}${clock}`;
  if (dns !== undefined) return `dns ${dns}`;
  if (step.break !== undefined) return `break ${[step.break, ...Object.values(step.on ?? {})].join(' ')}`;
  if (repair !== undefined) return `repair ${repair}`;
  const how = [
    ...(times === 1 ? [] : [`${times.toLocaleString('en')} times`]),
    ...(key === undefined ? [] : [`key ${key}`]),
  ];
  return `request ${request ?? ''}${how.length === 0 ? '' : ` (${how.join(', ')})`}`;
}

const isDuration = (text: string): boolean => !/^\d{4}-/.test(text);

/** Runs a step; returns why it failed. */
async function takeStep(step: Step, stage: Stage): Promise<string[]> {
  const { run, exitCode = 0, timeout, clock, dns, expect = {} } = step;
  if (run !== undefined)
    return runCommand(run, exitCode, timeout === undefined ? RUN_MS_MAX : parseDuration(timeout), stage);
  if (clock !== undefined) {
    await (isDuration(clock) ? stage.call('clock.advance', { by: clock }) : stage.call('clock.set', { to: clock }));
    return [];
  }
  if (dns !== undefined) {
    const [name = '', type = 'A'] = dns.split(' ');
    return compareDnsAnswer(expect, await stage.call('dns.query', { name, type: type.toUpperCase() }));
  }
  if (step.break !== undefined) {
    const { on, first, after, rate, nth, seed = 0, for: length, parameters } = step;
    const choice = { first, after, nth, rate, seed };
    await stage.call('breaks.start', { entry: step.break, on, ...choice, for: length, parameters });
    return [];
  }
  if (step.repair !== undefined) return repair(step.repair, stage);
  let answer: TrafficDetail | null = null;
  for (let time = 0; time < (step.times ?? 1); time++) answer = await stage.call('traffic.send', requestOf(step));
  return answer === null ? [] : compareAnswer(expect, answer);
}

/** Repairs the breaks of one entry, or all of them. */
async function repair(what: string, stage: Stage): Promise<string[]> {
  const running = await stage.call('breaks.list', {});
  const meant = running.filter(({ entry }) => what === ALL || entry === what);
  for (const { id } of meant.toReversed()) await stage.call('breaks.stop', { id });
  return meant.length === 0 ? [what === ALL ? 'nothing is broken' : `nothing is broken by ${what}`] : [];
}

const ALL = 'all';

async function runCommand(
  command: string | readonly string[],
  expected: number,
  timeoutMs: number,
  stage: Stage,
): Promise<string[]> {
  const code = await stage.run(command, timeoutMs);
  stage.interruption.throwIfAborted();
  if (code === null) return [`it did not end within ${timeoutMs / 1_000} s`];
  return code === expected ? [] : [`the exit code is ${code}, not ${expected}`];
}

/** The input of `traffic.send`. */
function requestOf({ request = '', key, headers = {}, body }: Step): object {
  const words = request.split(' ');
  const url = new URL(words.at(-1) ?? '');
  const isJson = body !== undefined && typeof body !== 'string';
  const isTyped = Object.keys(headers).some((name) => name.toLowerCase() === 'content-type');
  const fields = Object.entries(headers).map(([name, value]) => ({ name, value }));
  return {
    hostname: url.hostname,
    scheme: url.protocol.slice(0, -1),
    method: words.length > 1 ? words[0] : 'GET',
    target: url.pathname + url.search,
    headers: isJson && !isTyped ? [...fields, { name: 'Content-Type', value: 'application/json' }] : fields,
    ...(body !== undefined && { body: isJson ? JSON.stringify(body) : body }),
    ...(key !== undefined && { keyId: key }),
  };
}

interface Check {
  title: string;
  check: () => Promise<string[]>;
}

function checksOf({ domains = {}, traffic = {} }: Expectations, stage: Stage): Check[] {
  return [
    ...Object.entries(domains).map(([hostname, expected]) => ({
      title: `${hostname}: ${Object.entries(expected)
        .map(([name, value]) => `${name} ${value}`)
        .join(', ')}`,
      check: async () => compareDomain(expected, await stage.call('domains.get', { hostname })),
    })),
    ...Object.entries(traffic).map(([filter, expected]) => ({
      title: `traffic ${filter}: ${describeCount(expected)}`,
      check: async () => compareCount(expected, await countRequests(filter, stage)),
    })),
  ];
}

async function countRequests(filter: string, stage: Stage): Promise<number> {
  let found = 0;
  let before: string | undefined;
  for (let page = 0; page < PAGES_MAX; page++) {
    const input = { ...(filter !== '' && { filter }), limit: PAGE, ...(before !== undefined && { before }) };
    const { items, next } = await stage.call('traffic.list', input);
    found += items.length;
    if (next === undefined) break;
    before = next;
  }
  return found;
}
