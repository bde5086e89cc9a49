import type { IncomingHttpHeaders } from 'node:http';
import type { Scheme } from '../../base/text/hostname.ts';
import type { Client } from '../forwarded-client.ts';
import { isHopByHop, namedByConnection } from '../../base/http/hop-by-hop.ts';

/** How often a request may pass through the same Vivarium: enough for chains of projects, and an end to loops. */
export const HOPS_MAX = 5;

/** The connection to Vivarium, as reported to the upstream. */
export interface ForwardedFrom {
  /** The address of the client or proxy. */
  address: string;
  scheme: Scheme;
  /** Host and port as the client wrote them. */
  authority: string;
  /** The listener's port. */
  port: number;
  /** The client of the trusted proxy at `address`; null if the connection is the client's own. */
  client: Client | null;
}

/**
 * Counts `pseudonym` among the recipients in `Via` (RFC 9110 §7.6.3): how often the request has passed through here.
 */
export function countHops(via: string | string[] | undefined, pseudonym: string): number {
  if (via === undefined) return 0;
  const text = Array.isArray(via) ? via.join(',') : via;
  return text.split(',').filter((entry) => entry.trim().split(/\s+/)[1] === pseudonym).length;
}

/**
 * The header section for the upstream: the client's end-to-end fields, plus `Forwarded` (RFC 7239), `X-Forwarded-*` and
 * `Via`. Values that the client sent in these fields are kept in front of ours, because all clients run on this
 * machine. `version` is the request's HTTP version, as in `1.1`; `host` is the `Host` to send. The caller adds the
 * framing fields.
 */
export function forwardedHeaders(
  headers: IncomingHttpHeaders,
  from: ForwardedFrom,
  version: string,
  { host, pseudonym }: { host: string; pseudonym: string },
): Record<string, string | string[]> {
  const named = namedByConnection(headers.connection);
  const kept: Record<string, string | string[]> = {};
  for (const name of Object.keys(headers)) {
    const value = headers[name];
    if (value === undefined || isConnectionField(name) || isHopByHop(name, named)) continue;
    kept[name] = value;
  }
  // `TE: trailers` is hop-by-hop, but we do forward trailers.
  if (/\btrailers\b/i.test(String(headers.te ?? ''))) kept['te'] = 'trailers';
  // RFC 9110 §7.6.2.
  const forwardsLeft = String(headers['max-forwards']);
  if (/^0*[1-9]\d*$/.test(forwardsLeft)) kept['max-forwards'] = String(Number(forwardsLeft) - 1);
  kept['host'] = host;
  kept['via'] = appended(headers.via, `${version} ${pseudonym}`);
  // The proxy reports its client in `X-Forwarded-*` only: an upstream may read `Forwarded` first (RFC 7239 §7.4).
  const before = headers.forwarded ?? (from.client === null ? undefined : forwardedElement(from.client));
  kept['forwarded'] = appended(before, forwardedElement(from));
  kept['x-forwarded-for'] = appended(headers['x-forwarded-for'], from.address);
  const { authority, scheme, port } = from.client ?? from;
  kept['x-forwarded-host'] = authority;
  kept['x-forwarded-proto'] = scheme;
  kept['x-forwarded-port'] = String(port);
  return kept;
}

/**
 * The `Origin` of a WebSocket handshake whose `Host` is rewritten: that of a page of the same host becomes the
 * upstream's own, which a dev server compares with its own address; any other stays.
 */
export function handshakeOrigin(
  origin: string | undefined,
  { scheme, authority }: Pick<ForwardedFrom, 'scheme' | 'authority'>,
  upstream: string,
): string | undefined {
  const own = URL.parse(`${scheme}://${authority}`)?.host;
  const isOwn = origin !== undefined && own !== undefined && URL.parse(origin)?.host === own;
  return isOwn ? new URL(upstream).origin : origin;
}

/**
 * Fields for the connection between client and proxy: HTTP/2 pseudo-header fields, the body's length, and Expect, whose
 * only value (100-continue) makes no sense without a body.
 */
const isConnectionField = (name: string): boolean =>
  name === 'content-length' || name === 'expect' || name.charCodeAt(0) === COLON;

const COLON = 0x3a;

function appended(before: string | string[] | undefined, entry: string): string {
  const text = Array.isArray(before) ? before.join(', ') : (before ?? '');
  return text === '' ? entry : `${text}, ${entry}`;
}

/** `for=127.0.0.1;host="app.acme.test:8443";proto=https`; IPv6 addresses are bracketed and quoted (RFC 7239 §6). */
function forwardedElement({ address, authority, scheme }: Client): string {
  const node = address.includes(':') ? `"[${address}]"` : address;
  return `for=${node};host="${authority}";proto=${scheme}`;
}
