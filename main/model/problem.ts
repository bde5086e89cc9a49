import { bodyOf, type Answer } from '../base/http/answer.ts';
import { ERROR_CATALOGUE, type ErrorCode } from '../contract/errors.ts';
import type { RateState, Refusal } from './rate-decision.ts';

/** Why a request is not served, in words for a person: by the proxy itself, or by the built-in API. */
export interface Problem {
  code: ErrorCode;
  status: number;
  /** What happened, in a few words; for a page. */
  heading: string;
  /** Why, and what to change. Plain text. */
  message: string;
  /** Whether the connection cannot be used any more: it is unclear where the next request begins. */
  close: boolean;
  /** Whether the hostnames that are served are listed with it. */
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

/** The rate headers of the specification, name, value, … */
export const rateFields = ({ limit, remaining, resetSeconds }: RateState): string[] => [
  'X-RateLimit-Limit',
  String(limit),
  'X-RateLimit-Remaining',
  String(remaining),
  'X-RateLimit-Reset',
  String(resetSeconds),
];
