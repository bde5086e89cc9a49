import { ORPCError } from '@orpc/client';

/** What to tell a person about a failed call: the engine's own message where it gave one, with the places it named. */
export function describeFailure(error: unknown): string {
  if (error instanceof ORPCError) return withIssues(error.message, error.data);
  return error instanceof Error && error.message !== ''
    ? `The answer could not be read: ${error.message}`
    : 'The answer could not be read.';
}

function withIssues(message: string, data: unknown): string {
  if (typeof data !== 'object' || data === null || !('issues' in data) || !Array.isArray(data.issues)) return message;
  const named = (data.issues as unknown[]).filter(isIssue).filter((issue) => !message.includes(issue.message));
  return [
    message,
    ...named.map((issue) => (issue.path === '' ? issue.message : `${issue.path} ${issue.message}`)),
  ].join(' · ');
}

function isIssue(value: unknown): value is { path: string; message: string } {
  return (
    typeof value === 'object' &&
    value !== null &&
    'path' in value &&
    typeof value.path === 'string' &&
    'message' in value &&
    typeof value.message === 'string'
  );
}
