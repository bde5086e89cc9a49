import type { Agent } from 'node:http';
import { isIP } from 'node:net';
import type { UpstreamDestination } from '../../model/route.ts';
import { type Agents, lookup } from './agents.ts';
import { machineTrust } from './dial.ts';

/**
 * Replaces the stream that http-proxy pipes into a request without a body; piping an empty stream is as costly as any.
 */
const NO_BODY = { pipe: (outgoing: { end(): void }) => outgoing.end() };

/** The http-proxy options for one upstream, computed once for all its requests. */
export interface Forwarder {
  /** The upstream's own `Host`. */
  host: string;
  web: ForwarderOptions;
  /** For requests without a body. */
  bodiless: ForwarderOptions;
  upgrade: ForwarderOptions;
}

export interface ForwarderOptions {
  /** The properties of a URL that the library reads; a URL object would parse itself for every request. */
  target: URL;
  agent: Agent | undefined;
  secure: boolean;
  connectTimeout: number;
  prependPath: boolean;
  ssl: object;
  buffer?: never;
}

/** Options that the library always sets to values we do not need. */
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
 * The options object for requests. Node copies all its properties for every request, so unused ones are discarded,
 * which halves the copying.
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
    // RFC 6066 §3: addresses are not allowed as server names.
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
