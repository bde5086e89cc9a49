import type { IncomingHttpHeaders } from 'node:http';
import type { Scheme } from '../../base/hostname.ts';
import { isHopByHop, namedByConnection } from './hop-by-hop.ts';

/** How often one request may pass through the same Vivarium: chains of projects are short, loops are not. */
export const HOPS_MAX = 5;

/** What the upstream is told of the connection that a request came on. */
export interface ForwardedFrom {
  /** The client's address. */
  address: string;
  scheme: Scheme;
  /** Host and port as the client wrote them. */
  authority: string;
  /** The listener's port. */
  port: number;
}

/** How often `pseudonym` is among the recipients that `Via` names (RFC 9110 §7.6.3): how often the request was here. */
export function countHops(via: string | string[] | undefined, pseudonym: string): number {
  if (via === undefined) return 0;
  const text = Array.isArray(via) ? via.join(',') : via;
  return text.split(',').filter((entry) => entry.trim().split(/\s+/)[1] === pseudonym).length;
}

/**
 * The header section of the request to the upstream: what is end-to-end of the client's, and how it came here, in
 * `Forwarded` (RFC 7239), in the older `X-Forwarded-*`, and in `Via`. What the client itself claims to have forwarded is
 * kept before ours, as these fields mean it: everybody here is on this machine. `version` is the HTTP version of the
 * request, as in `1.1`; `host` is what the upstream is asked for. What frames the body is left to the caller.
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
  // Whether trailers may come back is between us and the upstream, and we pass them on.
  if (/\btrailers\b/i.test(String(headers.te ?? ''))) kept['te'] = 'trailers';
  kept['host'] = host;
  kept['via'] = appended(headers.via, `${version} ${pseudonym}`);
  kept['forwarded'] = appended(headers.forwarded, forwardedElement(from));
  kept['x-forwarded-for'] = appended(headers['x-forwarded-for'], from.address);
  kept['x-forwarded-host'] = from.authority;
  kept['x-forwarded-proto'] = from.scheme;
  kept['x-forwarded-port'] = String(from.port);
  return kept;
}

/**
 * What is between the client and us: pseudo header fields of HTTP/2, the length of the body, and expectations, of which the
 * one that there is (100-continue) is not for a request without a body.
 */
const isConnectionField = (name: string): boolean =>
  name === 'content-length' || name === 'expect' || name.charCodeAt(0) === COLON;

const COLON = 0x3a;

function appended(before: string | string[] | undefined, entry: string): string {
  const text = Array.isArray(before) ? before.join(', ') : (before ?? '');
  return text === '' ? entry : `${text}, ${entry}`;
}

/** `for=127.0.0.1;host="app.acme.test:8443";proto=https`; addresses of IPv6 are bracketed and quoted (RFC 7239 §6). */
function forwardedElement({ address, authority, scheme }: ForwardedFrom): string {
  const node = address.includes(':') ? `"[${address}]"` : address;
  return `for=${node};host="${authority}";proto=${scheme}`;
}
