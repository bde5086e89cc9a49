import { Agent as HttpAgent, type ClientRequest } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { lookup as systemLookup, type LookupAddress, type LookupOptions } from 'node:dns';
import { isWithin } from '../../base/hostname.ts';

/** Kept-alive connections to all upstreams together. */
const FREE_SOCKETS_MAX = 256;

type LookupCallback = (error: NodeJS.ErrnoException | null, address: string | LookupAddress[], family?: number) => void;

const LOOPBACK: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/**
 * Resolves `localhost` and names below it to this machine (RFC 6761 §6.3), at both addresses, even if the system's
 * resolver knows only one or none. For `localhost` itself, the system's order of addresses applies.
 */
export function lookup(hostname: string, options: LookupOptions, callback: LookupCallback): void {
  const name = hostname.toLowerCase().replace(/\.$/, '');
  if (!isWithin(name, 'localhost')) {
    systemLookup(hostname, options, callback);
    return;
  }
  if (options.all !== true) {
    process.nextTick(callback, null, '127.0.0.1', 4);
    return;
  }
  if (name !== 'localhost') {
    process.nextTick(callback, null, [...LOOPBACK]);
    return;
  }
  systemLookup(hostname, { ...options, all: true }, (_error, found: LookupAddress[] | undefined) => {
    const first = found ?? [];
    const known = new Set(first.map(({ address }) => address));
    callback(null, [...first, ...LOOPBACK.filter(({ address }) => !known.has(address))]);
  });
}

export interface Agents {
  /** For `http:` or `https:`. */
  for(protocol: string): HttpAgent;
  close(): void;
}

type AddRequest = (request: ClientRequest, options: Partial<ConnectionOptions>) => void;

interface ConnectionOptions {
  host: string;
  port: number;
  servername: string;
}

/** Avoids that Node copies all request options, twice, to look up a kept connection by host and port. */
class LeanAgent extends HttpAgent {
  addRequest(request: ClientRequest, { host, port }: ConnectionOptions): void {
    const { addRequest } = HttpAgent.prototype as unknown as { addRequest: AddRequest };
    addRequest.call(this, request, { host, port, servername: '' });
  }
}

/** Connections to upstreams, kept alive between requests. */
export function createAgents(): Agents {
  const options = { keepAlive: true, maxFreeSockets: FREE_SOCKETS_MAX, lookup };
  const http = new LeanAgent(options);
  const https = new HttpsAgent(options);
  return {
    for: (protocol) => (protocol === 'https:' ? https : http),
    close() {
      http.destroy();
      https.destroy();
    },
  };
}
