import { VivariumError, type InputIssue } from '../contract/errors.ts';

/** The requested parameters, decoded, and issues with their form. */
export interface QueryText {
  values: Record<string, string>;
  issues: readonly InputIssue[];
}

/**
 * Reads the parameters called `names` from a query (without its question mark), in the format of HTML forms and
 * URLSearchParams: `+` is a space, and a parameter without `=` is empty. Others are ignored. A repeated parameter is
 * ambiguous, so it is an issue.
 * @throws VivariumError `invalid_request` if a percent-encoding is malformed or is not UTF-8.
 */
export function readQueryText(text: string, names: readonly string[]): QueryText {
  const values: Record<string, string> = {};
  const issues: InputIssue[] = [];
  for (const part of text.split('&')) {
    if (part === '') continue;
    const equals = part.indexOf('=');
    const name = decode(equals < 0 ? part : part.slice(0, equals));
    const value = decode(equals < 0 ? '' : part.slice(equals + 1));
    if (!names.includes(name)) continue;
    if (Object.hasOwn(values, name)) issues.push({ path: name, message: 'was given more than once; send it once' });
    values[name] = value;
  }
  return { values, issues };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw new VivariumError(
      'invalid_request',
      'The query has a malformed percent-encoding; write % itself as %25, and other characters as UTF-8.',
    );
  }
}
