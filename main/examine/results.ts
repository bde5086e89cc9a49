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

// oxlint-disable-next-line no-control-regex -- escape sequences begin with one
const ESCAPES = /\u001b\[[0-9;]{0,50}[A-Za-z]/g;

/**
 * Reads the results of tests from a format that is recognised; empty if none is. Never throws. Files in `folder` are
 * named relative to it.
 */
export function readResults(output: string, folder = ''): TestResult[] {
  const text = output.slice(-OUTPUT_MAX).replaceAll(ESCAPES, '');
  const lines = text.split(/\r?\n/).map((line) => line.slice(0, LINE_MAX));
  for (const read of READERS) {
    const results = read(lines, text, folder);
    const found = merged(RERUNNING.has(read) ? results : toldApart(results));
    if (found.length > 0) return found;
  }
  return [];
}

type Reader = (lines: readonly string[], text: string, folder: string) => TestResult[];

/** Two tests of one name are two: the second is called `name (2)`. */
function toldApart(results: readonly TestResult[]): TestResult[] {
  const counts = new Map<string, number>();
  return results.map((result) => {
    const name = result.name.trim().slice(0, NAME_MAX - 10);
    const number = (counts.get(name) ?? 0) + 1;
    counts.set(name, number);
    return { ...result, name: number === 1 ? name : `${name} (${number})` };
  });
}

/** One result for each name: a test that failed once has failed. */
function merged(results: readonly TestResult[]): TestResult[] {
  const byName = new Map<string, TestResult>();
  for (const result of results) {
    const name = result.name.trim().slice(0, NAME_MAX);
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
        block = null;
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
    if (found === undefined) continue;
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
    if (outcome !== undefined) results.push({ name, outcome });
  }
  return results.map((result) =>
    result.outcome === 'failed' ? { ...result, message: said.get(result.name) ?? '' } : result,
  );
};

function eventOf(line: string): Record<string, unknown> {
  try {
    const event: unknown = JSON.parse(line);
    return typeof event === 'object' && event !== null ? (event as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** Node’s reporter `spec`. The tests that failed are repeated below in the same order, with their errors. */
const readSpec: Reader = (lines) => {
  const results: TestResult[] = [];
  const failed = new Map<string, TestResult[]>();
  let above: { indent: number; name: string }[] = [];
  let isBelow = false;
  let told: TestResult | undefined;
  for (const line of lines) {
    if (line.startsWith('✖ failing tests:')) isBelow = true;
    const [, indent = '', mark = '', name = '', skipped] =
      /^( *)([▶✔✖﹣]) (.+?)(?: \(\d+(?:\.\d+)?ms\))?( # (?:skip|todo).*)?$/i.exec(line) ?? [];
    if (isBelow) {
      // Also a test of another kind ends the message: ⚠ is one of `todo`.
      if (mark !== '' || /^ *[⚠ℹ] /.test(line)) told = failed.get(name)?.shift();
      else if (told !== undefined && (told.message ?? '').length < MESSAGE_MAX)
        told.message = `${told.message ?? ''}${line.trim()}\n`;
      continue;
    }
    if (mark === '') continue;
    const isSuite = above.at(-1)?.indent === indent.length && above.at(-1)?.name === name;
    above = above.filter((each) => each.indent < indent.length).slice(-DEPTH_MAX);
    const path = [...above.map((each) => each.name), name].join(' > ');
    if (mark === '▶') above.push({ indent: indent.length, name });
    else if (isSuite) continue;
    else if (skipped !== undefined || mark === '﹣') results.push({ name: path, outcome: 'skipped' });
    else results.push({ name: path, outcome: mark === '✔' ? 'passed' : 'failed' });
    const last = results.at(-1);
    if (last?.outcome !== 'failed') continue;
    const alike = failed.get(name) ?? [];
    if (alike.length < TESTS_MAX) failed.set(name, alike).get(name)?.push(last);
  }
  return results;
};

/** vitest’s own words: by file, and by test with its reporter `verbose`. The blocks below have the failures. */
const readVitest: Reader = (lines) => {
  const results: TestResult[] = [];
  const failures = new Map<string, string[]>();
  let block: string[] | null = null;
  for (const line of lines) {
    const failed = /^ ?FAIL {1,2}(.+)$/.exec(line);
    if (failed !== null) {
      const name = failed[1] ?? '';
      block = failures.get(name) ?? [];
      if (failures.size < TESTS_MAX) failures.set(name, block);
    } else if (/^⎯|^ Test Files /.test(line)) block = null;
    else if (block !== null && block.length < 30) block.push(line);
    const [found, mark = '', text = ''] = /^ ([✓×❯↓]) (.+)$/.exec(line) ?? [];
    if (found === undefined || block !== null) continue;
    const file = /^((?:\|[^|]+\| )?\S+) \(\d+ tests?/.exec(text)?.[1];
    // A line of a test has its file, and is indented in no report of its own.
    const name = file ?? (text.includes(' > ') ? text.replace(/ \d+(?:\.\d+)?m?s$/, '') : '');
    results.push({ name, outcome: mark === '✓' ? 'passed' : mark === '↓' ? 'skipped' : 'failed' });
  }
  return results.map((result) => {
    const own = [...failures].filter(([name]) => name === result.name || name.startsWith(`${result.name} > `));
    const message = own.map(([name, said]) => [name, ...said].join('\n')).join('\n');
    return result.outcome === 'failed' ? { ...result, message } : result;
  });
};

const PYTEST_MARKS: Readonly<Record<string, TestResult['outcome']>> = {
  PASSED: 'passed',
  XFAIL: 'passed',
  FAILED: 'failed',
  ERROR: 'failed',
  SKIPPED: 'skipped',
};

/** pytest’s own words: by test with `-v` or `-rA`, else by file. */
const readPytest: Reader = (lines) => {
  const results: TestResult[] = [];
  const files: TestResult[] = [];
  for (const line of lines) {
    const verbose = /^(\S+::.+?) (PASSED|FAILED|ERROR|SKIPPED|XFAIL)\b/.exec(line);
    const summary = /^(PASSED|FAILED|ERROR) (\S+::\S+)(?: - (.*))?$/.exec(line);
    const file = /^(\S+\.py) ([.FEsxX]+)(?: +\[ *\d+%\])?$/.exec(line);
    if (verbose !== null) results.push({ name: verbose[1] ?? '', outcome: PYTEST_MARKS[verbose[2] ?? ''] ?? 'failed' });
    if (summary !== null) {
      const message = summary[3] ?? '';
      results.push({ name: summary[2] ?? '', outcome: PYTEST_MARKS[summary[1] ?? ''] ?? 'failed', message });
    }
    if (file !== null) files.push({ name: file[1] ?? '', outcome: /[FE]/.test(file[2] ?? '') ? 'failed' : 'passed' });
  }
  if (files.length === 0) return results;
  return files.map((file) => {
    const own = results.filter(({ name, message }) => message !== undefined && name.startsWith(`${file.name}::`));
    return file.outcome === 'passed' ? file : { ...file, message: own.map(({ message }) => message).join('\n') };
  });
};

const READERS: readonly Reader[] = [readJunit, readGo, readTap, readSpec, readVitest, readPytest];

/** Formats with a unique name for each test: a name that occurs twice is one test, run or reported twice. */
const RERUNNING: ReadonlySet<Reader> = new Set([readGo, readPytest]);
