import type { Examination, RowVerdict } from '../contract/examine.ts';
import { formatSuites, type Result, type Suite } from '../base/text/junit.ts';
import { code, escaped, table } from '../contract/reports.ts';
import { expectedText, missedText, placeOf, type Verdict, VERDICTS as WORDS } from '../contract/grades.ts';

const ORDER: readonly Verdict[] = ['survived', 'failed_as_it_should', 'wrong', 'hung', 'not_met'];

/** The commands and the tests that a report is about. */
export interface About {
  subject: string;
  /** The command that repeats the examination. */
  repeat: string;
  /** How many rows there would be, where the user has interrupted it. */
  interruptedOf?: number;
}

/** Whether a row has a verdict that it must not have. */
export const hasFailed = ({ rows }: Examination): boolean => rows.some(({ unexpected }) => unexpected === true);

const markOf = ({ unexpected, verdict }: RowVerdict): string => (unexpected ? '✗' : verdict === 'not_met' ? '-' : '✓');

/** Why, in sentences: about the run, and about each test that did not survive. */
const reasonsOf = ({ expected, message, tests }: RowVerdict): string[] => [
  ...(expected === undefined ? [] : [`expected: ${expectedText(expected)}`]),
  ...(message === undefined ? [] : [message]),
  ...tests
    .filter((test) => test.verdict !== 'survived' && test.message !== message)
    .map((test) => `${test.name}: ${test.message ?? WORDS[test.verdict]}`),
];

/** `8 survived, 2 failed as it should, 1 wrong, 0 hung, 1 not met`, and what is not as expected. */
const summarize = ({ rows }: Examination): string =>
  ORDER.map((verdict) => `${rows.filter((row) => row.verdict === verdict).length} ${WORDS[verdict]}`).join(', ') +
  missedText(rows);

const NONE_MET =
  'No row was met, so nothing is known: your tests must send their requests to VIVARIUM_URL or another hostname.';

const interruption = ({ rows }: Examination, { interruptedOf: total }: About): string[] =>
  total === undefined ? [] : [`Interrupted after ${rows.length} of ${total} ${total === 1 ? 'row' : 'rows'}`];

const leftOut = ({ calm }: Examination): string[] =>
  calm.left.map(({ name, why }) => `Left out: ${name} (${why} without faults)`);

function headOf(examination: Examination, about: About): string[] {
  const { calm, rows, table, seed, of } = examination;
  const part = of === undefined ? '' : ` (${about.interruptedOf ?? rows.length} of ${of} rows)`;
  const tests = `${calm.tests} ${calm.tests === 1 ? 'test' : 'tests'}`;
  return [
    `${about.subject}: ${tests}, ${(calm.ms / 1_000).toFixed(1)} s without faults; table ${table}${part}, seed ${seed}`,
    ...interruption(examination, about),
    ...leftOut(examination),
    ...(rows.every(({ verdict }) => verdict === 'not_met') ? [NONE_MET] : []),
  ];
}

/** Text for people: the command that repeats it, a line for each row, and the reasons. */
export function formatExamination(examination: Examination, about: About): string {
  const cells = examination.rows.map((row) => [row.row, WORDS[row.verdict], placeOf(row.placedOn)]);
  const widths = [0, 1].map((column) => Math.max(0, ...cells.map((each) => each[column]?.length ?? 0)));
  const lines = examination.rows.flatMap((row, index) => {
    const [name = '', verdict = '', place = ''] = cells[index] ?? [];
    const line =
      `  ${markOf(row)} ${name.padEnd(widths[0] ?? 0)}  ${verdict.padEnd(widths[1] ?? 0)}  ${place}`.trimEnd();
    const again = row.unexpected === true ? [`Repeat it with: ${row.repeat}`] : [];
    return [line, ...[...reasonsOf(row), ...again].map((reason) => `      ${reason}`)];
  });
  return [
    `Repeat it with: ${about.repeat}`,
    '',
    ...headOf(examination, about),
    '',
    ...lines,
    '',
    `${summarize(examination)}\n`,
  ].join('\n');
}

/** A Markdown table for a pull request. */
export function formatMarkdown(examination: Examination, about: About): string {
  const rows = examination.rows.map((row) => [
    ...[markOf(row), row.row, placeOf(row.placedOn), WORDS[row.verdict]],
    reasonsOf(row).join(' · '),
  ]);
  return [
    `Repeat it with: ${code(about.repeat)}`,
    '',
    `## ${escaped(about.subject)}: ${summarize(examination)}`,
    '',
    ...headOf(examination, about)
      .slice(1)
      .map((line) => `${escaped(line)}\n`),
    ...table(['', 'Row', 'Placed on', 'Verdict', 'Found'], rows),
    '',
  ].join('\n');
}

/**
 * JUnit XML: a suite for each row, in which the first case is the row and the others are the tests; an interruption
 * fails, and tests that were left out are skipped.
 */
export const formatJunit = (examination: Examination, about: About): string =>
  formatSuites(about.subject, about.repeat, [
    ...interruption(examination, about).map((said) => ({
      name: 'interruption',
      results: [{ title: said, outcome: 'failed' as const, reasons: [said] }],
    })),
    ...(examination.calm.left.length === 0 ? [] : [leftSuite(examination)]),
    ...examination.rows.map((row) => ({
      name: row.row,
      results: [
        {
          title: `${row.row}: ${WORDS[row.verdict]}`,
          outcome: row.unexpected === true ? 'failed' : outcomeOf(row, row.verdict),
          reasons: reasonsOf(row),
        },
        ...row.tests.map((test) => ({
          title: test.name,
          outcome: outcomeOf(row, test.verdict),
          reasons: test.message === undefined ? [] : [test.message],
        })),
      ],
    })),
  ]);

const leftSuite = (examination: Examination): Suite => ({
  name: 'without faults',
  results: leftOut(examination).map((title) => ({ title, outcome: 'skipped', reasons: [title] })),
});

function outcomeOf({ unexpected }: RowVerdict, verdict: Verdict): Result['outcome'] {
  if (unexpected === true && (verdict === 'wrong' || verdict === 'hung')) return 'failed';
  return verdict === 'not_met' ? 'skipped' : 'passed';
}
