import { stripVTControlCharacters } from 'node:util';
import { isRecord } from '../base/text/exact-json.ts';
import { orElse } from '../contract/errors.ts';
/** What one test of a run came to. */
export interface TestResult {
  name: string;
  outcome: 'passed' | 'failed' | 'skipped';
  /** What the test says about its failure; absent where the format has no such text. */
  message?: string;
}

/** The output may come from anywhere: of more characters, the last are read, and of more tests, the first. */
export const OUTPUT_MAX = 4 * 1024 * 1024;
const TESTS_MAX = 10_000;
const NAME_MAX = 500;
const MESSAGE_MAX = 4_000;
const LINE_MAX = 20_000;
const DEPTH_MAX = 50;

/**
 * Reads the results of tests from a format that is recognised; empty if none is. Never throws. Files in `folder` are
 * named relative to it.
 */
export function readResults(output: string, folder = ''): TestResult[] {
  const text = stripVTControlCharacters(output.slice(-OUTPUT_MAX));
  const lines = text.split(/\r?\n/).map((line) => line.slice(0, LINE_MAX));
  for (const [read, isUnique] of READERS) {
    const found = merged(read(lines, text, folder), isUnique === true);
    if (found.length > 0) return found;
  }
  return [];
}

type Reader = (lines: readonly string[], text: string, folder: string) => TestResult[];

/**
 * One result for each name: a test that failed once has failed. Where names are not unique, two tests of one name are
 * two, and the second is called `name (2)`.
 */
function merged(results: readonly TestResult[], isUnique: boolean): TestResult[] {
  const counts = new Map<string, number>();
  const byName = new Map<string, TestResult>();
  for (const result of results) {
    const given = result.name.trim().slice(0, NAME_MAX - 10);
    const number = isUnique ? 1 : (counts.get(given) ?? 0) + 1;
    counts.set(given, number);
    const name = number === 1 ? given : `${given} (${number})`;
    const before = byName.get(name);
    if (name === '' || (before === undefined && byName.size >= TESTS_MAX)) continue;
    const worse = before === undefined || before.outcome === 'skipped' || result.outcome === 'failed';
    if (!worse) continue;
    const message = (result.message ?? before?.message)?.trim().slice(0, MESSAGE_MAX);
    byName.set(name, { name, outcome: result.outcome, ...(message !== undefined && message !== '' && { message }) });
  }
  return [...byName.values()];
}

const TAP_RESULT = /^( *)(not )?ok\b(?: +\d+)?(?: +- +| +)?(.*)$/;

