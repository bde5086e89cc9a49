import type { RowVerdict, TestVerdict } from '../contract/examine.ts';
import type { TestResult } from './results.ts';

export interface TestRun {
  results: readonly TestResult[];
  /** Whether all went well, by the exit code. */
  passed: boolean;
  /** Whether it was ended, because it took too long. */
  hung: boolean;
  ms: number;
  /** The end of what it printed. */
  tail: string;
}

/** What a run left behind. */
export interface Traces {
  content: Content;
  /** How often the target answered each equal request that may do something twice. */
  writes: ReadonlyMap<string, number>;
}

/** What both runs without faults agree on. */
export interface Calm {
  /** The names of the tests that passed twice. */
  tests: readonly string[];
  /** Whether others are left out, whose requests nothing tells from those of these tests. */
  hasLeft: boolean;
  /** Whether both ended well, by the exit code. */
  passed: boolean;
  /** What each of them left. */
  worlds: readonly [Content, Content];
  writes: ReadonlyMap<string, number>;
}

/** The results of a run; without a format that is read, the command is one test, which has no result if it was ended. */
export const resultsOf = (
  { results, passed, hung, tail }: Omit<TestRun, 'ms'>,
  command: string,
): readonly TestResult[] =>
  results.length > 0 || hung ? results : [{ name: command, outcome: passed ? 'passed' : 'failed', message: tail }];

/** Which tests passed in both runs, and which are left out. */
export function compareCalm(one: readonly TestResult[], other: readonly TestResult[]) {
  const again = new Map(other.map((result) => [result.name, result.outcome]));
  const names = new Set([...one, ...other].map(({ name }) => name));
  const first = new Map(one.map((result) => [result.name, result.outcome]));
  const tests: string[] = [];
  const left: { name: string; why: 'fails' | 'flickers' }[] = [];
  for (const name of names) {
    const outcomes = [first.get(name), again.get(name)];
    if (outcomes.every((outcome) => outcome === 'passed')) tests.push(name);
    else if (outcomes.every((outcome) => outcome === 'failed')) left.push({ name, why: 'fails' });
    else if (!outcomes.every((outcome) => outcome === 'skipped')) left.push({ name, why: 'flickers' });
  }
  return { tests, left };
}

/** What clients say about connections, certificates, names and contents that are broken. */
const TROUBLE =
  /fetch failed|terminated|socket|hang ?up|\bE(?:CONN|PIPE|NOTFOUND|AI_|OF\b|TIMEDOUT)|ERR_|getaddrinfo|time[ds]? ?-?out|deadline|abort|reset|closed|refused|disconnect|network|connect(?:ion|ing)|end of (?:file|json)|incomplete|truncat|unexpected|unterminated|pars(?:e|ing)|decod|decompress|gzip|zlib|brotli|utf-?8|invalid (?:json|byte|header)|certificate|x509|\btls\b|\bssl\b|stream|goaway|proxy|tunnel|bad gateway|\bdns\b|resolv|servfail|no such host/i;

const WORDS: Readonly<Record<number, RegExp>> = {
  401: /\b401\b|unauthori[sz]ed|invalid.token|api key/i,
  410: /\b410\b|\bgone\b|removed|sunset/i,
  429: /\b429\b|too many requests|rate.?limit|retry.after/i,
  500: /\b500\b|internal.(?:server.)?error|something failed/i,
  503: /\b503\b|unavailable|maintenance|retry.after/i,
};

/** Whether the message of a test names what the fault did to the answers. */
export function namesFault(message: string, statuses: readonly (number | null)[]): boolean {
  return statuses.some((status) =>
    status === null || status < 400
      ? TROUBLE.test(message)
      : (WORDS[status] ?? new RegExp(`\\b${status}\\b`)).test(message),
  );
}

