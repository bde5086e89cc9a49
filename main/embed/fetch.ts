import { Resolver } from 'node:dns/promises';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import type { buildConnector } from 'undici';
import { codeOf } from '../base/error-code.ts';
import type { RuntimeFile } from '../base/config.ts';

/** A `fetch` that reaches the hostnames of one engine, and a function that closes its idle connections. */
export interface EngineFetch {
  fetch: typeof globalThis.fetch;
  close(): Promise<void>;
}

/** Captured at load time: a test may replace the global `fetch` with the one created here. */
const standardFetch = globalThis.fetch;

/** Node's `fetch` before undici 8 uses an older handler interface (undici, "Migrating from v7 to v8"). */
const HANDLERS_CHANGED_IN = 8;

/** The engine answers within milliseconds. */
const QUESTION = { timeout: 2_000, tries: 2 };

/** The default ports of URLs. */
const STANDARD_PORTS: ReadonlySet<string> = new Set(['', '80', '443']);

export function makeFetch(runtime: RuntimeFile): EngineFetch {
  const opening = openAgent(runtime);
  // The first request rejects with this error.
  opening.catch(() => undefined);
  return {
    fetch: async (input, init) => standardFetch(input, { ...init, dispatcher: (await opening).dispatcher }),
    close: async () => (await opening).agent.destroy(),
  };
}

async function openAgent(runtime: RuntimeFile) {
  const { Agent, buildConnector, Dispatcher1Wrapper } = await import('undici');
  const lookUp = createLookup(runtime.dns.port);
  const usual = buildConnector({ allowH2: false });

  const connect: buildConnector.connector = (options, callback) => {
    const hostname = options.hostname.replace(/^\[|\]$/g, '');
    lookUp(hostname).then(
      (address) => {
        if (address === null) return usual(options, callback);
        const isSecure = options.protocol === 'https:';
        const standard = isSecure ? runtime.https.port : runtime.http.port;
        const port = STANDARD_PORTS.has(options.port) ? String(standard) : options.port;
        // The file is read for each connection, because the root may have been renewed or extended.
        const own = buildConnector({ allowH2: false, ...(isSecure && { ca: readFileSync(runtime.caFile) }) });
        own({ ...options, hostname: address, port, servername: hostname }, callback);
      },
      (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), null),
    );
  };

  const agent = new Agent({ connect, allowH2: false });
  const isOlder = Number.parseInt(process.versions['undici'] ?? '', 10) < HANDLERS_CHANGED_IN;
  const dispatcher = isOlder ? new Dispatcher1Wrapper(agent) : agent;
  // Node's types describe the undici that is built into Node.
  return { agent, dispatcher: dispatcher as unknown as RequestInit['dispatcher'] };
}

/** Queries the engine's DNS server. Returns null for a name outside its zones; rejects if a name has no address. */
function createLookup(dnsPort: number): (hostname: string) => Promise<string | null> {
  const resolver = new Resolver(QUESTION);
  resolver.setServers([`127.0.0.1:${dnsPort}`]);
  return async (hostname) => {
    if (isIP(hostname) !== 0 || hostname === 'localhost') return null;
    try {
      return (await resolver.resolve4(hostname))[0] ?? null;
    } catch (error) {
      // A name outside its zones.
      if (codeOf(error) === 'EREFUSED') return null;
      if (codeOf(error) !== 'ENODATA') throw error;
      return (await resolver.resolve6(hostname))[0] ?? null;
    }
  };
}
