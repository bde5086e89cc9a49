import { code, escaped, table } from '../contract/reports.ts';
import { formatSuites, type Result } from '../base/text/junit.ts';
import { iso } from '../contract/values.ts';
import { type Course, type Dark, darkOf, spanOf, EVENTS, type Year, type YearEvent } from './renewals/course.ts';

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

/** A year of renewals: the request and its result. */
export interface Renewals {
  /** The command that repeats it. */
  command: string;
  profile: string;
  year: Year;
  courses: readonly Course[];
  /** The longest period for which a name may be dark. */
  darkMsMax: number;
}

/** Dark times listed per client; the JSON contains all. */
const DARK_SHOWN = 12;

/** To the minute: `2028-02-16 07:00`. */
const moment = (epochMs: number): string => iso(epochMs).slice(0, 16).replace('T', ' ');

const longest = (dark: readonly Dark[]): number => Math.max(0, ...dark.map(({ fromMs, toMs }) => toMs - fromMs));

/** The report in a file's form: events are steps, and each client is expected to keep its names from going dark. */
export function reportOf({ command, profile, year, courses, darkMsMax }: Renewals): Report {
  return {
    file: `Renewals from ${moment(year.fromMs)} to ${moment(year.toMs)} (UTC), profile ${profile}`,
    command,
    steps: year.events
      .toSorted((one, other) => one.fromMs - other.fromMs)
      .map((event) => ({ title: describeEvent(event), outcome: 'passed', reasons: [] })),
    expectations: courses.map((course) => {
      const dark = darkOf(course, year);
      const left = dark.length - DARK_SHOWN;
      return {
        title: `${course.names.join(', ')}: ${course.client}: ${countsOf(course)}, ${darkness(dark)}`,
        outcome: longest(dark) > darkMsMax ? 'failed' : 'passed',
        reasons: [
          ...(dark.length === 0 ? [] : [`The client ${course.about}.`]),
          ...dark.slice(0, DARK_SHOWN).map((each) => describeDark(each, year)),
          ...(left > 0 ? [`${left.toLocaleString('en')} more times; --json lists all.`] : []),
        ],
      };
    }),
  };
}

function describeEvent({ kind, fromMs, toMs, name }: YearEvent): string {
  const until = toMs > fromMs ? ` to ${moment(toMs)}` : '';
  return `${moment(fromMs)}${until}: ${EVENTS[kind].title}${name === undefined ? '' : ` (${name})`}`;
}

function countsOf({ held, attempts }: Course): string {
  const failed = attempts.filter(({ failure }) => failure !== null).length;
  const renewals = held.length - 1;
  const text = `${renewals.toLocaleString('en')} ${renewals === 1 ? 'renewal' : 'renewals'}`;
  return failed === 0 ? text : `${text}, ${failed.toLocaleString('en')} failed`;
}

function darkness(dark: readonly Dark[]): string {
  if (dark.length === 0) return 'never dark';
  const totalMs = dark.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0);
  return dark.length === 1 ? `dark for ${spanOf(totalMs)}` : `dark ${dark.length} times, for ${spanOf(totalMs)} in all`;
}

function describeDark({ fromMs, toMs, why, remedy }: Dark, year: Year): string {
  const until = toMs === year.toMs ? 'the end' : moment(toMs);
  return `Dark from ${moment(fromMs)} to ${until} (${spanOf(toMs - fromMs)}). ${why} ${remedy}`;
}

/** For programs. Times are on the app's clock, lengths in seconds. */
export function jsonOf({ command, profile, year, courses, darkMsMax }: Renewals): object {
  return {
    command,
    profile,
    from: iso(year.fromMs),
    to: iso(year.toMs),
    events: year.events.map(({ kind, fromMs, toMs, name }) => ({
      ...{ event: kind, from: iso(fromMs), to: iso(toMs) },
      ...(name !== undefined && { name }),
    })),
    clients: courses.map((course) => {
      const dark = darkOf(course, year);
      const { client, names, held, attempts } = course;
      return {
        ...{ client, names, renewals: held.length - 1 },
        failed: attempts
          .filter(({ failure }) => failure !== null)
          .map(({ atMs, failure, problem }) => ({
            at: iso(atMs),
            reason: failure,
            ...(problem !== null && { problem }),
          })),
        dark: dark.map(({ fromMs, toMs, why, remedy }) => ({
          ...{ from: iso(fromMs), to: iso(toMs), seconds: Math.round((toMs - fromMs) / 1_000), why, remedy },
        })),
        passed: longest(dark) <= darkMsMax,
      };
    }),
  };
}