/** @param struck the statuses of the answers that the fault struck; null for one without an answer */
export function judge(
  run: TestRun & { results: readonly TestResult[] },
  traces: Traces,
  calm: Calm,
  struck: readonly (number | null)[],
): Pick<RowVerdict, 'verdict' | 'message' | 'tests'> {
  const byName = new Map(run.results.map((result) => [result.name, result]));
  const failures = calm.tests.filter((name) => byName.get(name)?.outcome !== 'passed');
  // A failure may follow from that of another test.
  const isNamed = failures.some((name) => namesFault(messageOf(byName.get(name) ?? null, run), struck));
  const tests = calm.tests.map((name): TestVerdict => {
    const result = byName.get(name) ?? null;
    if (result?.outcome === 'passed') return { name, verdict: 'survived' };
    if (result === null && run.hung) return { name, verdict: 'hung', message: UNFINISHED };
    const said = told(result, run);
    if (isNamed || said === '') return { name, verdict: 'failed_as_it_should', message: said };
    return { name, verdict: 'wrong', message: `It fails without naming the fault: ${said}` };
  });
  // A test that failed may have ended early, and a killed one anywhere.
  const compare = failures.length > 0 || run.hung ? repetitionIn : differenceOf;
  const wrong = repeatedWrite(calm.writes, traces.writes) ?? compare(calm.worlds, traces.content);
  if (wrong !== null) return { verdict: 'wrong', message: wrong, tests: blamed(tests, wrong) };
  if (run.hung) {
    const message = `It was ended after ${Math.round(run.ms / 100) / 10} s.`;
    return { verdict: 'hung', message, tests };
  }
  const verdict = (['wrong', 'failed_as_it_should'] as const).find((each) =>
    tests.some((test) => test.verdict === each),
  );
  return verdict === undefined ? { ...judgeCommand(run, calm, struck), tests } : { verdict, tests };
}

/** All tests pass; the command may fail beside them, for example by an error that no test catches. */
function judgeCommand(
  run: TestRun,
  calm: Calm,
  struck: readonly (number | null)[],
): Pick<RowVerdict, 'verdict' | 'message'> {
  if (run.passed || !calm.passed || run.results.some(({ outcome }) => outcome === 'failed'))
    return { verdict: 'survived', ...(calm.hasLeft && { message: UNCERTAIN }) };
  const said = withoutStack(run.tail);
  const isNamed = namesFault(said, struck);
  return {
    verdict: isNamed ? 'failed_as_it_should' : 'wrong',
    message: `All tests pass, and the command fails${isNamed ? '' : ' without naming the fault'}: ${endOf(said)}`,
  };
}

/** The failed tests of a run that left a wrong world; where none failed, nothing says which it was. */
const blamed = (tests: readonly TestVerdict[], message: string): TestVerdict[] =>
  tests.map((test) => (test.verdict === 'failed_as_it_should' ? { ...test, verdict: 'wrong', message } : test));

/** Places in a stack; the path of a file is no word of the client. */
const STACK = /^\s*(?:test )?at .*:\d+:\d+\)?(?: \{)?$/gm;

/** What is printed of every error: the code of an assertion is no word about a connection, and the test’s own lines are none. */
const NOISE =
  /^\s*(?:>?\s*\d*\s*\|.*|\[cause\]: undefined|\.{3} \d+ lines matching .*|(?:generatedMessage|operator|diff): .*|code: '?ERR_(?:ASSERTION|TEST_FAILURE)'?,?|[{}])(?: \})?$/gm;

const withoutStack = (text: string): string => text.replaceAll(STACK, '').replaceAll(NOISE, '').trim();

const messageOf = (result: TestResult | null, run: TestRun): string =>
  withoutStack(result === null ? run.tail : (result.message ?? ''));

/** What a test says, as it is shown; of an output as a whole, its end says why. */
function told(result: TestResult | null, run: TestRun): string {
  const message = messageOf(result, run);
  if (result === null) return `It was not reported. ${endOf(message)}`.trim();
  const text = inOneLine(message);
  if (result.message === run.tail) return endOf(text);
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text;
}

const SHOWN_MAX = 300;
const UNCERTAIN = 'Nothing shows whose request was struck: it may be that of a test left out.';
const UNFINISHED = 'It was running, or had not begun.';

const inOneLine = (text: string): string => text.replaceAll(/\s+/g, ' ');

function endOf(message: string): string {
  const text = inOneLine(message);
  return text.length > SHOWN_MAX ? `…${text.slice(-SHOWN_MAX)}` : text;
}

