import type { HttpRequest } from '../base/http/message.ts';
import type { IncomingHttpHeaders } from 'node:http';
import { VivariumError } from '../contract/errors.ts';

/** The base URL in examples; the document has that of its first server instead. */
export const EXAMPLE_BASE = 'http://demo.vivarium.localhost:8080/v1';

/** A whole number of at least `minimum`. */
const number = (minimum: 0 | 1, example: number, description: string) => ({
  description,
  schema: { type: 'integer', minimum },
  example,
});
const text = (example: string, description: string) => ({ description, schema: { type: 'string' }, example });

/**
 * All headers specific to this API, in the spelling used on the wire. The OpenAPI document describes them, and CORS
 * exposes them to browsers.
 */
export const HEADERS = {
  'X-RateLimit-Limit': number(0, 60, 'The limit that applies to the caller, in the rate window that runs out first.'),
  'X-RateLimit-Remaining': number(0, 59, 'Requests remaining in that rate window.'),
  'X-RateLimit-Reset': number(
    0,
    1_795_165_260,
    'Unix timestamp in seconds, rounded up, at which that rate window resets.',
  ),
  'Retry-After': number(1, 42, 'Whole seconds to wait before the next request.'),
  Link: text(
    `<${EXAMPLE_BASE}/pets?limit=20&after=20>; rel="next"`,
    'Web links (RFC 8288): rel="next" leads to the next page and is absent on the last one; rel="successor-version" leads from a deprecated operation to its replacement.',
  ),
  'WWW-Authenticate': text(
    'Bearer realm="Animal Store API"',
    'The challenge of RFC 6750; error="invalid_token" when a bearer token came and is not a valid API key.',
  ),
  Deprecation: text('@1764892800', 'Since when the operation is deprecated (RFC 9745: @ and Unix seconds).'),
  Sunset: text(
    'Thu, 05 Dec 2030 00:00:00 GMT',
    'When the operation is removed (RFC 8594). From that moment it answers 410.',
  ),
  Allow: text('GET, HEAD, POST, OPTIONS', 'The methods that the path has (RFC 9110 §10.2.1).'),
  Accept: text('application/json', 'The media type that a request body may have (RFC 9110 §12.5.1).'),
  'Accept-Encoding': text('identity', 'The content coding that a request body may have (RFC 9110 §12.5.3).'),
};

export type HeaderName = keyof typeof HEADERS;

/** The headers that the specification requires on every answer. */
export const RATE_HEADERS = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
] as const satisfies readonly HeaderName[];

/**
 * The value of Access-Control-Expose-Headers, without which pages could not read our headers (Fetch standard, §3.3.2).
 */
const EXPOSED_HEADERS = [...Object.keys(HEADERS), 'RateLimit', 'RateLimit-Policy'].join(', ');

/** The origins whose pages may read the API's answers: all or those listed; an empty list allows none. */
export type CorsSetting = '*' | readonly string[];

/** How long a browser may cache a preflight; short, so a changed setting soon takes effect. */
const PREFLIGHT_SECONDS_MAX = 600;

/** Longer lists of requested headers are not echoed; the defaults are sent instead. */
const REQUESTED_HEADERS_LENGTH_MAX = 2048;

