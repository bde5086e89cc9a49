import { DEFAULT_PORT } from '../base/text/hostname.ts';

/**
 * Decides which requests may reach the control port at all, before any token is checked.
 *
 * Any web page can make the developer's browser send requests to 127.0.0.1, and an attacker's hostname can resolve
 * there (DNS rebinding). The browser's headers reveal both: the name that it connected to (`Host`), the page that sent
 * the request (`Origin`), and the relation of the two (`Sec-Fetch-Site`).
 */

/** The deciding parts of a request; header values as sent, `undefined` for a missing header. */
export interface RequestOrigin {
  /** The request target, as on the request line. */
  target: string;
  /** All `Host` headers: exactly one is acceptable (RFC 9112 §3.2). */
  hosts: readonly string[];
  origin: string | undefined;
  fetchSite: string | undefined;
  fetchMode: string | undefined;
}

/** Hostnames of the control port; all of them mean loopback, regardless of any resolver. */
const CONTROL_HOSTNAMES = ['127.0.0.1', 'localhost', '[::1]', 'vivarium.localhost'] as const;

/** The authorities accepted on `port`, in lower case. */
export function controlAuthorities(port: number): string[] {
  const withPort = CONTROL_HOSTNAMES.map((hostname) => `${hostname}:${port}`);
  // RFC 9110 §4.2.1: the default port may be omitted from the authority.
  return port === DEFAULT_PORT.http ? [...CONTROL_HOSTNAMES, ...withPort] : withPort;
}

/**
 * Returns the reason for refusing a request as a sentence, or null to accept it. Browser headers are optional: a script
 * sends neither `Origin` nor `Sec-Fetch-Site`, and still needs the token.
 */
export function refusalOf(request: RequestOrigin, port: number): string | null {
  const own = controlAuthorities(port);
  if (!request.target.startsWith('/')) {
    return 'The request target must be a path: the control port is not a proxy.';
  }
  const [host, ...more] = request.hosts;
  if (host === undefined || more.length > 0) return 'A request needs exactly one Host header.';
  if (!own.includes(host.toLowerCase())) {
    return `The Host ${quote(host)} is not one of the control port's names: ${own.join(', ')}.`;
  }
  if (request.origin !== undefined && !own.some((authority) => request.origin === `http://${authority}`)) {
    return `The Origin ${quote(request.origin)} is not allowed; only the interface on this port is.`;
  }
  return fetchRefusalOf(request);
}

/**
 * `same-site` is a page on another port or a sibling hostname, such as a project's own page: it may link here, nothing
 * else.
 */
function fetchRefusalOf({ fetchSite, fetchMode }: RequestOrigin): string | null {
  if (fetchSite === undefined || fetchSite === 'same-origin' || fetchSite === 'none') return null;
  if (fetchSite === 'same-site' && fetchMode === 'navigate') return null;
  return `Requests with Sec-Fetch-Site ${quote(fetchSite)} are not allowed; only the interface on this port may send requests.`;
}

/** Shortens a refused value for the message. */
const QUOTED_LENGTH_MAX = 100;

const quote = (text: string): string => JSON.stringify(text.slice(0, QUOTED_LENGTH_MAX));

/** Browsers can send no header with a WebSocket but its subprotocols (RFC 6455 §1.9). */
export const SOCKET_PROTOCOL = 'vivarium';
const TOKEN_PROTOCOL_PREFIX = 'token.';

/** The token in `Sec-WebSocket-Protocol: vivarium, token.<token>`, or null if either part is missing. */
export function readProtocolToken(header: string | undefined): string | null {
  const protocols = (header ?? '').split(',').map((protocol) => protocol.trim());
  if (!protocols.includes(SOCKET_PROTOCOL)) return null;
  const carrier = protocols.find((protocol) => protocol.startsWith(TOKEN_PROTOCOL_PREFIX));
  return carrier?.slice(TOKEN_PROTOCOL_PREFIX.length) ?? null;
}
