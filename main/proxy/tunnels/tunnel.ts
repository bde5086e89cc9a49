import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { messageAt } from '../answer.ts';
import { destroyConnection, endHttp1, type Connection, type Listener } from '../front/connection.ts';
import type { Connections } from '../front/connections.ts';
import { surveyHeaders, type HeaderSurvey } from '../front/authority.ts';
import { faultResponse } from '../front/http1.ts';
import type { Problem } from '../../model/problem.ts';
import * as problem from '../problem.ts';
import type { ProxyLimits } from '../front/proxy-limits.ts';
import { pairsOf } from '../../base/http/message.ts';
import { DEFAULT_PORT, parseAuthority, type Scheme } from '../../base/text/hostname.ts';

/** A CONNECT request and the connection it arrived on. */
export interface ConnectFacts {
  /** The request target as sent: `host:port` (RFC 9112 §3.2.3). */
  target: string;
  httpVersion: string;
  rawHeaders: readonly string[];
  headers: HeaderSurvey;
  connection: Pick<Connection, 'address' | 'listener' | 'plainHttpOnTls' | 'tunnel'>;
  limits: { headerFieldsMax: number; targetLengthMax: number };
}

/** Where a tunnel may lead: only to this Vivarium's listeners, at the hostnames it serves. */
export interface Reachable {
  ports: Readonly<Record<Scheme, number>>;
  knows: (hostname: string) => boolean;
  /** Where a connection to a provider's emulated API leads, by the token of its proxy URL. */
  providerPlace: (authorization: string | undefined, address: string) => ProviderPlace | 'refused' | null;
}

/** A listener of its own for one connection to a provider: its hosts, their routes and their certificates. */
export type ProviderPlace = Pick<Listener, 'own' | 'table'> & Required<Pick<Listener, 'contextFor'>>;

export type ConnectVerdict =
  /** `port` as requested, because the client derives URLs from it. */
  { ok: true; scheme: Scheme; port: number; place: ProviderPlace | null } | { ok: false; problem: Problem };

/**
 * Decides whether the client may speak to one of our listeners as if it were `host:port`. No connection is dialled: the
 * listener takes over the client's own connection (`tunnel.ts`).
 */
export function evaluateConnect(facts: ConnectFacts, { ports, knows, providerPlace }: Reachable): ConnectVerdict {
  const fault = findFault(facts);
  if (fault !== null) return refuse(fault);
  const place = providerPlace(proxyAuthorization(facts.rawHeaders), facts.connection.address);
  if (place === 'refused') return refuse(problem.connectionUnknown());
  const authority = parseAuthority(facts.target);
  if (authority === null || authority.port === null) return refuse(problem.unreadableConnect());
  const { host, port } = authority;
  const { host: hostField } = facts.headers;
  // Compares only the name: some clients omit the port.
  if (hostField !== null && parseAuthority(hostField)?.host !== host) return refuse(problem.conflictingConnect());
  if (place?.table().knows(host) === true) {
    if (port === DEFAULT_PORT.https) return { ok: true, scheme: 'https', port, place };
    return refuse(problem.providerPortNotReached(host, port));
  }
  if (!knows(host)) {
    const { serves } = facts.connection.listener.own;
    return refuse(serves === undefined ? problem.notReached(facts.target, host) : problem.notShared(facts.target));
  }
  const scheme = schemeOf(port, ports);
  return scheme === null ? refuse(problem.portNotReached(host, port, ports)) : { ok: true, scheme, port, place: null };
}

const refuse = (found: Problem): ConnectVerdict => ({ ok: false, problem: found });

/** The credentials for this proxy; several are none. */
function proxyAuthorization(rawHeaders: readonly string[]): string | undefined {
  const found = pairsOf(rawHeaders).filter(([name]) => /^proxy-authorization$/i.test(name));
  return found.length === 1 ? found[0]?.[1] : undefined;
}

/** Checks our own ports first: a listener may use the other scheme's default port. */
function schemeOf(port: number, ports: Reachable['ports']): Scheme | null {
  for (const known of [ports, DEFAULT_PORT]) {
    if (port === known.https) return 'https';
    if (port === known.http) return 'http';
  }
  return null;
}

/** Whether a URL with this port, or without one, refers to the listener at `ownPort`. */
export const isOwnPort = (port: number | null, scheme: Scheme, ownPort: number): boolean =>
  port === null || port === ownPort || port === DEFAULT_PORT[scheme];

