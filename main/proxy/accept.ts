/** Limit on the media ranges read from one Accept field; the rest are ignored. */
const MEDIA_RANGES_MAX = 32;

const HTML = ['text/html', 'text/*', '*/*'];
const JSON_TYPE = ['application/json', 'application/*', '*/*'];

/**
 * Whether `accept` (RFC 9110 §12.5.1) prefers text/html to application/json. Defaults to JSON on equal weights, a bare
 * wildcard, or no Accept header: only browsers name HTML.
 */
export function prefersHtml(accept: string | undefined): boolean {
  if (accept === undefined || !accept.toLowerCase().includes('html')) return false;
  const ranges = new Map<string, number>();
  for (const part of accept.toLowerCase().split(',', MEDIA_RANGES_MAX)) {
    const [range = '', ...parameters] = part.split(';').map((piece) => piece.trim());
    ranges.set(range, quality(parameters));
  }
  return weight(ranges, HTML) > weight(ranges, JSON_TYPE);
}

/** The weight of the most specific matching range. */
function weight(ranges: ReadonlyMap<string, number>, candidates: readonly string[]): number {
  const range = candidates.find((candidate) => ranges.has(candidate));
  return range === undefined ? 0 : (ranges.get(range) ?? 0);
}

function quality(parameters: readonly string[]): number {
  const text = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
  if (text === undefined) return 1;
  return /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(text) ? Number(text) : 0;
}
