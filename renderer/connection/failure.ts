import { ORPCError } from '@orpc/client';

/** What to tell a person about a failed call: the engine's own message where it gave one, with the places it named. */
export function describeFailure(error: unknown): string {
  if (error instanceof ORPCError) {
    const named = issuesOf(error).filter((issue) => !error.message.includes(issue.message));
    return [
      error.message,
      ...named.map((issue) => (issue.path === '' ? issue.message : `${issue.path} ${issue.message}`)),
    ].join(' · ');
  }
  return error instanceof Error && error.message !== ''
    ? `The answer could not be read: ${error.message}`
    : 'The answer could not be read.';
}

/** One thing wrong with an input: where (`limits.perMinute`; empty for the whole), and what is allowed there. */
export interface Issue {
  path: string;
  message: string;
  /** The same input is taken with `force`. */
  forcible?: true;
}

/** The places of the input that the engine named in refusing it. */
export function issuesOf(error: unknown): Issue[] {
  if (!(error instanceof ORPCError)) return [];
  const data: unknown = error.data;
  if (typeof data !== 'object' || data === null || !('issues' in data) || !Array.isArray(data.issues)) return [];
  return (data.issues as unknown[]).filter(isIssue);
}

function isIssue(value: unknown): value is Issue {
  return (
    typeof value === 'object' &&
    value !== null &&
    'path' in value &&
    typeof value.path === 'string' &&
    'message' in value &&
    typeof value.message === 'string'
  );
}