const FIELD_NAMES = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+(?:[ \t]*,[ \t]*[!#$%&'*+.^_`|~0-9A-Za-z-]+)*$/;

const NONE: readonly string[] = [];
const VARY_ORIGIN: readonly string[] = ['Vary', 'Origin'];
const ANY_ORIGIN: readonly string[] = [
  'Access-Control-Allow-Origin',
  '*',
  'Access-Control-Expose-Headers',
  EXPOSED_HEADERS,
];

/** A CORS preflight (Fetch standard, §3.3): OPTIONS with an Origin and the requested method. */
export function isPreflight(request: HttpRequest): boolean {
  return (
    request.method === 'OPTIONS' &&
    request.headers.origin !== undefined &&
    request.headers['access-control-request-method'] !== undefined
  );
}

const isAllowed = (setting: CorsSetting, origin: string | undefined): origin is string =>
  origin !== undefined && setting !== '*' && setting.includes(origin);

/**
 * The CORS headers of an ordinary answer, flat. Includes `Vary` even for a denied origin, because the answer depends on
 * it.
 */
export function corsHeaders(setting: CorsSetting, request: HttpRequest): readonly string[] {
  if (setting === '*') return ANY_ORIGIN;
  if (setting.length === 0) return NONE;
  const { origin } = request.headers;
  if (!isAllowed(setting, origin)) return VARY_ORIGIN;
  return ['Access-Control-Allow-Origin', origin, 'Access-Control-Expose-Headers', EXPOSED_HEADERS, ...VARY_ORIGIN];
}

/**
 * The additional headers of a preflight: the path's methods and the allowed headers. Requested names are echoed,
 * because `*` does not cover Authorization.
 */
export function preflightHeaders(setting: CorsSetting, request: HttpRequest, methods: string): readonly string[] {
  if (setting !== '*' && !isAllowed(setting, request.headers.origin)) return NONE;
  const requested = request.headers['access-control-request-headers'];
  const echo =
    requested !== undefined && requested.length <= REQUESTED_HEADERS_LENGTH_MAX && FIELD_NAMES.test(requested);
  return [
    'Access-Control-Allow-Methods',
    methods,
    'Access-Control-Allow-Headers',
    echo ? requested : 'Authorization, Content-Type',
    'Access-Control-Max-Age',
    String(PREFLIGHT_SECONDS_MAX),
  ];
}

/** The deprecation of an operation: its dates and its replacement. */
export interface Retirement {
  /** Both in milliseconds since the Unix epoch. */
  deprecatedAtMs: number;
  sunsetAtMs: number;
  /** Relative to the base address. */
  successorPath: `/${string}`;
  /** Display text that completes "use …". */
  replacement: string;
}

/**
 * The specification gives getPet's removal date but not its deprecation date. The Deprecation header needs one (RFC
 * 9745 §2.1), so Vivarium uses five years earlier.
 */
export const GET_PET_RETIREMENT: Retirement = {
  deprecatedAtMs: Date.UTC(2025, 11, 5),
  sunsetAtMs: Date.UTC(2030, 11, 5),
  successorPath: '/pets',
  replacement: 'GET /pets with a status filter',
};

/** An HTTP-date in IMF-fixdate format (RFC 9110 §5.6.7), which JavaScript's `toUTCString` produces. */
export const httpDate = (atMs: number): string => new Date(atMs).toUTCString();

const PREPARED = new WeakMap<Retirement, readonly string[]>();

/** Deprecation (RFC 9745), Sunset (RFC 8594) and the link to the successor (RFC 8288, RFC 5829), as name, value, … */
export function retirementHeaders(retirement: Retirement, baseUrl: string): string[] {
  let dates = PREPARED.get(retirement);
  if (dates === undefined) {
    const { deprecatedAtMs, sunsetAtMs } = retirement;
    dates = ['Deprecation', `@${Math.floor(deprecatedAtMs / 1000)}`, 'Sunset', httpDate(sunsetAtMs)];
    PREPARED.set(retirement, dates);
  }
  return [...dates, 'Link', `<${baseUrl}${retirement.successorPath}>; rel="successor-version"`];
}

/** `type/subtype` (RFC 9110 §8.3.1). */
const MEDIA_TYPE = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+$/;
const PARAMETER = /;[ \t]*([^\s;="]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))/g;

/** An unsupported body, with the header that names the supported type (RFC 9110 §15.5.16). */
export class UnsupportedBodyError extends VivariumError {
  readonly accepted: readonly [name: 'Accept' | 'Accept-Encoding', value: string];

  constructor(message: string, accepted: 'Accept' | 'Accept-Encoding' = 'Accept') {
    super('unsupported_media_type', message);
    this.accepted = [accepted, accepted === 'Accept' ? 'application/json' : 'identity'];
  }
}

/**
 * Null for a supported body: unencoded `application/json` in UTF-8 (RFC 8259 §8.1); else the reason. Parameters other
 * than charset have no meaning for this type and are ignored (RFC 8259 §11). Types such as
 * `application/merge-patch+json` are refused, because their JSON has other semantics.
 */
export function unsupportedBody(headers: IncomingHttpHeaders): UnsupportedBodyError | null {
  const contentType = headers['content-type'];
  const essence = contentType?.split(';', 1)[0]?.trim().toLowerCase();
  if (essence !== undefined && !MEDIA_TYPE.test(essence)) {
    return new UnsupportedBodyError('The Content-Type is malformed; send JSON with "Content-Type: application/json".');
  }
  const coding = headers['content-encoding']?.trim().toLowerCase();
  if (coding !== undefined && coding !== '' && coding !== 'identity') {
    const message = `The body has the Content-Encoding "${clip(coding)}"; send it unencoded.`;
    return new UnsupportedBodyError(message, 'Accept-Encoding');
  }
  if (contentType === undefined) {
    return new UnsupportedBodyError('The body has no Content-Type; send it with "Content-Type: application/json".');
  }
  if (essence !== 'application/json') {
    return new UnsupportedBodyError(
      `The body has the Content-Type "${clip(contentType)}"; send JSON with "Content-Type: application/json".`,
    );
  }
  const charset = otherCharset(contentType);
  return charset === null
    ? null
    : new UnsupportedBodyError(
        `The body has the charset "${clip(charset)}"; JSON is UTF-8, send it as that and leave the charset out.`,
      );
}

function otherCharset(contentType: string): string | null {
  for (const [, name = '', quoted, token] of contentType.matchAll(PARAMETER)) {
    const value = quoted ?? token ?? '';
    if (name.toLowerCase() === 'charset' && !/^utf-?8$/i.test(value)) return value;
  }
  return null;
}

const CLIP_LENGTH = 100;

const clip = (text: string): string => (text.length <= CLIP_LENGTH ? text : `${text.slice(0, CLIP_LENGTH)}…`);
