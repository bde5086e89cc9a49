export interface Result {
  title: string;
  /** `skipped`: an earlier step failed. */
  outcome: 'passed' | 'failed' | 'skipped';
  /** Why it failed, in sentences. */
  reasons: readonly string[];
}

export interface Report {
  /** The file name as given. */
  file: string;
  /** The command that repeats the rehearsal. */
  command: string;
  steps: readonly Result[];
  expectations: readonly Result[];
}

const MARKS = { passed: '✓', failed: '✗', skipped: '-' } as const;

export const hasFailed = ({ steps, expectations }: Report): boolean =>
  [...steps, ...expectations].some(({ outcome }) => outcome === 'failed');

/** Text for people: one line per result, followed by the reasons of a failure. The command to repeat comes first. */
export function formatReport(report: Report): string {
  const { file, command, steps, expectations } = report;
  const groups = [steps, expectations].filter(({ length }) => length > 0).map((group) => group.flatMap(linesOf));
  return [
    ...(hasFailed(report) ? [`Repeat it with: ${command}`, ''] : []),
    file,
    '',
    ...groups.flatMap((lines) => [...lines, '']),
    `${summarize(report)}\n`,
  ].join('\n');
}

const linesOf = ({ title, outcome, reasons }: Result): string[] => [
  `  ${MARKS[outcome]} ${title}`,
  ...reasons.map((reason) => `      ${reason}`),
];

/** `3 passed, 1 failed, 2 not run`. */
function summarize(report: Report): string {
  const { passed, failed, skipped } = counts(report);
  return `${passed} passed, ${failed} failed${skipped === 0 ? '' : `, ${skipped} not run`}`;
}

function counts({ steps, expectations }: Report): Record<Result['outcome'], number> {
  const all = [...steps, ...expectations];
  const count = (outcome: Result['outcome']) => all.filter((result) => result.outcome === outcome).length;
  return { passed: count('passed'), failed: count('failed'), skipped: count('skipped') };
}

/** For programs: the results with their counts. */
export const reportJson = (report: Report): object => ({ ...report, ...counts(report) });

/** A Markdown table for a pull request or a job summary. */
export function formatMarkdown(report: Report): string {
  const { file, command, steps, expectations } = report;
  const rows = [...steps, ...expectations].map(
    ({ title, outcome, reasons }) => `| ${MARKS[outcome]} | ${cell(title)} | ${cell(reasons.join('; '))} |`,
  );
  return [
    `## ${markdown(file)}: ${summarize(report)}`,
    '',
    ...(hasFailed(report) ? [`Repeat it with: ${code(command)}`, ''] : []),
    '| | Step or expectation | Found |',
    '|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

/** A cell of a Markdown table. */
export const cell = (text: string): string => markdown(text.replaceAll(/\s+/g, ' '));

/** Escapes Markdown (CommonMark 2.4). */
const markdown = (text: string): string => text.replaceAll(/[\\`*_{}[\]<>#|~&!]/g, '\\$&');

/** Formats any text as a code span (CommonMark 6.1). */
export function code(text: string): string {
  const fence = '`'.repeat(Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length)) + 1);
  return `${fence} ${text} ${fence}`;
}

export interface Suite {
  name: string;
  results: readonly Result[];
}

/** JUnit XML for CI, with one suite for steps and one for expectations. */
export const formatJunit = ({ file, command, steps, expectations }: Report): string =>
  formatSuites(file, command, [
    { name: `${file}: steps`, results: steps },
    { name: `${file}: expectations`, results: expectations },
  ]);

/** JUnit XML of any suites. Times are omitted, because they vary. */
export function formatSuites(file: string, command: string, suites: readonly Suite[]): string {
  const count = (results: readonly Result[], outcome: Result['outcome']) =>
    results.filter((result) => result.outcome === outcome).length;
  const all = suites.flatMap(({ results }) => results);
  const lines = suites.flatMap(({ name, results }) => {
    const counted = `failures="${count(results, 'failed')}" skipped="${count(results, 'skipped')}"`;
    return [
      `  <testsuite name="${xml(name)}" tests="${results.length}" ${counted}>`,
      ...results.flatMap((result) => caseOf(file, command, result)),
      '  </testsuite>',
    ];
  });
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="${xml(file)}" tests="${all.length}" failures="${count(all, 'failed')}">`,
    ...lines,
    '</testsuites>',
    '',
  ].join('\n');
}

function caseOf(file: string, command: string, { title, outcome, reasons }: Result): string[] {
  const start = `    <testcase classname="${xml(file)}" name="${xml(title)}"`;
  if (outcome === 'passed') return [`${start}/>`];
  if (outcome === 'skipped') return [`${start}><skipped/></testcase>`];
  const detail = xml([`Repeat it with: ${command}`, ...reasons].join('\n'));
  return [`${start}><failure message="${xml(reasons[0] ?? '')}">${detail}</failure></testcase>`];
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Escapes text for XML 1.0, which excludes most control characters (section 2.2). */
const xml = (text: string): string =>
  text
    // oxlint-disable-next-line no-control-regex -- these are the characters that XML cannot have
    .replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
    .replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