/** TAP 13 and 14, with subtests as Node and vitest nest them. The message is the diagnostic block. */
const readTap: Reader = (lines) => {
  if (!lines.some((line) => /^TAP version \d|^1\.\.\d+/.test(line))) return [];
  const results: TestResult[] = [];
  let above: { indent: number; name: string; hasTests?: true }[] = [];
  let last: TestResult | null = null;
  let block: string[] | null = null;
  const outside = (indent: number): void => {
    above = above.filter((each) => each.indent < indent).slice(-DEPTH_MAX);
  };
  for (const line of lines) {
    if (block !== null) {
      if (/^ *\.\.\.$/.test(line)) {
        if (last?.outcome === 'failed') last.message = told(block);
        block = last = null;
      } else if (block.length < 100) block.push(line);
      continue;
    }
    if (/^ +---$/.test(line)) {
      block = [];
      continue;
    }
    const subtest = /^( *)# Subtest: (.*)$/.exec(line);
    if (subtest !== null) {
      outside(subtest[1]?.length ?? 0);
      above.push({ indent: subtest[1]?.length ?? 0, name: subtest[2] ?? '' });
      continue;
    }
    if (/^ *\}$/.test(line)) outside(line.length - 1);
    const [found, indent = '', not, rest = ''] = TAP_RESULT.exec(line) ?? [];
    if (found === undefined) {
      // Mocha tells the message without a block.
      if (last?.outcome === 'failed' && /^ {2,}\S/.test(line))
        last.message = `${last.message ?? ''}${line}\n`.slice(0, MESSAGE_MAX);
      continue;
    }
    const [text = '', directive = ''] = rest.replace(/ *\{$/, '').split(/(?<!\\) # ?/, 2);
    const own = above.find((each) => each.indent === indent.length && each.name === text);
    outside(indent.length);
    for (const each of above) each.hasTests = true;
    const path = [...above.map(({ name }) => name), text.replaceAll('\\#', '#')].join(' > ');
    last = null;
    if (rest.endsWith('{')) above.push({ indent: indent.length, name: text });
    // The result of a suite follows those of its tests.
    if (rest.endsWith('{') || own?.hasTests === true) continue;
    const isLeftOut = /^(?:skip|todo)/i.test(directive);
    last = { name: path, outcome: isLeftOut ? 'skipped' : not === undefined ? 'passed' : 'failed' };
    results.push(last);
  }
  return results;
};

/** A diagnostic block without its stack and places. */
function told(block: readonly string[]): string {
  const stack = block.findIndex((line) => /^ *stack:/.test(line));
  return block
    .slice(0, stack === -1 ? block.length : stack)
    .filter((line) => !/^ *(?:duration_ms|location|failureType|type|at):/.test(line))
    .map((line) => line.trim())
    .join('\n');
}

/** JUnit’s XML, as most runners write it. */
const readJunit: Reader = (_lines, text, folder) => {
  const results: TestResult[] = [];
  const suites: string[] = [];
  for (const { index, 0: what } of text.matchAll(TAGS).take(2 * TESTS_MAX)) {
    if (results.length === TESTS_MAX) break;
    if (what === '</testsuite') {
      suites.pop();
      continue;
    }
    const tag = tagAt(text, index);
    if (what === '<testcase')
      results.push(readCase(text.slice(index + tag.length), tag, suites.slice(-DEPTH_MAX), folder));
    else if (!tag.endsWith('/>')) suites.push(attribute(tag, 'name'));
  }
  return results;
};

function readCase(text: string, tag: string, suites: readonly string[], folder: string): TestResult {
  const [file = '', own = '', name = ''] = ['file', 'classname', 'name'].map((each) => attribute(tag, each));
  // Node calls every class "test".
  const path = [file.replace(`${folder}/`, ''), ...(own === '' || own === 'test' ? suites : [own]), name];
  const inside = tag.endsWith('/>') ? '' : (text.split('<testcase', 1)[0] ?? '');
  const failure = inside.search(/<(?:failure|error)\b/);
  return {
    name: path.filter((part, at) => part !== '' && part !== path[at - 1]).join(' > '),
    outcome: failure !== -1 ? 'failed' : /<skipped\b/.test(inside) ? 'skipped' : 'passed',
    ...(failure !== -1 && { message: failureText(inside.slice(failure, failure + 2 * MESSAGE_MAX)) }),
  };
}

const TAGS = /<(?:testcase|\/?testsuite)\b/g;
const TAG_MAX = 8_000;

/** The tag at a place: `>` may occur in its values. */
function tagAt(text: string, start: number): string {
  const part = text.slice(start, start + TAG_MAX);
  return /^(?:"[^"]*"|'[^']*'|[^"'>])*>/.exec(part)?.[0] ?? part;
}

function attribute(tag: string, name: string): string {
  const found = new RegExp(`\\s${name}=(?:"([^"]*)"|'([^']*)')`).exec(tag);
  return unescaped(found?.[1] ?? found?.[2] ?? '');
}

function failureText(text: string): string {
  const tag = tagAt(text, 0);
  const inside = text.slice(tag.length).split(/<\/(?:failure|error)>/, 1)[0] ?? '';
  return `${attribute(tag, 'message')}\n${unescaped(inside.replaceAll(/<!\[CDATA\[|\]\]>/g, ''))}`;
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&', '#10': '\n' };
const unescaped = (text: string): string =>
  text.replaceAll(/&(lt|gt|quot|apos|amp|#10);/g, (_whole, name: string) => ENTITIES[name] ?? '');

/** `go test -json`: a line for each event; the output of a test is its message. */
const readGo: Reader = (lines) => {
  const outcomes: Record<string, TestResult['outcome']> = { pass: 'passed', fail: 'failed', skip: 'skipped' };
  const said = new Map<string, string>();
  const results: TestResult[] = [];
  for (const line of lines) {
    if (!line.startsWith('{"')) continue;
    const { Action, Package, Test, Output } = eventOf(line);
    if (typeof Action !== 'string' || typeof Test !== 'string') continue;
    const name = typeof Package === 'string' ? `${Package} > ${Test}` : Test;
    if (Action === 'output' && typeof Output === 'string') {
      const before = said.get(name) ?? '';
      if (before.length < MESSAGE_MAX && said.size < TESTS_MAX) said.set(name, before + Output);
    }
    const outcome = Object.hasOwn(outcomes, Action) ? outcomes[Action] : undefined;
    if (outcome !== undefined)
      results.push({ name, outcome, ...(outcome === 'failed' && { message: said.get(name) ?? '' }) });
  }
  return results;
};

function eventOf(line: string): Record<string, unknown> {
  const event: unknown = orElse(() => JSON.parse(line), null);
  return isRecord(event) ? event : {};
}

/** How a runner tells its results to people. Groups of the patterns: `indent`, `name`, `passed`, `skipped`, `left`. */
interface Words {
  /** A line that only this runner prints. */
  sign?: RegExp;
  isUnique?: true;
  /** The line of a whole file's result; the runner may list its tests, too. */
  file?: RegExp;
  test: RegExp;
  /** What is above tests that are indented further. */
  suite?: RegExp;
  /** The beginning of the message of a failure, without `name` that of the next one; after this line, if there is one. */
  failures?: RegExp;
  failure: RegExp;
  /** Lines of its title, which a message may begin with. */
  title?: RegExp;
  /** What ends a message. */
  end: RegExp;
}

const MS = String.raw`(?: \(?\d+(?:\.\d+)? ?m?s\)?)?`;

/** Those that need a line of their own come first. */
const WORDS: Readonly<Record<string, Words>> = {
  playwright: {
    isUnique: true,
    sign: /^Running \d+ tests? using \d+ worker/,
    test: new RegExp(
      String.raw`^ {2}(?:(?<passed>✓|ok)|(?<skipped>-)|[✘x]) +\d+ (?<name>.+?)(?: \(retry #\d+\))?${MS}$`,
    ),
    failure: /^ {2}\d+\) (?<name>.+?)(?: ─+)?$/,
    end: /^ {2}\d+ (?:failed|flaky|interrupted|skipped|did not run|passed)/,
  },
  jest: {
    sign: /^Test Suites: \d/,
    file: new RegExp(String.raw`^(?:(?<passed>PASS)|FAIL) (?<name>(?:\S+ )?\S+\.[cm]?[jt]sx?)${MS}$`),
    test: new RegExp(
      String.raw`^(?<indent> +)(?:(?<passed>✓)|(?<skipped>[○✎])|✕) (?:skipped |todo )?(?<name>.+?)${MS}$`,
    ),
    suite: /^(?<indent> +)(?<name>\S.*)$/,
    failure: /^ {2}● (?<name>.+)$/,
    end: /^(?:PASS|FAIL|Summary of|Test Suites:) ?/,
  },
  mocha: {
    sign: /^ {2}\d+ passing/,
    test: new RegExp(String.raw`^(?<indent> {2,})(?:(?<passed>[✔✓])|(?<skipped>-)|\d+\)) (?<name>.+?)${MS}$`),
    suite: /^(?<indent> {2,})(?<name>\S.*)$/,
    failures: /^ {2}\d+ failing$/,
    failure: /^ {2}\d+\) /,
    title: /^ {7,}\S/,
    end: /^\S/,
  },
  // The tests that failed are repeated below in the same order, with their errors.
  spec: {
    test: new RegExp(
      String.raw`^(?<indent> *)(?:(?<passed>✔)|(?<skipped>﹣)|✖) (?<name>.+?)${MS}(?<left> # (?:skip|todo).*)?$`,
      'i',
    ),
    suite: new RegExp(String.raw`^(?<indent> *)▶ (?<name>.+?)${MS}$`),
    failures: /^✖ failing tests:/,
    failure: new RegExp(String.raw`^ *✖ (?<name>.+?)${MS}$`),
    // Also a test of another kind ends the message: ⚠ is one of `todo`.
    end: /^ *[⚠ℹ] /,
  },
  // By file, and by test with its reporter `verbose`.
  vitest: {
    file: /^ (?:(?<passed>✓)|(?<skipped>↓)|[×❯]) (?<name>(?:\|[^|]+\| )?\S+) \(\d+ tests?/,
    test: new RegExp(String.raw`^ (?:(?<passed>✓)|(?<skipped>[↓□])|×) (?<name>.+ > .+?)${MS}$`),
    failure: /^ ?FAIL {1,2}(?<name>.+)$/,
    end: /^⎯|^ Test Files /,
  },
};

/** Messages of one run, and the lines of one. */
const FAILURES_MAX = 1_000;
const FAILURE_LINES_MAX = 100;

/** Playwright adds the place of a test to its file. */
const plain = (name = ''): string => name.replace(/:\d+:\d+(?= › )/, '').replaceAll(' › ', ' > ');

interface Failure {
  name: string | undefined;
  file: TestResult | null;
  said: string[];
}

const readerOf =
  (words: Words): Reader =>
  (lines) => {
    const { sign, failures, failure, title, end } = words;
    if (sign !== undefined && !lines.some((line) => sign.test(line))) return [];
    const results: TestResult[] = [];
    const told: Failure[] = [];
    const withTests = new Set<TestResult | null>();
    let file: TestResult | null = null;
    let above: { indent: number; name: string }[] = [];
    let open: string[] | null = null;
    let isBelow = failures === undefined;
    for (const line of lines) {
      isBelow ||= failures?.test(line) === true;
      const failed = isBelow ? failure.exec(line) : null;
      if (failed !== null) {
        open = [];
        if (told.length < FAILURES_MAX) told.push({ name: failed.groups?.['name'], file, said: open });
        continue;
      }
      if (end.test(line)) open = null;
      const isTitle = open?.length === 0 && title?.test(line) === true;
      if (open !== null && open.length < FAILURE_LINES_MAX && !isTitle) open.push(line);
      const kind = (['file', 'test', 'suite'] as const).find((each) => words[each]?.test(line));
      if (open !== null || (isBelow && failures !== undefined) || kind === undefined) continue;
      const { indent = '', name = '', passed, skipped, left } = words[kind]?.exec(line)?.groups ?? {};
      const isSuite = kind === 'test' && above.some((each) => each.indent === indent.length && each.name === name);
      above = kind === 'file' ? [] : above.filter((each) => each.indent < indent.length).slice(-DEPTH_MAX);
      if (kind === 'suite') above.push({ indent: indent.length, name });
      if (kind === 'suite' || isSuite || results.length === TESTS_MAX) continue;
      if (kind === 'test') withTests.add(file);
      const path = [kind === 'file' ? null : file?.name, ...above.map((each) => each.name), plain(name)];
      results.push({
        name: path.filter((part) => typeof part === 'string').join(' > '),
        outcome: (skipped ?? left) !== undefined ? 'skipped' : passed === undefined ? 'failed' : 'passed',
      });
      if (kind === 'file') file = results.at(-1) ?? null;
    }
    const found = results.filter((result) => !withTests.has(result));
    explain(found, told);
    return found;
  };

/** Gives each failure to the test that it names, else to its file. */
function explain(results: readonly TestResult[], told: readonly Failure[]): void {
  const failed = results.filter(({ outcome }) => outcome === 'failed');
  for (const { name: given, file, said } of told) {
    const name = given === undefined ? undefined : plain(given);
    const of = failed.find(
      (each) => each.message === undefined && (name === undefined || ` > ${each.name}`.endsWith(` > ${name}`)),
    );
    const other = of ?? failed.find((each) => name?.startsWith(`${each.name} > `) || each === file);
    if (other === undefined) continue;
    const before = other.message === undefined ? [] : [other.message];
    other.message = [...before, ...(of === undefined ? [given] : []), ...said].join('\n').slice(0, 2 * MESSAGE_MAX);
  }
}

/** pytest’s own words: by test with `-v` or `-rA`, else by file. */
const readPytest: Reader = (lines) => {
  const results: TestResult[] = [];
  const files: TestResult[] = [];
  const outcomeOf = (word = ''): TestResult['outcome'] =>
    word === 'SKIPPED' ? 'skipped' : /^(?:PASSED|XFAIL|[.sxX]+)$/.test(word) ? 'passed' : 'failed';
  for (const line of lines) {
    const [, test, verdict] = /^(\S+::.+?) (PASSED|FAILED|ERROR|SKIPPED|XFAIL)\b/.exec(line) ?? [];
    const [, word, told, message = ''] = /^(PASSED|FAILED|ERROR) (\S+::\S+)(?: - (.*))?$/.exec(line) ?? [];
    const [, file, letters] = /^(\S+\.py) ([.FEsxX]+)(?: +\[ *\d+%\])?$/.exec(line) ?? [];
    if (test !== undefined) results.push({ name: test, outcome: outcomeOf(verdict) });
    if (told !== undefined) results.push({ name: told, outcome: outcomeOf(word), message });
    if (file !== undefined) files.push({ name: file, outcome: outcomeOf(letters) });
  }
  if (files.length === 0) return results;
  return files.map((file) => {
    const own = results.filter(({ name, message }) => message !== undefined && name.startsWith(`${file.name}::`));
    return file.outcome === 'passed' ? file : { ...file, message: own.map(({ message }) => message).join('\n') };
  });
};

/** Those whose names are unique: a name that occurs twice is one test, run or reported twice. */
const READERS: readonly (readonly [read: Reader, isUnique?: boolean])[] = [
  [readJunit],
  [readGo, true],
  [readTap],
  ...Object.values(WORDS).map((words) => [readerOf(words), words.isUnique] as const),
  [readPytest, true],
];
