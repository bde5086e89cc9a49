import { once } from 'node:events';
import { request } from 'node:http';
import { BlockList, connect, isIP, type Socket, type TcpNetConnectOpts } from 'node:net';
import { connect as connectTls, type SecureContext } from 'node:tls';
import { reasonOf } from '../base/error-code.ts';
import { LruMap } from '../base/lru.ts';
import { isWithin, type Scheme } from '../base/text/hostname.ts';

/** An open connection to a place. */
export interface Way {
  socket: Socket;
  /** For plain HTTP, another proxy that the connection leads to: its `Proxy-Authorization`, empty without one. */
  proxy: string | null;
}

export interface WaysOptions {
  /** The HTTP port of the Vivarium whose hostnames the children reach; null while it does not run. */
  enginePort: () => number | null;
  /** The environment of the process that starts the children: the proxy that they had before. */
  env: Environment;
  /** The roots that the children trust. */
  trust: () => SecureContext;
  /** Hosts that only Vivarium answers, whatever happens, each with the credentials for its proxy. */
  reserved?: ReadonlyMap<string, string>;
}

/** The engine answers at once. Another proxy has to reach the place first. */
const ENGINE_MS_MAX = 5_000;
const PROXY_MS_MAX = 60_000;

/** How many hostnames of Vivarium are remembered while it does not answer. */
const KNOWN_MAX = 1_000;

const [OK, FORBIDDEN] = [200, 403];

/**
 * Opens connections for children: to Vivarium for what it serves at this moment, and to everything else as before,
 * directly or through the proxy that was set.
 */
export function createWays({ enginePort, env, trust, reserved = new Map() }: WaysOptions) {
  const sockets = new Set<Socket>();
  const known = new LruMap<true>(KNOWN_MAX);

  /** @throws Error with the reason */
  async function open(place: Place, isTunnel: boolean): Promise<Way> {
    const { host } = place;
    const credentials = reserved.get(host);
    if (credentials !== undefined) return { socket: await toProvider(place, credentials), proxy: null };
    const own = host === 'localhost' || isIP(host) !== 0 ? null : await toEngine(place);
    if (own !== null) return { socket: own, proxy: null };
    // RFC 6761 §6.3: every name below localhost is this machine.
    if (isWithin(host, 'localhost')) return { socket: await dial({ ...place, host: 'localhost' }), proxy: null };
    const proxy = isLoopback(host) ? null : proxyBefore(env, place);
    if (proxy !== null) return through(proxy, place, isTunnel);
    const socket = await dial(place).catch((cause: unknown) => {
      throw new Error(`Vivarium does not serve it, and connecting to it fails (${reasonOf(cause)})`, { cause });
    });
    return { socket, proxy: null };
  }

  /** A connection to one of Vivarium's listeners; null for what it does not serve. */
  async function toEngine(place: Place): Promise<Socket | null> {
    const port = enginePort();
    const way =
      port === null ? 0 : await askTunnel(start({ host: '127.0.0.1', port }), place, '', ENGINE_MS_MAX).catch(() => 0);
    if (typeof way !== 'number') {
      known.set(place.host, true);
      return way;
    }
    if (way === FORBIDDEN) known.delete(place.host);
    // A machine elsewhere that has the same name must not receive what is meant for Vivarium.
    else if (known.peek(place.host) === true) throw new Error('Vivarium, which serves it, does not answer');
    return null;
  }

  /** A connection to the emulated API of a provider, whose real host is never dialled. */
  async function toProvider({ host, port }: Place, credentials: string): Promise<Socket> {
    const engine = enginePort();
    if (engine === null) throw new Error('Vivarium, which simulates it, does not run');
    const socket = start({ host: '127.0.0.1', port: engine });
    const place = { host, port, scheme: 'https' } as const;
    const way = await askTunnel(socket, place, basic(credentials), ENGINE_MS_MAX).catch((cause: unknown) => {
      throw new Error(`Vivarium, which simulates it, does not answer (${reasonOf(cause)})`, { cause });
    });
    if (typeof way !== 'number') return way;
    const why = way === FORBIDDEN ? 'answers over HTTPS at port 443 only' : 'was started anew: start the command again';
    throw new Error(`Vivarium, which simulates it, ${why}`);
  }

  async function through(proxy: URL, place: Place, isTunnel: boolean): Promise<Way> {
    const { protocol, hostname, username, password } = proxy;
    if (!/^https?:$/.test(protocol)) throw new Error(`a proxy of the kind ${protocol}// cannot be used here`);
    const host = hostname.replace(/[[\]]/g, '');
    const dialled = await dial({ host, port: Number(proxy.port) || (protocol === 'https:' ? 443 : 80) });
    const socket = protocol === 'https:' ? await secure(dialled, host) : dialled;
    const credentials = [username, password].map(decodeURIComponent).join(':');
    const authorization = username === '' ? '' : basic(credentials);
    if (!isTunnel) return { socket, proxy: authorization };
    const way = await askTunnel(socket, place, authorization, PROXY_MS_MAX);
    if (typeof way !== 'number') return { socket: way, proxy: null };
    throw new Error(`the proxy ${proxy.host} answered ${way}`);
  }

  async function dial(options: { host: string; port: number }): Promise<Socket> {
    const socket = start(options);
    await once(socket, 'connect');
    return socket;
  }

  function start({ host, port }: TcpNetConnectOpts): Socket {
    const socket = connect({ host: host ?? '', port, allowHalfOpen: true });
    sockets.add(socket);
    return socket.once('close', () => sockets.delete(socket));
  }

  /** TLS over a connection, as a client that trusts the children's roots. */
  async function secure(socket: Socket, host: string): Promise<Socket> {
    const servername = isIP(host) === 0 ? host : '';
    const secured = connectTls({ socket, servername, host, secureContext: trust() });
    await once(secured, 'secureConnect');
    return secured;
  }

  return {
    open,
    secure,
    close: () => {
      for (const socket of sockets) socket.destroy();
    },
  };
}

