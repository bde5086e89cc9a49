import { withCommandLines, type OwnCommand } from './command-line.ts';
import { flagAt, type Field } from './fields.ts';
import type { Failure } from './io.ts';

/** An engine's error in the words of the command line: the input's places as options, calls as command lines. */
export function failureText({ message, issues = [] }: Failure, fields: readonly Field[], own?: OwnCommand): string {
  const named = issues.reduce((text, { path }) => {
    const flag = flagAt(path, fields);
    return flag === path ? text : text.replace(placeOf(path), (_whole, before: string) => `${before}${flag}`);
  }, message);
  return withCommandLines(named, own);
}

/** Where a message begins a sentence or a part of one with a path, as `summarizeIssues` and the services write it. */
const placeOf = (path: string): RegExp => new RegExp(`(^|; |\\. )${path.replace(/[[\].]/g, '\\$&')}(?=:? )`);
