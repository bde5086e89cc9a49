import { EXPOSED_HEADERS } from './headers.ts';
import type { HttpRequest } from '../base/http/message.ts';

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

function isAllowed(setting: CorsSetting, origin: string | undefined): origin is string {
  return origin !== undefined && setting !== '*' && setting.includes(origin);
}

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
