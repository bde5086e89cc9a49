import type { DecidedCaller, MannersReport, WhatIf } from '../../contract/manners.ts';
import { callerTitle, keptText, mannersMarkdown } from '../../contract/reports.ts';
import { EVIDENCE_MAX, type Grade, GRADES, MANNERS } from '../../contract/grades.ts';
import { LIMIT_MAX } from '../../contract/projects.ts';
import { formatSuites } from '../../base/text/junit.ts';
import { counted, printable, table, type Shown } from '../text/text.ts';
import type { Calling, Deeds } from './deed.ts';
import { usageError } from './flags.ts';

const EXIT_NOT_GRADED = 2;

const inputs = { projectId: { isWord: true } } as const;

/** `manners [PROJECT]`, and `manners what-if [PROJECT]`. */
export const MANNERS_DEEDS: Deeds['manners'] = {
  report: {
    words: '',
    isAlone: true,
    isOtherwise: true,
    inputs: { ...inputs, caller: { names: 'keys.list' } },
    own: {
      min: {
        type: 'string',
        enum: [...GRADES],
        read: gradeIn,
        description: 'the least grade: exit with 1 if a caller has a lower one',
      },
      markdown: { type: 'string', isFile: true, description: 'a file for the report as Markdown' },
      junit: { type: 'string', isFile: true, description: 'a file for the report as JUnit’s XML' },
    },
    view: reportText,
    files: (report, { asked, own }) => [
      [asked['markdown'], mannersMarkdown(report)],
      [asked['junit'], junitOf(report, own(wordsOf('vivarium manners', asked)))],
    ],
    failed: [
      'a caller has a lower grade than --min; 2 if no caller has one',
      ({ callers }, { min }) => {
        const grades = callers.flatMap(({ grade }) => grade ?? []);
        if (grades.length === 0) return EXIT_NOT_GRADED;
        return min !== undefined && grades.some((grade) => GRADES.indexOf(grade) > GRADES.indexOf(min as Grade));
      },
    ],
    notes: [
      'Grades each caller, an API key or address with a User-Agent, by twelve rules over the recorded requests. A grade needs five',
      'observed rules. A: no rule broken, B one, C two, D three, F four or more. A caller that does not wait for Retry-After,',
      'does not give up or does not stop when it is refused gets a D at best; a loop that ignores Retry-After gets an F.',
    ],
    examples: [
      'vivarium manners',
      'vivarium manners demo --since 10m --min B',
      'vivarium manners demo --junit manners.xml',
    ],
  },
  whatIf: {
    inputs: {
      ...inputs,
      limits: {
        read: limitsOf,
        placeholder: '20/m,1000/d',
        does: 'the limits to decide by: requests per minute, per day or both',
      },
      // Both are parts of that.
      'limits.perMinute': { isSilent: true },
      'limits.perDay': { isSilent: true },
    },
    view: whatIfText,
    examples: ['vivarium manners what-if demo --plan free', 'vivarium manners what-if --limits 20/m,1000/d'],
  },
};

function gradeIn(texts: readonly string[]): Grade {
  const asked = texts.at(-1)?.toUpperCase();
  const grade = GRADES.find((each) => each === asked);
  if (grade === undefined) throw usageError(`--min must be one of ${GRADES.join(', ')}.`);
  return grade;
}

/** `20/m,1000/d`. */
function limitsOf(texts: readonly string[]): { perMinute: number; perDay: number } {
  const limits: { perMinute?: number; perDay?: number } = {};
  for (const part of texts.join(',').split(',')) {
    const [, count = '', unit] = /^(\d{1,15})\/(m|min|minute|d|day)$/.exec(part.trim()) ?? [];
    if (unit === undefined) throw usageError(`--limits must be such as 20/m,1000/d, not ${JSON.stringify(part)}.`);
    if (Number(count) < 1 || Number(count) > LIMIT_MAX)
      throw usageError(`--limits ${part.trim()} must have a number from 1 to ${LIMIT_MAX.toLocaleString('en')}.`);
    const name = unit.startsWith('m') ? 'perMinute' : 'perDay';
    if (limits[name] !== undefined)
      throw usageError(`--limits must have one limit ${LIMIT_WORDS[name]}, not ${texts.join(',')}.`);
    limits[name] = Number(count);
  }
  return { perMinute: LIMIT_MAX, perDay: LIMIT_MAX, ...limits };
}

const LIMIT_WORDS = { perMinute: 'per minute', perDay: 'per day' } as const;

