/** The report of API clients in words. Without schemas, because the page uses it too. */
import { MANNERS } from './manners-rules.ts';
import type { GradedCaller, MannersFinding, MannersReport } from './manners.ts';
import { escaped, table } from './markdown.ts';

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
