import { pairsOf } from '../../base/http/message.ts';
import { isHopByHop } from '../../base/http/hop-by-hop.ts';

/**
 * Fields that must be known before the body, or that affect framing and routing, are not allowed as trailers (RFC 9110
 * §6.5.1): merging them into the header section would be a security risk.
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

/** Adds the permitted fields of `rawTrailers` (name, value, …) as trailers of `message`. */
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
