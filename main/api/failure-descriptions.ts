import type { ErrorCode } from '../contract/errors.ts';
import type { HeaderName } from './headers.ts';
import type { FailureStatus } from './operation.ts';

interface FailureDescription {
  description: string;
  /** The code and message of an example Error body. */
  code: ErrorCode;
  message: string;
  headers: readonly HeaderName[];
}

/** The OpenAPI description of each failure. */
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
