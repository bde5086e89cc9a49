import type { Agent } from 'node:http';
import { isIP } from 'node:net';
import type { UpstreamDestination } from '../../model/route.ts';
import { type Agents, lookup } from './agents.ts';
import { machineTrust } from './authorities.ts';

/** What http-proxy pipes where a request has no body: piping nothing costs as much as piping something. */
const NO_BODY = { pipe: (outgoing: { end(): void }) => outgoing.end() };

/** How http-proxy is told to reach one upstream: worked out once, and the same for every request. */
export interface Forwarder {
  /** The upstream's own `Host`. */
  host: string;
  web: ForwarderOptions;
  /** For requests without a body. */
  bodiless: ForwarderOptions;
  upgrade: ForwarderOptions;
}

export interface ForwarderOptions {
  /** What the library reads of a URL; a real one would take itself apart for every request. */
  target: URL;
  agent: Agent | undefined;
  secure: boolean;
  connectTimeout: number;
  prependPath: boolean;
  ssl: object;
  buffer?: never;
}

/** What the library sets in its request's options, always to nothing that we use. */
const UNUSED = [
  'host',
  'socketPath',
  'pfx',
  'key',
  'passphrase',
  'cert',
  'ca',
  'ciphers',
  'secureProtocol',
  'localAddress',
  'url',
] as const;

/**
 * What the library makes its request of. Node copies all properties of these options for every request, so what is of no
 * use is not kept: half of the copying.
 */
class RequestOptions {
  port = 0;
  hostname = '';
  method = '';
  headers = {};
  agent: Agent | undefined = undefined;
  path = '';
  readonly lookup = lookup;
  readonly servername: string;

  static {
    for (const name of UNUSED) Object.defineProperty(this.prototype, name, { set: () => undefined });
  }

  constructor(servername: string) {
    this.servername = servername;
  }
}

export function createForwarder(
  { url, verifyCertificate }: UpstreamDestination,
  agents: Agents,
  connectMs: number,
): Forwarder {
  const { protocol, host, hostname, port, pathname, href } = new URL(url);
  const address = hostname.replace(/^\[|\]$/g, '');
  const trust = protocol === 'https:' && verifyCertificate ? { secureContext: machineTrust() } : {};
  const options = (agent: Agent | undefined): ForwarderOptions => ({
    target: { protocol, host, hostname: address, port, pathname, href } as URL,
    agent,
    secure: verifyCertificate,
    connectTimeout: connectMs,
    prependPath: pathname !== '/',
    // An address has no server name (RFC 6066 §3).
    ssl: Object.assign(new RequestOptions(protocol === 'https:' && isIP(address) === 0 ? address : ''), trust),
  });
  const agent = agents.for(protocol);
  return {
    host,
    web: options(agent),
    bodiless: { ...options(agent), buffer: NO_BODY as never },
    upgrade: options(undefined),
  };
}
