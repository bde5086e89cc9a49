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
export const gone = ({ sunsetAtMs, replacement }: Retirement): Problem =>
  failure('gone', `This operation was removed on ${httpDate(sunsetAtMs)}; use ${replacement}.`);

export const stopping = (): Problem => failure('unavailable', 'Vivarium is stopping; try again once it runs.');

export const failureOf = (error: VivariumError): Problem =>
  failure(error.code, error.message, error instanceof UnsupportedBodyError ? error.accepted : []);

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

/** A failure in the OpenAPI document, with the code and message of an example Error body. */
const described = (code: ErrorCode, description: string, message: string, headers: readonly HeaderName[] = []) => {
  return { description, code, message, headers };
};

export const FAILURES: Readonly<Record<FailureStatus, ReturnType<typeof described>>> = {
  400: described(
    'invalid_request',
    'Body is missing required fields or contains invalid values, or a parameter is not acceptable; the message names the field and what is allowed.',
    'The query is not acceptable: "limit" must be a whole number from 1 to 100, in plain decimal digits.',
  ),
  401: described(
    'unauthorized',
    'Missing or invalid API key.',
    'Send your API key with the request: "Authorization: Bearer <API_KEY>".',
    ['WWW-Authenticate'],
  ),
  404: described(
    'not_found',
    'The requested resource could not be found.',
    'There is no pet with the id 42; GET /pets lists those there are.',
  ),
  410: described(
    'gone',
    'The operation has been removed.',
    'This operation was removed on Thu, 05 Dec 2030 00:00:00 GMT; use GET /pets with a status filter.',
  ),
  413: described(
    'payload_too_large',
    'The body is larger than 1 MiB.',
    'The body is larger than 1,048,576 bytes; a pet needs far less.',
  ),
  415: described(
    'unsupported_media_type',
    'The body is not unencoded application/json in UTF-8; Accept or Accept-Encoding names what is supported.',
    'The body has no Content-Type; send it with "Content-Type: application/json".',
    ['Accept', 'Accept-Encoding'],
  ),
  429: described(
    'rate_limit_exceeded',
    'Rate limit exceeded (code rate_limit_exceeded), or the API key is banned for a while because it kept sending requests after refusals (code api_key_banned). Wait for Retry-After, with exponential backoff.',
    'The plan allows 60 requests per minute; wait 42 seconds.',
    ['Retry-After'],
  ),
  500: described('internal_error', 'The server failed.', 'Vivarium failed to answer this request; its log says why.'),
  503: described(
    'unavailable',
    'The server is stopping, or not ready yet.',
    'Vivarium is stopping; try again once it runs.',
  ),
};
