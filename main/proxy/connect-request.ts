import { pairsOf } from '../base/http/fields.ts';
import { DEFAULT_PORT } from '../base/http/origin.ts';
import { parseAuthority, type Scheme } from '../base/hostname.ts';
import type { Connection } from './connection.ts';
import type { HeaderSurvey } from './header-section.ts';
import type { Problem } from '../model/problem.ts';
import * as problem from './problem.ts';

/** What one CONNECT says, and where it came. */
export interface ConnectFacts {
  /** The request target as sent: `host:port` (RFC 9112 §3.2.3). */
  target: string;
  httpVersion: string;
  rawHeaders: readonly string[];
  headers: HeaderSurvey;
  connection: Pick<Connection, 'listener' | 'plainHttpOnTls' | 'tunnel'>;
  limits: { headerFieldsMax: number; targetLengthMax: number };
}

/** What a tunnel may lead to: the listeners of this Vivarium, at the hostnames that it serves, and nothing else. */
export interface Reachable {
  ports: Readonly<Record<Scheme, number>>;
  /** Whether anything is served for `hostname`. */
  knows: (hostname: string) => boolean;
}

export type ConnectVerdict =
  /** `port` is as the client asked for it: that is what it takes its connection for. */
  { ok: true; scheme: Scheme; port: number } | { ok: false; problem: Problem };

/**
 * Decides whether a client may speak to one of our listeners as if it were `host:port`. It is no question of where to
 * dial: nothing is dialled, the connection itself goes on at that listener (`tunnel.ts`).
 */
export function evaluateConnect(facts: ConnectFacts, { ports, knows }: Reachable): ConnectVerdict {
  const fault = findFault(facts);
  if (fault !== null) return refuse(fault);
  const authority = parseAuthority(facts.target);
  if (authority === null || authority.port === null) return refuse(problem.unreadableConnect());
  const { host, port } = authority;
  const { host: hostField } = facts.headers;
  // Only the name: clients differ in whether they send the port along.
  if (hostField !== null && parseAuthority(hostField)?.host !== host) return refuse(problem.conflictingConnect());
  if (!knows(host)) return refuse(problem.notReached(facts.target, host));
  const scheme = schemeOf(port, ports);
  return scheme === null ? refuse(problem.portNotReached(host, port, ports)) : { ok: true, scheme, port };
}

const refuse = (found: Problem): ConnectVerdict => ({ ok: false, problem: found });

/** Our own ports first: a listener may well be at the other scheme's default port. */
function schemeOf(port: number, ports: Reachable['ports']): Scheme | null {
  for (const known of [ports, DEFAULT_PORT]) {
    if (port === known.https) return 'https';
    if (port === known.http) return 'http';
  }
  return null;
}

/** Whether a URL with this port, or none, is for the listener at `ownPort`. */
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
  // RFC 9110 §9.3.6: it has no content. Whoever declares some means these bytes for somebody else.
  return hasContent(rawHeaders) ? problem.connectWithContent() : null;
}

function hasContent(rawHeaders: readonly string[]): boolean {
  return pairsOf(rawHeaders).some(
    ([name, value]) => /^transfer-encoding$/i.test(name) || (/^content-length$/i.test(name) && value !== '0'),
  );
}
