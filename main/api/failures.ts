import { hasBearerCredentials } from '../base/http/bearer.ts';
import type { HttpRequest } from '../base/http/message.ts';
import type { Log } from '../base/log.ts';
import { ERROR_CATALOGUE, VivariumError, type ErrorCode } from '../contract/errors.ts';
import { problemOf, type Problem } from '../model/problem.ts';
import { UnsupportedBodyError } from './media-type.ts';
import { httpDate, type Retirement } from './retirement.ts';

const REALM = 'Bearer realm="Animal Store API"';

export function failure(code: ErrorCode, message: string, headers: Problem['headers'] = []): Problem {
  // After a body that was too large, nobody knows where the next request begins soon enough (RFC 9110 §15.5.14).
  return problemOf(code, ERROR_CATALOGUE[code].title, message, { headers, close: code === 'payload_too_large' });
}

/**
 * 401 with its challenge. `error="invalid_token"` only where a bearer token came: a client that sent none is told what
 * the scheme is, not that it did something wrong (RFC 6750 §3.1).
 */
export function unauthorized({ headers: { authorization } }: Pick<HttpRequest, 'headers'>): Problem {
  if (hasBearerCredentials(authorization)) {
    return failure(
      'unauthorized',
      'The API key is not valid for this project, or was revoked; create one in the app under API keys.',
      ['WWW-Authenticate', `${REALM}, error="invalid_token"`],
    );
  }
  return failure('unauthorized', 'Send your API key with the request: "Authorization: Bearer <API_KEY>".', [
    'WWW-Authenticate',
    REALM,
  ]);
}

/** 410: the operation's day has come on the app's clock. */
export function gone({ sunsetAtMs, replacement }: Retirement): Problem {
  return failure('gone', `This operation was removed on ${httpDate(sunsetAtMs)}; use ${replacement}.`);
}

export function stopping(): Problem {
  return failure('unavailable', 'Vivarium is stopping; try again once it runs.');
}

/** An error of the catalogue, as an answer shows it. */
export function failureOf(error: VivariumError): Problem {
  return failure(error.code, error.message, error instanceof UnsupportedBodyError ? error.accepted : []);
}

/**
 * What was thrown, as an error to answer with. Errors of the catalogue stay as they are. Any other goes to the log in
 * full, and the client learns none of it.
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
