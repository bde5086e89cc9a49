/** The OpenAPI description of one response header. */
interface HeaderDescription {
  description: string;
  schema: { type: 'integer' | 'string'; minimum?: number };
  example: string | number;
}

/** The base URL in examples; the document has that of its first server instead. */
export const EXAMPLE_BASE = 'http://demo.vivarium.localhost:8080/v1';

/**
 * All headers specific to this API, in the spelling used on the wire. The OpenAPI document describes them, and CORS
 * exposes them to browsers.
 */
export const HEADERS = {
  'X-RateLimit-Limit': {
    description: 'The limit that applies to the caller, in the rate window that runs out first.',
    schema: { type: 'integer', minimum: 0 },
    example: 60,
  },
  'X-RateLimit-Remaining': {
    description: 'Requests remaining in that rate window.',
    schema: { type: 'integer', minimum: 0 },
    example: 59,
  },
  'X-RateLimit-Reset': {
    description: 'Unix timestamp in seconds, rounded up, at which that rate window resets.',
    schema: { type: 'integer', minimum: 0 },
    example: 1_795_165_260,
  },
  'Retry-After': {
    description: 'Whole seconds to wait before the next request.',
    schema: { type: 'integer', minimum: 1 },
    example: 42,
  },
  Link: {
    description:
      'Web links (RFC 8288): rel="next" leads to the next page and is absent on the last one; rel="successor-version" leads from a deprecated operation to its replacement.',
    schema: { type: 'string' },
    example: `<${EXAMPLE_BASE}/pets?limit=20&after=20>; rel="next"`,
  },
  'WWW-Authenticate': {
    description:
      'The challenge of RFC 6750; error="invalid_token" when a bearer token came and is not a valid API key.',
    schema: { type: 'string' },
    example: 'Bearer realm="Animal Store API"',
  },
  Deprecation: {
    description: 'Since when the operation is deprecated (RFC 9745: @ and Unix seconds).',
    schema: { type: 'string' },
    example: '@1764892800',
  },
  Sunset: {
    description: 'When the operation is removed (RFC 8594). From that moment it answers 410.',
    schema: { type: 'string' },
    example: 'Thu, 05 Dec 2030 00:00:00 GMT',
  },
  Allow: {
    description: 'The methods that the path has (RFC 9110 §10.2.1).',
    schema: { type: 'string' },
    example: 'GET, HEAD, POST, OPTIONS',
  },
  Accept: {
    description: 'The media type that a request body may have (RFC 9110 §12.5.1).',
    schema: { type: 'string' },
    example: 'application/json',
  },
  'Accept-Encoding': {
    description: 'The content coding that a request body may have (RFC 9110 §12.5.3).',
    schema: { type: 'string' },
    example: 'identity',
  },
} as const satisfies Record<string, HeaderDescription>;

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
export const EXPOSED_HEADERS = [...Object.keys(HEADERS), 'RateLimit', 'RateLimit-Policy'].join(', ');
