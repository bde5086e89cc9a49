import type { DoctorCheck, DoctorReport, DoctorStatus } from '../contract/doctor.ts';
import { columns, printable, type Renderer, type Style, widthOf, wrap } from './text.ts';
import { withCommandLines } from './command-line.ts';

/** Least urgent first: the terminal shows the end of the report right above the prompt. */
const ORDER: readonly DoctorStatus[] = ['skipped', 'ok', 'warning', 'failed'];

const NAMES: Record<DoctorStatus, readonly [one: string, more: string]> = {
  failed: ['failed', 'failed'],
  warning: ['warning', 'warnings'],
  ok: ['ok', 'ok'],
  skipped: ['skipped', 'skipped'],
};

/** Renders a report as text: one line for each check that passed, full details for the others. */
export function renderReport(report: DoctorReport, { style, width }: Renderer): string {
  const of = (status: DoctorStatus): DoctorCheck[] => report.checks.filter((check) => check.status === status);
  const quiet = [...of('ok'), ...of('skipped')];
  const loud = [...of('warning'), ...of('failed')];
  return [
    ...quietLines(quiet, style, width),
    ...loud.flatMap((check) => ['', ...section(check, style, width)]),
    '',
    ...wrap(summary(report), width).map((line) => style.heading(line)),
    '',
  ].join('\n');
}

const INDENT = '    ';

/** Evidence that has less room than this beside the titles goes below them. */
const EVIDENCE_WIDTH_MIN = 24;

function quietLines(checks: readonly DoctorCheck[], style: Style, width: number | null): string[] {
  const heads = columns(checks.map(({ status, title }) => [status, printable(title)]));
  const beside = Math.max(0, ...heads.map(widthOf)) + 2;
  const isBelow = width !== null && width - beside < EVIDENCE_WIDTH_MIN;
  const margin = isBelow ? INDENT : ' '.repeat(beside);
  return checks.flatMap(({ status, evidence: [evidence = ''] }, index) => {
    const head = heads[index] ?? '';
    const [first = '', ...rest] = wrap(printable(evidence), width === null ? null : width - margin.length);
    const lines = isBelow ? [head, margin + first] : [head + ' '.repeat(beside - widthOf(head)) + first];
    const shown = [...lines, ...rest.map((line) => margin + line)].map((line) => line.trimEnd());
    return shown
      .filter((line) => line !== '')
      .map((line, place) => (place === 0 ? style.word(status) + line.slice(status.length) : line));
  });
}

function section(
  { status, title, evidence, fix, commands, otherwise }: DoctorCheck,
  style: Style,
  width: number | null,
): string[] {
  const indented = (text: string, first = INDENT, rest = INDENT): string[] =>
    wrap(printable(text), width === null ? null : width - INDENT.length).map(
      (line, index) => (index === 0 ? first : rest) + line,
    );
  return [
    `${style.word(status)}  ${style.heading(printable(title))}`,
    ...evidence.flatMap((line) => indented(line)),
    ...(fix === undefined ? [] : indented(withCommandLines(fix), '  → ')),
    // Not wrapped, to keep them copyable.
    ...(commands?.split('\n').map((line) => `${INDENT}${INDENT}${printable(line)}`) ?? []),
    ...(otherwise === undefined ? [] : [`${INDENT}or`, `${INDENT}${INDENT}${printable(otherwise)}`]),
  ];
}

function summary({ counts }: DoctorReport): string {
  const parts = [...ORDER]
    .reverse()
    .filter((status) => counts[status] > 0)
    .map((status) => `${counts[status]} ${NAMES[status][counts[status] === 1 ? 0 : 1]}`);
  return `${counts.failed === 0 ? 'Nothing failed' : 'Problems found'}: ${parts.join(', ')}.`;
}
