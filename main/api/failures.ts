import { hasBearerCredentials, type HttpRequest } from '../base/http/message.ts';
import type { Log } from '../base/log.ts';
import { ERROR_CATALOGUE, VivariumError, type ErrorCode } from '../contract/errors.ts';
import { problemOf, type Problem } from '../model/problem.ts';
import { UnsupportedBodyError } from './media-type.ts';
import { httpDate, type Retirement } from './retirement.ts';

const REALM = 'Bearer realm="Animal Store API"';

export function failure(code: ErrorCode, message: string, headers: Problem['headers'] = []): Problem {
  // After an oversized body, closing is faster than reading up to the next request (RFC 9110 §15.5.14).
  return problemOf(code, ERROR_CATALOGUE[code].title, message, { headers, close: code === 'payload_too_large' });
}

/** 401 with its challenge. `error="invalid_token"` only if a bearer token was sent (RFC 6750 §3.1). */
export function unauthorized({ headers: { authorization } }: Pick<HttpRequest, 'headers'>): Problem {
  if (hasBearerCredentials(authorization)) {
    return failure(
      'unauthorized',
      'The API key is not valid for this project, or was revoked; create one in the app under Keys and limits.',
      ['WWW-Authenticate', `${REALM}, error="invalid_token"`],
    );
  }
  return failure('unauthorized', 'Send your API key with the request: "Authorization: Bearer <API_KEY>".', [
    'WWW-Authenticate',
    REALM,
  ]);
}

/** 410: the operation's sunset has passed on the app's clock. */
export function gone({ sunsetAtMs, replacement }: Retirement): Problem {
  return failure('gone', `This operation was removed on ${httpDate(sunsetAtMs)}; use ${replacement}.`);
}

export function stopping(): Problem {
  return failure('unavailable', 'Vivarium is stopping; try again once it runs.');
}

/** Converts an error of the catalogue to an answer. */
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
  return new VivariumError('internal_error', 'Vivarium failed to answer this request; its log says why.');
}
