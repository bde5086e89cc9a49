import type { Answer } from '../base/http/answer.ts';
import { hasBearerCredentials, type HttpRequest } from '../base/http/message.ts';
import type { Log } from '../base/log.ts';
import { ERROR_CATALOGUE, type ErrorCode, internalError, VivariumError } from '../contract/errors.ts';
import { problemAnswer, problemOf, type Problem } from '../model/problem.ts';
import { type HeaderName, UnsupportedBodyError, httpDate, type Retirement } from './headers.ts';
import type { FailureStatus } from './operation.ts';

const REALM = 'Bearer realm="Animal Store API"';

export function failure(code: ErrorCode, message: string, headers: Problem['headers'] = []): Problem {
  // After an oversized body, closing is faster than reading up to the next request (RFC 9110 §15.5.14).
  return problemOf(code, ERROR_CATALOGUE[code].title, message, { headers, close: code === 'payload_too_large' });
}

/** Refuses one kind of credentials; made once, since a client that has no valid key repeats its request. */
const refusedCredentials = (message: string, challenge: string): Answer =>
  problemAnswer(failure('unauthorized', message, ['WWW-Authenticate', challenge]));

const NO_CREDENTIALS = refusedCredentials(
  'Send your API key with the request: "Authorization: Bearer <API_KEY>".',
  REALM,
);

const INVALID_KEY = refusedCredentials(
  'The API key is not valid for this project, or was revoked; create one in the app under Keys and limits.',
  `${REALM}, error="invalid_token"`,
);

/** 401 with its challenge. `error="invalid_token"` only if a bearer token was sent (RFC 6750 §3.1). */
export const unauthorized = ({ headers: { authorization } }: Pick<HttpRequest, 'headers'>): Answer =>
  hasBearerCredentials(authorization) ? INVALID_KEY : NO_CREDENTIALS;

/** 410: the operation's sunset has passed on the app's clock. */
export function gone({ sunsetAtMs, replacement }: Retirement): Problem {
  return failure('gone', `This operation was removed on ${httpDate(sunsetAtMs)}; use ${replacement}.`);
}

export function stopping(): Problem {
  return failure('unavailable', 'Vivarium is stopping; try again once it runs.');
}

export function failureOf(error: VivariumError): Problem {
  return failure(error.code, error.message, error instanceof UnsupportedBodyError ? error.accepted : []);
}

/**
 * Converts anything thrown to an error to answer with. Errors of the catalogue are kept; the details of any other go
 * only to the log.
 */
export function thrown(error: unknown, { method, url }: Pick<HttpRequest, 'method' | 'url'>, log: Log): VivariumError {
  const fields = { error, method, path: url };
  if (error instanceof VivariumError) {
    if (error.status >= 500) log.warn('The API could not answer a request', fields);
    return error;
  }
  log.error('The API failed to answer a request', fields);
  return internalError('Vivarium failed to answer this request; its log says why.');
}

interface FailureDescription {
  description: string;
  /** The code and message of an example Error body. */
  code: ErrorCode;
  message: string;
  headers: readonly HeaderName[];
}

export const FAILURES: Readonly<Record<FailureStatus, FailureDescription>> = {
  400: {
    description:
      'Body is missing required fields or contains invalid values, or a parameter is not acceptable; the message names the field and what is allowed.',
    code: 'invalid_request',
    message: 'The query is not acceptable: "limit" must be a whole number from 1 to 100, in plain decimal digits.',
    headers: [],
  },
  401: {
    description: 'Missing or invalid API key.',
    code: 'unauthorized',
    message: 'Send your API key with the request: "Authorization: Bearer <API_KEY>".',
    headers: ['WWW-Authenticate'],
  },
  404: {
    description: 'The requested resource could not be found.',
    code: 'not_found',
    message: 'There is no pet with the id 42; GET /pets lists those there are.',
    headers: [],
  },
  410: {
    description: 'The operation has been removed.',
    code: 'gone',
    message: 'This operation was removed on Thu, 05 Dec 2030 00:00:00 GMT; use GET /pets with a status filter.',
    headers: [],
  },
  413: {
    description: 'The body is larger than 1 MiB.',
    code: 'payload_too_large',
    message: 'The body is larger than 1,048,576 bytes; a pet needs far less.',
    headers: [],
  },
  415: {
    description:
      'The body is not unencoded application/json in UTF-8; Accept or Accept-Encoding names what is supported.',
    code: 'unsupported_media_type',
    message: 'The body has no Content-Type; send it with "Content-Type: application/json".',
    headers: ['Accept', 'Accept-Encoding'],
  },
  429: {
    description:
      'Rate limit exceeded (code rate_limit_exceeded), or the API key is banned for a while because it kept sending requests after refusals (code api_key_banned). Wait for Retry-After, with exponential backoff.',
    code: 'rate_limit_exceeded',
    message: 'The plan allows 60 requests per minute; wait 42 seconds.',
    headers: ['Retry-After'],
  },
  500: {
    description: 'The server failed.',
    code: 'internal_error',
    message: 'Vivarium failed to answer this request; its log says why.',
    headers: [],
  },
  503: {
    description: 'The server is stopping, or not ready yet.',
    code: 'unavailable',
    message: 'Vivarium is stopping; try again once it runs.',
    headers: [],
  },
};
