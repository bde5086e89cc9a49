import type { Agent } from 'node:http';
import { isIP } from 'node:net';
import type { UpstreamDestination } from '../snapshot.ts';
import { type Agents, lookup } from './agents.ts';

/** What http-proxy pipes where a request has no body: piping nothing costs as much as piping something. */
const NO_BODY = { pipe: (outgoing: { end(): void }) => outgoing.end() };

/** How http-proxy is told to reach one upstream: worked out once, and the same for every request. */
export interface Lane {
  /** The upstream's own `Host`. */
  host: string;
  web: LaneOptions;
  /** For requests without a body. */
  bodiless: LaneOptions;
  upgrade: LaneOptions;
}

export interface LaneOptions {
  /** What the library reads of a URL; a real one would take itself apart for every request. */
  target: URL;
  agent: Agent | undefined;
  secure: boolean;
  connectTimeout: number;
  prependPath: boolean;
  ssl: object;
  buffer?: never;
}

export function createLane({ url, verifyCertificate }: UpstreamDestination, agents: Agents, connectMs: number): Lane {
  const { protocol, host, hostname, port, pathname, href } = new URL(url);
  const address = hostname.replace(/^\[|\]$/g, '');
  const options = (agent: Agent | undefined): LaneOptions => ({
    target: { protocol, host, hostname: address, port, pathname, href } as URL,
    agent,
    secure: verifyCertificate,
    connectTimeout: connectMs,
    prependPath: pathname !== '/',
    // The library makes its request in this very object. An address has no server name (RFC 6066 §3).
    ssl: { servername: protocol === 'https:' && isIP(address) === 0 ? address : '', lookup },
  });
  const agent = agents.for(protocol);
  return {
    host,
    web: options(agent),
    bodiless: { ...options(agent), buffer: NO_BODY as never },
    upgrade: options(undefined),
  };
}
