import { withoutFields } from './message.ts';

/**
 * Header fields of one connection rather than of the message (RFC 9110 §7.6.1), in addition to those named in
 * `Connection`. `Proxy-Authenticate` and `Proxy-Authorization` concern a client and its own proxy (§11.7).
 */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
  // Part of the h2c upgrade, which is never forwarded.
  'http2-settings',
]);

/** The field names listed in `Connection`, in lower case. */
export function namedByConnection(connection: string | undefined): ReadonlySet<string> {
  if (connection === undefined || connection === 'keep-alive' || connection === 'close') return NONE;
  return new Set(connection.split(',').map((option) => option.trim().toLowerCase()));
}

const NONE: ReadonlySet<string> = new Set();

/** Whether the field with this lower-case name is hop-by-hop. */
export const isHopByHop = (name: string, named: ReadonlySet<string>): boolean =>
  HOP_BY_HOP.has(name) || named.has(name);

/** `rawHeaders` (name, value, …) without hop-by-hop fields, and without `unwanted` ones; keeps spelling and order. */
export function endToEndFields(
  rawHeaders: readonly string[],
  connection: string | undefined,
  unwanted: ReadonlySet<string> = NONE,
): string[] {
  const named = namedByConnection(connection);
  return withoutFields(rawHeaders, (name) => isHopByHop(name, named) || unwanted.has(name));
}