function findFault({ target, httpVersion, rawHeaders, headers, connection, limits }: ConnectFacts): Problem | null {
  if (connection.listener.scheme !== 'http' || connection.plainHttpOnTls || connection.tunnel) {
    return problem.connectRefused();
  }
  if (target.length > limits.targetLengthMax) return problem.targetTooLong(limits.targetLengthMax);
  if (headers.fields > limits.headerFieldsMax) return problem.tooManyFields(limits.headerFieldsMax);
  if (headers.hostFields > 1) return problem.severalHosts();
  if (headers.host === null && httpVersion !== '1.0') return problem.missingHost(httpVersion);
  // RFC 9110 §9.3.6: CONNECT has no content; declared content would be read as tunnel data.
  return hasContent(rawHeaders) ? problem.connectWithContent() : null;
}

function hasContent(rawHeaders: readonly string[]): boolean {
  return pairsOf(rawHeaders).some(
    ([name, value]) => /^transfer-encoding$/i.test(name) || (/^content-length$/i.test(name) && value !== '0'),
  );
}

export interface TunnelOptions {
  connections: Connections;
  clock: Pick<Clock, 'monotonic'>;
  log: Log;
  limits: ProxyLimits;
  /** Our listeners' ports, known after binding. */
  ports: () => Reachable['ports'];
  stopping: () => boolean;
  providerPlace: Reachable['providerPlace'];
  /** How each listener serves an accepted connection; the socket is its `raw`. */
  serve: Record<'http' | 'https', (connection: Connection) => void>;
}

/** RFC 9110 §9.3.6: no length and no content; the connection is a tunnel from here on. */
const ESTABLISHED = 'HTTP/1.1 200 Connection established\r\n\r\n';

/**
 * Handles a CONNECT whose socket Node's HTTP server has released. No second socket is dialled: after the answer, the
 * requested listener serves the client's own connection under its own limits and time-outs. A tunnel therefore cannot
 * lead anywhere else.
 */
export function acceptConnect(request: IncomingMessage, socket: Socket, head: Buffer, options: TunnelOptions): void {
  const { connections, clock, log, limits } = options;
  // Node has removed its own listener.
  socket.on('error', (error) => log.debug('A client connection failed after CONNECT', { error }));
  const connection = connections.of(socket);
  if (connection === undefined) {
    socket.destroy();
    return;
  }
  const { listener } = connection;
  const table = listener.table();
  const facts = {
    target: request.url ?? '',
    httpVersion: request.httpVersion,
    rawHeaders: request.rawHeaders,
    headers: surveyHeaders(request.rawHeaders),
    connection,
    limits,
  };
  if (connection.phase === 'closing' || connection.closingResponse !== null) {
    socket.resume();
  } else if (connection.exchanges.length > 0) {
    // Its answer would overtake those of earlier requests; the connection closes after them.
    socket.resume();
    connection.closingResponse = refusal(problem.tooEarlyConnect());
  } else if (options.stopping()) {
    refuse(problem.stoppingNow());
  } else {
    const { providerPlace } = options;
    const knows = (hostname: string): boolean => table.knows(hostname);
    const verdict = evaluateConnect(facts, { ports: options.ports(), knows, providerPlace });
    if (verdict.ok) handOver(connection, head, verdict, options);
    else refuse(verdict.problem);
  }

  /** Bytes after the head belong to no request: they are discarded, and the connection closes. */
  function refuse(found: Problem): void {
    socket.resume();
    endHttp1(connection as Connection, refusal(found), clock.monotonic());
  }

  function refusal(found: Problem): string {
    return faultResponse({ ...found, message: messageAt(listener, found) });
  }
}

function handOver(
  connection: Connection,
  head: Buffer,
  { scheme, port, place }: Extract<ConnectVerdict, { ok: true }>,
  { clock, serve }: TunnelOptions,
): void {
  const { raw } = connection;
  if (!raw.writable) {
    destroyConnection(connection);
    return;
  }
  raw.write(ESTABLISHED);
  connection.tunnel = true;
  // The port the client believes it is connected to; redirects and upstreams use it.
  connection.listener = { ...connection.listener, ...place, scheme, port };
  connection.http1 = null;
  connection.phase = 'opening';
  connection.sinceMs = clock.monotonic();
  connection.lastAuthority = null;
  connection.answered = false;
  // As for the HTTPS listener: a half-open tunnel would never close.
  raw.allowHalfOpen = scheme === 'http';
  if (head.length > 0) raw.unshift(head);
  serve[scheme](connection);
}
