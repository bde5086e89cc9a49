import { withoutFields } from '../../base/http/fields.ts';

/**
 * Header fields that belong to one connection and not to the message (RFC 9110 §7.6.1), besides those that `Connection`
 * itself names. `Proxy-Authenticate` and `Proxy-Authorization` are between a client and its own proxy (§11.7).
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
  // Of HTTP/2's upgrade from plain text, which is never passed on.
  'http2-settings',
]);

/** What `Connection` fields name, in lower case. */
export function namedByConnection(connection: string | undefined): ReadonlySet<string> {
  if (connection === undefined || connection === 'keep-alive' || connection === 'close') return NONE;
  return new Set(connection.split(',').map((option) => option.trim().toLowerCase()));
}

const NONE: ReadonlySet<string> = new Set();

/** Whether a field of this name, in lower case, ends at this connection. */
export const isHopByHop = (name: string, named: ReadonlySet<string>): boolean =>
  HOP_BY_HOP.has(name) || named.has(name);

/** `rawHeaders` (name, value, name, value, …) without what belongs to the connection that they came on; spelling and order stay. */
export function endToEndFields(rawHeaders: readonly string[], connection: string | undefined): string[] {
  const named = namedByConnection(connection);
  return withoutFields(rawHeaders, (name) => isHopByHop(name, named));
}
