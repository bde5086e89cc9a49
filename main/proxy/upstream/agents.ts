import { Agent as HttpAgent, type ClientRequest } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { lookup as systemLookup, type LookupAddress, type LookupOptions } from 'node:dns';
import { isWithin } from '../../base/hostname.ts';

/** Connections to all upstreams together that are kept for the next request. */
const FREE_SOCKETS_MAX = 256;

type LookupCallback = (error: NodeJS.ErrnoException | null, address: string | LookupAddress[], family?: number) => void;

/** Names under `localhost` are this machine (RFC 6761 §6.3), also where the system's resolver does not know that. */
export function lookup(hostname: string, options: LookupOptions, callback: LookupCallback): void {
  if (!isWithin(hostname.toLowerCase().replace(/\.$/, ''), 'localhost') || hostname.toLowerCase() === 'localhost') {
    systemLookup(hostname, options, callback);
    return;
  }
  const addresses: LookupAddress[] = [
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ];
  process.nextTick(() => {
    if (options.all === true) callback(null, addresses);
    else callback(null, '127.0.0.1', 4);
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

/** Node copies all of a request's options, twice, to find a kept connection by host and port. */
class LeanAgent extends HttpAgent {
  addRequest(request: ClientRequest, { host, port }: ConnectionOptions): void {
    const { addRequest } = HttpAgent.prototype as unknown as { addRequest: AddRequest };
    addRequest.call(this, request, { host, port, servername: '' });
  }
}

/** Connections to upstreams, kept open between requests. */
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