function repeatedWrite(calm: ReadonlyMap<string, number>, found: ReadonlyMap<string, number>): string | null {
  const repeated = repeatedIn(calm, found);
  if (repeated === undefined) return null;
  const { item, count, before } = repeated;
  const [method = '', target = ''] = JSON.parse(item) as string[];
  return `The target carried out ${count} equal ${method} ${target}; without the fault it was ${before}.`;
}

/** Names whose values differ from run to run though nothing else does. */
const VARYING: ReadonlySet<string> = new Set(['id', 'petId', 'at', 'clock', 'createdAt', 'placedAt']);

/** The content of a world, without ids and times: by path, how often each value is there. */
export type Content = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** Counts the members of every list, and every other value, without ids and times. */
export function contentOf(world: unknown): Content {
  const content = new Map<string, Map<string, number>>();
  const add = (path: string, value: unknown): void => {
    const item = JSON.stringify(value) ?? '';
    const counts = content.get(path) ?? new Map<string, number>();
    content.set(path, counts.set(item, (counts.get(item) ?? 0) + 1));
  };
  const visit = (value: unknown, path: string): void => {
    if (Array.isArray(value)) for (const member of value) add(path, member);
    else if (typeof value === 'object' && value !== null) {
      for (const [name, member] of Object.entries(value)) {
        visit(member, path === '' ? name : `${path}.${name}`);
      }
    } else add(path, value);
  };
  visit(steady(world), '');
  return content;
}

/** The value without ids and times, its names in order. */
function steady(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(steady);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([name]) => !VARYING.has(name));
  return Object.fromEntries(
    members.toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([name, member]) => [name, steady(member)]),
  );
}

const NOTHING: ReadonlyMap<string, number> = new Map();
const totalOf = (counts: ReadonlyMap<string, number>): number => [...counts.values()].reduce((sum, n) => sum + n, 0);

/** What both runs left alike: the exact values; only their number where the values differ; null where that does too. */
function usualAt([one, other]: Calm['worlds'], path: string): ReadonlyMap<string, number> | number | null {
  const [first, second] = [one.get(path) ?? NOTHING, other.get(path) ?? NOTHING];
  const isSame = first.size === second.size && [...first].every(([item, count]) => second.get(item) === count);
  if (isSame) return first;
  return totalOf(first) === totalOf(second) ? totalOf(first) : null;
}

const TOLD_MAX = 160;

function differs(count: number, usual: number, path: string, item?: string): string {
  const what = item === undefined ? '' : `: ${item.length > TOLD_MAX ? `${item.slice(0, TOLD_MAX)}…` : item}`;
  return `The world differs: ${count} instead of ${usual} of ${path}${what}.`;
}

/** The first difference of a world from those after the runs without faults, in a sentence; null without one. */
export function differenceOf(calm: Calm['worlds'], found: Content): string | null {
  for (const path of new Set([found, ...calm].flatMap((content) => [...content.keys()]))) {
    const counts = found.get(path) ?? NOTHING;
    const usual = usualAt(calm, path);
    if (typeof usual === 'number' && totalOf(counts) !== usual) return differs(totalOf(counts), usual, path);
    if (typeof usual !== 'object' || usual === null) continue;
    // What is too much says more than what is missing.
    for (const item of new Set([...counts.keys(), ...usual.keys()])) {
      const [count, before] = [counts.get(item) ?? 0, usual.get(item) ?? 0];
      if (count !== before) return differs(count, before, path, item);
    }
  }
  return null;
}

/** The first value that there is more than once, and more often than usual; null without one. */
export function repetitionIn(calm: Calm['worlds'], found: Content): string | null {
  for (const [path, counts] of found) {
    const usual = usualAt(calm, path) ?? NOTHING;
    const repeated = typeof usual === 'number' ? undefined : repeatedIn(usual, counts);
    if (repeated !== undefined) return differs(repeated.count, repeated.before, path, repeated.item);
  }
  return null;
}

function repeatedIn(usual: ReadonlyMap<string, number>, found: ReadonlyMap<string, number>) {
  const counted = [...found].map(([item, count]) => ({ item, count, before: usual.get(item) ?? 0 }));
  return counted.find(({ count, before }) => count > Math.max(1, before));
}
