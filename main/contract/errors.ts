/**
 * The catalogue of all reported errors: a code, its HTTP status and its meaning. Transports render them at their edge
 * (API Error body, RPC error, command line exit); no other code defines error codes.
 */
export const ERROR_CATALOGUE = {
  invalid_request: {
    status: 400,
    title: 'The input is not acceptable; the message names the field and what is allowed.',
  },
  unauthorized: { status: 401, title: 'The credentials are missing or not valid.' },
  forbidden: { status: 403, title: 'The caller is not allowed to send this request.' },
  not_found: { status: 404, title: 'Nothing of that name exists.' },
  hostname_invalid: { status: 400, title: 'The hostname cannot be attached; the message names the rule.' },
  hostname_reserved: { status: 400, title: 'The hostname is below a reserved name.' },
  plan_required: { status: 409, title: 'The project’s plan has no custom domains.' },
  deploy_required: { status: 409, title: 'The project has no successful deploy yet.' },
  in_use: { status: 409, title: 'The hostname is already attached.' },
  method_not_allowed: { status: 405, title: 'The path exists, the method does not; see the Allow header.' },
  request_timeout: { status: 408, title: 'The request did not arrive completely in time.' },
  conflict: { status: 409, title: 'The request conflicts with the current state.' },
  gone: { status: 410, title: 'The operation has been removed.' },
  payload_too_large: { status: 413, title: 'The body exceeds the maximum size.' },
  uri_too_long: { status: 414, title: 'The request target exceeds the maximum length.' },
  unsupported_media_type: { status: 415, title: 'The media type of the body is not supported.' },
  misdirected_request: { status: 421, title: 'The connection was made for another hostname.' },
  rate_limit_exceeded: { status: 429, title: 'The plan’s limit for this rate window is used up.' },
  api_key_banned: {
    status: 429,
    title: 'The API key is banned temporarily, because it kept sending requests after refusals.',
  },
  header_fields_too_large: { status: 431, title: 'The header section exceeds the maximum size.' },
  internal_error: { status: 500, title: 'Vivarium failed; see its log for the reason.' },
  bad_gateway: { status: 502, title: 'The upstream sent no valid answer.' },
  unavailable: { status: 503, title: 'Vivarium is stopping, or not ready yet.' },
  gateway_timeout: { status: 504, title: 'The upstream did not answer in time.' },
  loop_detected: { status: 508, title: 'The request has passed through this Vivarium too often.' },
} as const satisfies Record<string, { status: number; title: string }>;

export type ErrorCode = keyof typeof ERROR_CATALOGUE;

/**
 * One invalid part of an input: its path (`limits.perMinute`, `redirects[0].from`; empty for the whole) and what is
 * allowed.
 */
export interface InputIssue {
  path: string;
  message: string;
  /** The same input is accepted with `force`. */
  forcible?: true;
  /** Where it is in a text, counted from 1. */
  line?: number;
  column?: number;
}

/** An error over HTTP, and on standard error of `vivarium call`. */
export interface Failure {
  code: string;
  message: string;
  /** All invalid fields of the input; absent if there are none. */
  issues?: readonly InputIssue[];
}

/** Bounds how much of an input an error quotes, to keep the answer smaller than the request. */
export const ISSUES_MAX = 100;
const PATH_CHARACTERS_MAX = 200;
export const ISSUE_CHARACTERS_MAX = 1_000;
const MESSAGE_CHARACTERS_MAX = 10_000;

/** Cuts a text to `charactersMax` UTF-16 units, with … for the remainder. */
export const boundedText = (text: string, charactersMax: number): string =>
  text.length <= charactersMax ? text : `${text.slice(0, charactersMax)}…`;

/** An error of the catalogue with the first 100 issues. `message` tells the user what to change. */
export class VivariumError extends Error {
  override readonly name = 'VivariumError';
  readonly code: ErrorCode;
  readonly issues: readonly InputIssue[];

  constructor(code: ErrorCode, message: string, options: { issues?: readonly InputIssue[]; cause?: unknown } = {}) {
    super(boundedText(message, MESSAGE_CHARACTERS_MAX), { cause: options.cause });
    this.code = code;
    this.issues = (options.issues ?? []).slice(0, ISSUES_MAX).map((issue) => ({
      ...issue,
      path: boundedText(issue.path, PATH_CHARACTERS_MAX),
      message: boundedText(issue.message, ISSUE_CHARACTERS_MAX),
    }));
  }

  get status(): number {
    return ERROR_CATALOGUE[this.code].status;
  }
}

/** What `read` returns; `otherwise` if it throws anything. */
export function orElse<Value, Other>(read: () => Value, otherwise: Other): Value | Other {
  try {
    return read();
  } catch {
    return otherwise;
  }
}

type Options = ConstructorParameters<typeof VivariumError>[2];

export const conflict = (message: string, options?: Options) => new VivariumError('conflict', message, options);
export const notFound = (message: string, options?: Options) => new VivariumError('not_found', message, options);
export const unavailable = (message: string, options?: Options) => new VivariumError('unavailable', message, options);
export const invalidRequest = (message: string, options?: Options) =>
  new VivariumError('invalid_request', message, options);
export const internalError = (message: string, options?: Options) =>
  new VivariumError('internal_error', message, options);
