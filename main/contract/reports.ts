/** The words of reports about API clients, and their Markdown. Without schemas, because the page uses them too. */
import { MANNERS } from './grades.ts';
import type { GradedCaller, MannersFinding, MannersReport } from './manners.ts';

/** A caller in words: its key or address, and its User-Agent. */
export function callerTitle({ caller, key, userAgent }: Pick<GradedCaller, 'caller' | 'key' | 'userAgent'>): string {
  const named = key === undefined || key.name === '' ? caller.replace(/^\w+:/, '') : key.name;
  return `${named}, ${userAgent === '' ? 'no User-Agent' : userAgent}`;
}

/** What came of a rule, in words: `8 of 9 kept`. */
export const keptText = ({ seen, kept }: Pick<MannersFinding, 'seen' | 'kept'>): string =>
  seen === 0 ? 'not seen' : `${kept} of ${seen} kept`;

const MARKS = { kept: '✓', broken: '✗', not_seen: '–' } as const;

/** The report as Markdown, for a pull request. */
export function mannersMarkdown({ callers }: Pick<MannersReport, 'callers'>): string {
  if (callers.length === 0) return 'No API client has sent requests.\n';
  const parts = callers.map((each) => {
    const rows = each.rules.map((found) => [MARKS[found.verdict], MANNERS[found.rule][0], keptText(found)]);
    return [
      `### ${each.grade ?? 'No grade'}: ${escaped(callerTitle(each))}`,
      '',
      `${each.requests} requests, ${each.calls} calls.`,
      '',
      ...table(['', 'Rule', ''], rows),
      '',
    ].join('\n');
  });
  return parts.join('\n');
}

/** Text in one line that Markdown does not read (CommonMark 2.4). */
export const escaped = (text: string): string =>
  text.replaceAll(/[\\`*_{}[\]<>#|~&!]/g, '\\$&').replaceAll(/\s+/g, ' ');

/** Formats any text as a code span (CommonMark 6.1). */
export function code(text: string): string {
  const fence = '`'.repeat(Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length)) + 1);
  return `${fence} ${text} ${fence}`;
}

/** The lines of a table; what is in its rows is escaped. */
export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string[] => [
  `|${head.map((cell) => ` ${cell} `.replace('  ', ' ')).join('|')}|`,
  `|${'---|'.repeat(head.length)}`,
  ...rows.map((cells) => `| ${cells.map(escaped).join(' | ')} |`),
];
