import { bodyOf, type Answer } from '../base/http/answer.ts';
import { ERROR_CATALOGUE, type ErrorCode } from '../contract/errors.ts';
import type { RateState, Refusal } from './rate-decision.ts';

/** Why the proxy or the built-in API does not serve a request, in plain words. */
export interface Problem {
  code: ErrorCode;
  status: number;
  /** What happened, in a few words; the heading of an error page. */
  heading: string;
  /** The reason and the remedy, as plain text. */
  message: string;
  /** Whether to close the connection: the start of the next request is unclear. */
  close: boolean;
  /** Whether to list the served hostnames. */
  listServed: boolean;
  /** Flat: name, value, name, value, … */
  headers: readonly string[];
}

export function problemOf(
  code: ErrorCode,
  heading: string,
  message: string,
  more: Partial<Pick<Problem, 'close' | 'listServed' | 'headers'>> = {},
): Problem {
  const { status } = ERROR_CATALOGUE[code];
  return { code, status, heading, message, close: false, listServed: false, headers: [], ...more };
}

/** The Error body of the specification. */
export const errorText = ({ code, message, status }: Pick<Problem, 'code' | 'message' | 'status'>): string =>
  JSON.stringify({ code, message, status });

/** The answer to a problem, with its own header fields only. */
export function problemAnswer(problem: Problem): Answer {
  const { status, close, headers } = problem;
  return { status, body: bodyOf(errorText(problem)), headers, close };
}

/** 429: the plan's requests are used up, or the API key is banned. */
export const refusedByLimit = ({ code, message, retryAfterSeconds }: Refusal): Problem =>
  problemOf(code, code === 'api_key_banned' ? 'The API key is banned' : 'Too many requests', message, {
    headers: ['Retry-After', String(retryAfterSeconds)],
  });

/** The names of all rate headers, in lower case; an upstream's would contradict ours. */
export const RATE_FIELDS: ReadonlySet<string> = new Set([
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'ratelimit',
  'ratelimit-policy',
]);

/** The rate headers, name, value, … */
export const rateFields = (rate: RateState): readonly string[] => rate.fields ?? specifiedRateFields(rate, 0);

/**
 * The rate headers of the specification. The reset is in Unix seconds of real time, which the app's clock is ahead of
 * by `offsetMs`; rounded up, so a client that waits for it is never too early.
 */
export const specifiedRateFields = ({ limit, remaining, resetAtMs }: RateState, offsetMs: number): string[] => [
  'X-RateLimit-Limit',
  String(limit),
  'X-RateLimit-Remaining',
  String(remaining),
  'X-RateLimit-Reset',
  String(Math.ceil((resetAtMs - offsetMs) / 1000)),
];
