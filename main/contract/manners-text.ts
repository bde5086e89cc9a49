/** The report of API clients in words. Without schemas, because the page uses it too. */
import { MANNERS } from './manners-rules.ts';
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
    const rows = each.rules.map((found) => {
      const [title] = MANNERS[found.rule];
      return `| ${MARKS[found.verdict]} | ${title} | ${keptText(found)} |`;
    });
    return [
      `### ${each.grade ?? 'No grade'}: ${plain(callerTitle(each))}`,
      '',
      `${each.requests} requests, ${each.calls} calls.`,
      '',
      '| | Rule | |',
      '|---|---|---|',
      ...rows,
      '',
    ].join('\n');
  });
  return parts.join('\n');
}

/** Text of others, without what Markdown would read. */
const plain = (text: string): string => text.replaceAll(/[\\`*_{}[\]<>#|!&~]/g, '\\$&').replaceAll(/\s+/g, ' ');