/** A command with the project that was asked about. */
const wordsOf = (command: string, { projectId }: Calling['asked']): string =>
  typeof projectId === 'string' ? `${command} ${projectId}` : command;

function reportText({ callers, omitted, recordedSince }: MannersReport, { style, own, asked }: Shown): string {
  const marks = { kept: style.status('✓', 200), broken: style.status('✗', 500), not_seen: ' ' };
  const parts = callers.map((each) => {
    const rows = each.rules.map((found) => {
      const evidence = found.verdict === 'broken' ? evidenceOf(found.entries) : '';
      return `  ${marks[found.verdict]} ${MANNERS[found.rule][0].padEnd(28)} ${keptText(found).padEnd(16)} ${evidence}`.trimEnd();
    });
    const head = `${each.grade ?? '–'}  ${printable(callerTitle(each))}`;
    return [style.heading(head), `   ${each.requests} requests, ${each.calls} calls`, ...rows, ''].join('\n');
  });
  const ungraded = callers.filter(({ grade }) => grade === null).length;
  const notes = [
    callers.length === 0 &&
      (asked['caller'] === undefined
        ? 'No API client has sent requests.'
        : `There is no caller ${printable(JSON.stringify(asked['caller']))} among the recorded requests.`),
    ungraded > 0 &&
      `${counted(ungraded, 'caller has', 'callers have')} no grade: it needs five observed rules. Refuse its requests: a smaller plan, or a break.`,
    callers.some(({ rules }) => rules.some(({ verdict }) => verdict === 'broken')) &&
      `The requests behind a finding: ${own(`${wordsOf('vivarium traffic', asked)} --filter id:…`)}`,
    ...extentNotes(omitted, recordedSince),
  ];
  return [...parts, ...notes.filter((note) => note !== false), ''].join('\n');
}

function evidenceOf(entries: readonly string[]): string {
  const more = entries.length - 2;
  const rest = entries.length < EVIDENCE_MAX ? `${more}` : `${more} or`;
  return `id:${entries.slice(-2).join(',')}${more > 0 ? ` and ${rest} more` : ''}`;
}

function extentNotes(omitted: number, recordedSince: string | undefined): (string | false)[] {
  return [
    omitted > 0 && `${omitted} callers with fewer requests are left out.`,
    recordedSince !== undefined && `Older requests than those since ${recordedSince} (real time) were dropped.`,
  ];
}

function whatIfText({ requests, refused, bans, callers, omitted, recordedSince }: WhatIf, { asked }: Shown): string {
  const by = limitsText(asked);
  const rows = callers.map((each) => [
    nameOf(each),
    String(each.requests),
    String(each.refused),
    each.firstRefusedAt ?? '',
    each.bannedAt ?? '',
  ]);
  const notes = extentNotes(omitted, recordedSince).filter((note) => note !== false);
  return [
    `${refused} of ${requests} requests would be refused ${by}, with ${counted(bans, 'ban', 'bans')}.`,
    '',
    table(['caller', 'requests', 'refused', 'first refused', 'banned'], rows).trimEnd(),
    ...notes,
    '',
  ].join('\n');
}

/** By which limits a what-if decided. */
function limitsText({ plan, limits, projectId }: Shown['asked']): string {
  if (plan !== undefined) return `on the plan ${String(plan)}`;
  if (limits === undefined) return `by ${projectId === undefined ? 'each' : 'the'} project’s own limits`;
  const asked = Object.entries(limits as Record<keyof typeof LIMIT_WORDS, number>).filter(([, n]) => n < LIMIT_MAX);
  return `by ${asked.map(([name, n]) => `${n.toLocaleString('en')} ${LIMIT_WORDS[name as 'perDay']}`).join(' and ')}`;
}

const nameOf = ({ caller, key }: DecidedCaller): string =>
  key === undefined ? caller.replace(/^\w+:/, '') : `${key.name} ${key.prefix}…`.trimStart();

const junitOf = ({ callers }: MannersReport, command: string): string =>
  formatSuites(
    'manners',
    command,
    callers.map((each) => ({
      name: callerTitle(each),
      results: each.rules.map((found) => ({
        title: `${callerTitle(each)}: ${MANNERS[found.rule][0]}`,
        outcome: ({ kept: 'passed', broken: 'failed', not_seen: 'skipped' } as const)[found.verdict],
        reasons: [keptText(found), MANNERS[found.rule][1]],
      })),
    })),
  );
