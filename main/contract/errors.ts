/**
 * The catalogue of everything that can go wrong and be reported: one code, its HTTP status, and what it means.
 * Transports render these at their edge (API Error body, RPC error, command line exit); nothing else invents codes.
 */
export const ERROR_CATALOGUE = {
  invalid_request: {
    status: 400,
    title: 'The input is not acceptable; the message names the field and what is allowed.',
  },
  unauthorized: { status: 401, title: 'The credentials are missing or not valid.' },
  forbidden: { status: 403, title: 'The request comes from a place that may not ask.' },
  not_found: { status: 404, title: 'There is nothing of that name here.' },
  hostname_invalid: {
    status: 400,
    title: 'The text is not a hostname that can be attached; the message has the rule.',
  },
  hostname_reserved: { status: 400, title: 'The hostname is under a name that is kept for something else.' },
  plan_required: { status: 409, title: 'The project’s plan has no custom domains.' },
  deploy_required: { status: 409, title: 'The project has no successful deploy yet.' },
  in_use: { status: 409, title: 'The hostname is attached already.' },
  method_not_allowed: { status: 405, title: 'The path exists, the method does not; see the Allow header.' },
  request_timeout: { status: 408, title: 'The request did not arrive as a whole in time.' },
  conflict: { status: 409, title: 'The request contradicts what is there already.' },
  gone: { status: 410, title: 'The operation has been removed.' },
  payload_too_large: { status: 413, title: 'The body is larger than what is read.' },
  uri_too_long: { status: 414, title: 'The request target is longer than what is read.' },
  unsupported_media_type: { status: 415, title: 'The body is not of a media type that is read.' },
  misdirected_request: { status: 421, title: 'The connection was made for another hostname.' },
  rate_limit_exceeded: { status: 429, title: 'The plan’s requests of this rate window are used up.' },
  api_key_banned: {
    status: 429,
    title: 'The API key is banned for a while, because it went on asking after refusals.',
  },
  header_fields_too_large: { status: 431, title: 'The header section is larger than what is read.' },
  internal_error: { status: 500, title: 'Vivarium failed; its log has the reason.' },
  bad_gateway: { status: 502, title: 'The upstream did not answer properly.' },
  unavailable: { status: 503, title: 'Vivarium is stopping, or not ready yet.' },
  gateway_timeout: { status: 504, title: 'The upstream did not answer in time.' },
  loop_detected: { status: 508, title: 'The request has passed through this Vivarium too often.' },
} as const satisfies Record<string, { status: number; title: string }>;

export type ErrorCode = keyof typeof ERROR_CATALOGUE;

/** One thing wrong with an input: where (`limits.perMinute`, `redirects[0].from`; empty for the whole) and what is allowed there. */
export interface InputIssue {
  path: string;
  message: string;
  /** The same input is taken with `force`. */
  forcible?: true;
}

/** What an error repeats of an input is bounded, however large the input is: an answer must not be larger than the request. */
export const ISSUES_MAX = 100;
const PATH_CHARACTERS_MAX = 200;
export const ISSUE_CHARACTERS_MAX = 1_000;
const MESSAGE_CHARACTERS_MAX = 10_000;

/** A text of at most `charactersMax` UTF-16 units, and … in place of the others. */
export const boundedText = (text: string, charactersMax: number): string =>
  text.length <= charactersMax ? text : `${text.slice(0, charactersMax)}…`;

/** An error of the catalogue, with the first 100 issues. `message` says what to change, in a sentence a person can act on. */
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
