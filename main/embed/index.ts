import { readFileSync } from 'node:fs';
import { isNodeNewEnough, NODE_WANTED } from '../cli/node-version.mjs';
import { invalidRequest, unavailable, VivariumError } from '../contract/errors.ts';
import { makeCalls, type Client } from './client.ts';
import { startEngine } from './engines.ts';
import { checkOptions, PROVIDER_OPTIONS, START_OPTIONS, TENANT_OPTIONS } from './options.ts';
import type {
  ProviderConnection,
  StartOptions,
  Vivarium,
  Tenant,
  TenantOptions,
  Break,
  StartedWorld,
} from './types.ts';
import { Resolver } from 'node:dns/promises';
import net, { isIP, type Socket } from 'node:net';
import type { buildConnector } from 'undici';
import { askTunnel, basic } from '../children/ways.ts';
import { codeOf, messageOf } from '../base/error-code.ts';
import type { RuntimeFile } from '../base/config.ts';

/** Hosts of providers, which lead to the engine for as long as it lives: never to the real ones, not even later. */
type ReservedHosts = Map<string, { proxyUrl: string; ca: string }>;

/** Opens a provider's API in front of projects. */
async function openProvider(
  { providers }: Pick<Client, 'providers'>,
  reserved: ReservedHosts,
  input: Parameters<Client['providers']['connect']>[0],
): Promise<ProviderConnection> {
  const { id, token, baseUrl, env, hosts, proxyUrl, caFile } = await providers.connect(input);
  const ca = readFileSync(caFile, 'utf8');
  for (const host of hosts) reserved.set(host, { proxyUrl, ca });
  let closing: Promise<void> | null = null;
  const close = (): Promise<void> => (closing ??= providers.disconnect({ id }).then(() => undefined));
  return { id, token, baseUrl, env, close, [Symbol.asyncDispose]: close };
}

/** A connection to a provider's host, by the engine's proxy. @throws Error if the engine refuses it */
async function openTunnel(proxyUrl: string, host: string): Promise<Socket> {
  const { port, username, password } = new URL(proxyUrl);
  const place = { scheme: 'https', host, port: 443 } as const;
  const engine = net.connect(Number(port), '127.0.0.1');
  const way = await askTunnel(engine, place, basic(`${username}:${password}`), TUNNEL_MS_MAX);
  if (typeof way !== 'number') return way;
  throw unavailable(`The connection to ${host} was closed (${way}); vivarium.provider() opens another.`);
}

/** Captured at load time: a test may replace the global `fetch` with the one created here. */
const standardFetch = globalThis.fetch;

/** Node's `fetch` before undici 8 uses an older handler interface (undici, "Migrating from v7 to v8"). */
const HANDLERS_CHANGED_IN = 8;

/** The engine answers within milliseconds. */
const TUNNEL_MS_MAX = 5_000;
const QUESTION = { timeout: 2_000, tries: 2 };

/** The default ports of URLs. */
const STANDARD_PORTS: ReadonlySet<string> = new Set(['', '80', '443']);

/** A `fetch` that reaches the hostnames of one engine, and functions that close its connections. */
function makeFetch(runtime: RuntimeFile, reserved: ReservedHosts) {
  const open = () => {
    const opened = openAgent(runtime, reserved);
    // The first request rejects with this error.
    opened.catch(() => undefined);
    return opened;
  };
  let opening = open();
  return {
    /** Closes all connections; the next request opens another one, and asks DNS again. */
    async renew(): Promise<void> {
      const former = opening;
      opening = open();
      await (await former).agent.destroy();
    },
    fetch: (async (input, init) =>
      standardFetch(input, { ...init, dispatcher: (await opening).dispatcher })) satisfies typeof globalThis.fetch,
    close: async () => (await opening).agent.destroy(),
  };
}