export const basic = (credentials: string): string => `Basic ${Buffer.from(credentials).toString('base64')}`;

const isLoopback = (host: string): boolean => /^(?:127\.|::1$)/.test(host);

/** Asks a proxy for a tunnel: the socket once it leads there, else the status of the answer, which ends it. */
export function askTunnel(
  socket: Socket,
  { host, port }: Place,
  authorization: string,
  ms: number,
): Promise<Socket | number> {
  const path = `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
  const headers = { host: path, ...(authorization !== '' && { 'proxy-authorization': authorization }) };
  // `Promise.withResolvers` is missing in Node 20.
  return new Promise((resolve, reject) => {
    const asking = request({ method: 'CONNECT', path, headers, timeout: ms, createConnection: () => socket });
    asking.once('connect', ({ statusCode = 0 }, _socket, head: Buffer) => {
      socket.setTimeout(0);
      if (head.length > 0) socket.unshift(head);
      if (statusCode !== OK) socket.destroy();
      resolve(statusCode === OK ? socket : statusCode);
    });
    asking.once('timeout', () => asking.destroy(new Error('it does not answer')));
    asking.once('error', (error) => {
      socket.destroy();
      reject(error);
    });
    asking.end();
  });
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** A place that a program connects to. `host`: without brackets. */
export interface Place {
  scheme: Scheme;
  host: string;
  port: number;
}

/** A variable that programs read in both cases; most of them prefer lower case. */
export const variableOf = (env: Environment, name: string): string =>
  env[name.toLowerCase()] || env[name.toUpperCase()] || '';

/** The proxy that the environment names for a place, as programs read it; null if it is reached directly. */
export function proxyBefore(env: Environment, { scheme, host, port }: Place): URL | null {
  if (isExcluded(variableOf(env, 'NO_PROXY'), host, port)) return null;
  const text = variableOf(env, `${scheme}_proxy`) || variableOf(env, 'ALL_PROXY');
  if (text === '') return null;
  const url = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  if (URL.canParse(url)) return new URL(url);
  throw new Error('the proxy in the environment is not a URL');
}

/**
 * Whether a list such as `NO_PROXY` covers a place: `*`, domains with all names below, addresses and their ranges. Dots
 * around a domain do not count, because some clients skip them.
 */
export const isExcluded = (list: string, host: string, port: number): boolean =>
  list
    .toLowerCase()
    .split(/[\s,]+/)
    .some((entry) => entry === '*' || coversAddress(entry, host) || coversName(entry, host, port));

function coversName(entry: string, host: string, port: number): boolean {
  const [, domain = '', only] = /^\*?\.*([^:]*?)\.*(?::(\d+))?$/.exec(entry) ?? [];
  return domain !== '' && isWithin(host, domain) && (only === undefined || Number(only) === port);
}

function coversAddress(entry: string, host: string): boolean {
  const [address = '', bits] = entry.replace(/[[\]]/g, '').split('/');
  const [family, hostFamily] = [address, host].map((each) => (isIP(each) === 6 ? 'ipv6' : 'ipv4')) as FamilyPair;
  if (isIP(address) === 0 || isIP(host) === 0) return false;
  const length = Number(bits ?? BITS[family]);
  if (!(length >= 0 && length <= BITS[family])) return false;
  const range = new BlockList();
  range.addSubnet(address, length, family);
  return range.check(host, hostFamily);
}

const BITS = { ipv4: 32, ipv6: 128 } as const;
type FamilyPair = [keyof typeof BITS, keyof typeof BITS];
