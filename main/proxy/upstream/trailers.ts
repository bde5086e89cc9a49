import { pairsOf } from '../../base/http/fields.ts';
import { isHopByHop } from './hop-by-hop.ts';

/**
 * What must be known before the body, or decides how and by whom a message is read, is no trailer (RFC 9110 §6.5.1): a
 * recipient that merged it into the header section would be deceived.
 */
const FORBIDDEN: ReadonlySet<string> = new Set([
  'authorization',
  'cache-control',
  'content-encoding',
  'content-length',
  'content-range',
  'content-type',
  'cookie',
  'expect',
  'forwarded',
  'host',
  'max-forwards',
  'set-cookie',
  'trailer',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-proto',
]);

const NONE: ReadonlySet<string> = new Set();

/** Sends what of `rawTrailers` (name, value, name, value, …) may be a trailer behind the body of `message`. */
export function addTrailers(
  message: { addTrailers(trailers: Record<string, string>): void },
  rawTrailers: readonly string[],
): void {
  const trailers: Record<string, string> = {};
  for (const [field, value] of pairsOf(rawTrailers)) {
    const name = field.toLowerCase();
    if (FORBIDDEN.has(name) || isHopByHop(name, NONE)) continue;
    trailers[name] = name in trailers ? `${trailers[name]}, ${value}` : value;
  }
  message.addTrailers(trailers);
}