async function openAgent(runtime: RuntimeFile, reserved: ReservedHosts) {
  const { Agent, buildConnector, Dispatcher1Wrapper } = await import('undici');
  const lookUp = createLookup(runtime.dns.port);
  const usual = buildConnector({ allowH2: false });

  const connect: buildConnector.connector = (options, callback) => {
    const hostname = options.hostname.replace(/^\[|\]$/g, '');
    // With a dot at its end, it is the same name to DNS.
    const host = hostname.replace(/\.+$/, '');
    const provider = reserved.get(host);
    if (provider !== undefined) {
      if (options.protocol !== 'https:') return callback(new Error(`${host} is simulated over HTTPS only.`), null);
      const secure = buildConnector({ allowH2: false, ca: provider.ca });
      openTunnel(provider.proxyUrl, host).then(
        (httpSocket) => secure({ ...options, httpSocket, servername: host }, callback),
        (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), null),
      );
      return;
    }
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

/** Creates a project with a key, a deploy and pets. Closing the tenant removes the project. */
async function openTenant(
  name: string,
  client: Pick<Client, 'projects' | 'keys' | 'deploys' | 'pets'>,
  fetch: typeof globalThis.fetch,
  { limits, plan = limits === undefined ? 'free' : 'enterprise', pets = 0 }: TenantOptions,
): Promise<Tenant> {
  const project = await client.projects.create({ name, plan, limits });
  const projectId = project.id;
  const remove = async () => void (await client.projects.remove({ projectId }));
  try {
    const key = await client.keys.create({ projectId });
    await client.deploys.create({ projectId });
    if (pets > 0) await client.pets.seed({ projectId, environment: 'production', count: pets });
    const baseUrl = project.secureBaseUrl.production;
    let closing: Promise<void> | null = null;
    const close = () => (closing ??= remove());
    return {
      id: projectId,
      slug: project.slug,
      key: key.secret,
      baseUrl,
      fetch(input, init) {
        const request = new Request(typeof input === 'string' && input.startsWith('/') ? baseUrl + input : input, init);
        if (!request.headers.has('authorization')) request.headers.set('authorization', `Bearer ${key.secret}`);
        return fetch(request);
      },
      close,
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Breaks something until it is repaired. */
export async function startBreak(
  { breaks }: Pick<Client, 'breaks'>,
  input: Parameters<Client['breaks']['start']>[0],
): Promise<Break> {
  const { id } = await breaks.start(input);
  const stop = async (): Promise<void> => {
    try {
      await breaks.stop({ id });
    } catch (error) {
      // The break's time is over, or all breaks were repaired.
      if (!(error instanceof VivariumError) || error.code !== 'not_found') throw error;
    }
  };
  let repairing: Promise<void> | null = null;
  const repair = (): Promise<void> => (repairing ??= stop());
  return { id, repair, [Symbol.asyncDispose]: repair };
}

/** Applies a `vivarium.yaml`, with the files that it names. Paths are relative to the working folder of the process. */
async function bringUp(
  name: string,
  { world, projects, domains }: Pick<Client, 'world' | 'projects' | 'domains'>,
): Promise<StartedWorld> {
  const { readWorldFile } = await import('../cli/world/world-file.ts');
  const { text, files } = await readWorldFile(name, [], { workingDir: process.cwd(), stdin: null });
  const { keys } = await world.apply({ text, files });
  const served = await Promise.all(
    (await projects.list()).map(async ({ id, slug, baseUrl }) => {
      const own = (await domains.list({ projectId: id })).map(({ hostname }) => hostname);
      return [slug, [...new Set([new URL(baseUrl.production).hostname, ...own])]] as const;
    }),
  );
  return {
    keys: Object.fromEntries(keys.map(({ project, name: key, secret }) => [`${project}/${key}`, secret])),
    hostnames: Object.fromEntries(served),
  };
}

const SNAPSHOT = 'snapshot';

/**
 * Starts a Vivarium in this process, on free ports and in memory. It keeps the process alive only while a call is
 * in progress: a test that fails before `close` leaves nothing behind.
 */
export async function startVivarium(options: StartOptions = {}): Promise<Vivarium> {
  checkOptions('startVivarium', START_OPTIONS, options);
  const { demo = false, clock, file } = options;
  if (!isNodeNewEnough()) throw unavailable(NODE_WANTED);
  const engine = await startEngine({ empty: !demo });
  const { runtime } = engine;
  const client = makeCalls(engine) as unknown as Client;
  const reserved: ReservedHosts = new Map();
  const { fetch, renew, close: closeConnections } = makeFetch(runtime, reserved);
  let closing: Promise<void> | null = null;
  const close = () => (closing ??= Promise.all([closeConnections(), engine.stop()]).then(() => undefined));
  let world: StartedWorld = { keys: {}, hostnames: {} };
  try {
    if (file !== undefined) world = await bringUp(file, client);
    if (clock !== undefined) {
      await client.clock.freeze();
      await client.clock.set({ to: clock }).catch((error: unknown) => {
        throw invalidRequest(messageOf(error).replace(/^to /, 'clock '));
      });
    }
  } catch (error) {
    await close();
    throw error;
  }
  let tenants = 0;
  return {
    ...client,
    world: { ...client.world, ...world },
    ca: Object.defineProperty({ ...client.ca, file: runtime.caFile, pem: '' }, 'pem', {
      get: () => readFileSync(runtime.caFile, 'utf8'),
    }),
    manners: Object.assign<Client['manners']['report'], Client['manners']>(
      (input) => client.manners.report(input),
      client.manners,
    ),
    ports: {
      http: runtime.http.port,
      https: runtime.https.port,
      dns: runtime.dns.port,
      control: Number(new URL(runtime.control.url).port),
    },
    proxyUrl: runtime.proxy.url,
    env: engine.env,
    url: (hostname) => `https://${hostname}:${runtime.https.port}`,
    fetch,
    snapshot: async (name = SNAPSHOT) => void (await client.snapshots.save({ name, force: true })),
    restore: async (name = SNAPSHOT) => void (await client.snapshots.restore({ name })),
    break: (entry, options = {}) => startBreak(client, { ...options, entry }),
    async examine(table, test, of = {}) {
      const { examineInProcess } = await import('./examine.ts');
      return examineInProcess(client, renew, table, test, of);
    },
    async provider(name, project, of = {}) {
      checkOptions('provider', PROVIDER_OPTIONS, of);
      return openProvider(client, reserved, { provider: name, projectId: project, also: [...(of.also ?? [])] });
    },
    async tenant(of = {}) {
      checkOptions('tenant', TENANT_OPTIONS, of);
      return openTenant(`Tenant ${++tenants}`, client, fetch, of);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
