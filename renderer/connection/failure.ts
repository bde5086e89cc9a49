import { ORPCError } from '@orpc/client';
import { isReading } from '../../main/contract/calls.ts';
import { ConnectionLostError, isUnknown } from './transport.ts';

/** A sentence that ends in the call that does what it says: ` List them: `projects.list`.` */
const STEP = /(^| )([A-Z][^.:`]*): `([a-zA-Z]+\.[a-zA-Z]+)(?: \{[^`]*\})?`\./g;

/**
 * A message without the calls of its next steps: the page has buttons for those that change something, and shows what
 * the others would read.
 */
const withoutSteps = (message: string): string =>
  message.replaceAll(STEP, (_, before: string, step: string, call: string) =>
    isReading(call) ? '' : `${before}${step}.`,
  );

/** Code, which keeps its quotes; or quoted words of a sentence, unlike the value of a CAA record or a name in JSON. */
const QUOTED = /`[^`]*`|(?<![^\s(])(?<!\b\d{1,3} [a-z]+ )"([^"\n]+)"(?!:)/g;

/** An engine message as the page words it: without calls of its next steps and final dots of names, in curly quotes. */
export const inPageWords = (message: string): string =>
  withoutSteps(message)
    .replaceAll(/\.(?= CAA \d)/g, '')
    .replaceAll(QUOTED, (whole, words?: string) => (words === undefined ? whole : `“${words}”`));

const inPlainText = (message: string): string => inPageWords(message).replaceAll(/`([^`]+)`/g, '$1');

/** The message for a failed call: the engine's own if there is one, with the input paths it named. */
export function describeFailure(error: unknown): string {
  if (error instanceof ORPCError) {
    const named = issuesOf(error).filter((issue) => !inPlainText(error.message).includes(issue.message));
    return [
      inPlainText(error.message),
      ...named.map((issue) => (issue.path === '' ? issue.message : `${issue.path} ${issue.message}`)),
    ].join(' · ');
  }
  if (error instanceof ConnectionLostError) return error.message;
  return error instanceof Error && error.message !== ''
    ? `The answer could not be read: ${error.message}`
    : 'The answer could not be read.';
}

/** A failure's message after `title`, which says what was not done; without it when that is not known. */
export const withTitle = (title: string, message: string): string =>
  isUnknown(message) ? message : `${title} ${message}`;

export const titledFailure = (title: string, error: unknown): string => withTitle(title, describeFailure(error));

/** One fault of an input: its path (`limits.perMinute`; empty for the whole input) and the allowed values. */
export interface Issue {
  path: string;
  message: string;
  /** The engine accepts the same input with `force`. */
  forcible?: true;
}

/** The faults that the engine's refusal lists. */
export function issuesOf(error: unknown): Issue[] {
  if (!(error instanceof ORPCError)) return [];
  const data: unknown = error.data;
  if (typeof data !== 'object' || data === null || !('issues' in data) || !Array.isArray(data.issues)) return [];
  return (data.issues as unknown[]).filter(isIssue).map((issue) => ({ ...issue, message: inPlainText(issue.message) }));
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
