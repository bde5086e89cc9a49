import { code, escaped, table } from '../contract/reports.ts';
import { formatSuites, type Result } from '../base/text/junit.ts';

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
  const rows = [...steps, ...expectations].map(({ title, outcome, reasons }) => [
    MARKS[outcome],
    title,
    reasons.join('; '),
  ]);
  return [
    `## ${escaped(file)}: ${summarize(report)}`,
    '',
    ...(hasFailed(report) ? [`Repeat it with: ${code(command)}`, ''] : []),
    ...table(['', 'Step or expectation', 'Found'], rows),
    '',
  ].join('\n');
}

/** JUnit XML for CI, with one suite for steps and one for expectations. */
export const formatJunit = ({ file, command, steps, expectations }: Report): string =>
  formatSuites(file, command, [
    { name: `${file}: steps`, results: steps },
    { name: `${file}: expectations`, results: expectations },
  ]);
