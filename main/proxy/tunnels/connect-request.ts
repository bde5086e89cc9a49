import { pairsOf } from '../../base/http/message.ts';
import { DEFAULT_PORT, parseAuthority, type Scheme } from '../../base/text/hostname.ts';
import type { Connection } from '../front/connection.ts';
import type { HeaderSurvey } from '../front/request-head.ts';
import type { Problem } from '../../model/problem.ts';
import * as problem from '../problem.ts';

/** A CONNECT request and the connection it arrived on. */
export interface ConnectFacts {
  /** The request target as sent: `host:port` (RFC 9112 §3.2.3). */
  target: string;
  httpVersion: string;
  rawHeaders: readonly string[];
  headers: HeaderSurvey;
  connection: Pick<Connection, 'listener' | 'plainHttpOnTls' | 'tunnel'>;
  limits: { headerFieldsMax: number; targetLengthMax: number };
}

/** Where a tunnel may lead: only to this Vivarium's listeners, at the hostnames it serves. */
export interface Reachable {
  ports: Readonly<Record<Scheme, number>>;
  /** Whether `hostname` is served. */
  knows: (hostname: string) => boolean;
}

export type ConnectVerdict =
  /** `port` as requested, because the client derives URLs from it. */
  { ok: true; scheme: Scheme; port: number } | { ok: false; problem: Problem };

/**
 * Decides whether the client may speak to one of our listeners as if it were `host:port`. No connection is dialled: the
 * listener takes over the client's own connection (`tunnel.ts`).
 */
export function evaluateConnect(facts: ConnectFacts, { ports, knows }: Reachable): ConnectVerdict {
  const fault = findFault(facts);
  if (fault !== null) return refuse(fault);
  const authority = parseAuthority(facts.target);
  if (authority === null || authority.port === null) return refuse(problem.unreadableConnect());
  const { host, port } = authority;
  const { host: hostField } = facts.headers;
  // Compares only the name: some clients omit the port.
  if (hostField !== null && parseAuthority(hostField)?.host !== host) return refuse(problem.conflictingConnect());
  if (!knows(host)) {
    const { serves } = facts.connection.listener.own;
    return refuse(serves === undefined ? problem.notReached(facts.target, host) : problem.notShared(facts.target));
  }
  const scheme = schemeOf(port, ports);
  return scheme === null ? refuse(problem.portNotReached(host, port, ports)) : { ok: true, scheme, port };
}

const refuse = (found: Problem): ConnectVerdict => ({ ok: false, problem: found });

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
