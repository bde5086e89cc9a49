import type { IncomingMessage, Server as HttpServer } from 'node:http';
import type { Server, Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import type { Clock, EpochMs, Timer } from '../base/clock.ts';
import { bindPort, type BoundPort } from '../base/system/bind-port.ts';
import { LOOPBACK_ADDRESSES } from '../base/config.ts';
import { parseAuthority } from '../base/text/hostname.ts';
import { hasBody, isHttp2 } from '../base/http/message.ts';
import { type FaultSource, NO_FAULTS } from '../model/fault.ts';
import type { Decision, RequestLimiter } from '../model/rate-decision.ts';
import type { Log } from '../base/log.ts';
import { cutExchange, destroyConnection, type Connection, type Exchange, type Listener } from './front/connection.ts';
import { createConnections } from './front/connections.ts';
import type { ErrorPages } from './answer.ts';
import type { ExchangeSummary } from '../model/exchange-record.ts';
import { createExchanges, type Recording } from './exchanges.ts';
import { asUpgrade } from './front/extended-connect.ts';
import { createTrust } from './forwarded-client.ts';
import { createHttp1Server, serveHttp1, timeOutRequest } from './front/http1.ts';
import { createHttp2Acceptor } from './front/http2.ts';
import type { Looks } from './front/looks.ts';
import { loopbackPlace, type OwnPaths, type OwnPlace } from './front/own-paths.ts';
import { explainParserError, faultResponse } from './front/parser-fault.ts';
import { boundConnections, readOpenFilesMax, DEFAULT_PROXY_LIMITS, type ProxyLimits } from './front/proxy-limits.ts';
import { NO_INTERNAL_TOKENS, type InternalTokens } from './identify.ts';
import { buildRouteTable, type RouteTable } from './route-table.ts';
import { EMPTY_SNAPSHOT, type Route, type Snapshot } from '../model/route.ts';
import { sweepConnection } from './front/sweep.ts';
import type { Target } from './target.ts';
import { createTlsServer, serveTls, type TlsListenerOptions } from './front/tls-listener.ts';
import { acceptConnect, type TunnelOptions } from './tunnels/tunnel.ts';
import { createUpstreams } from './upstream/upstream.ts';

export interface ProxyOptions {
  clock: Pick<Clock, 'monotonic' | 'realTimer'>;
  log: Log;
  limiter: RequestLimiter;
  /** Resolves the tokens of requests that Vivarium itself sends; none if omitted. */
  internalTokens?: Pick<InternalTokens, 'redeem'>;
  targets: { api: Target };
  /** This Vivarium's name in `Via`. */
  pseudonym: string;
  /** The certificate for a served hostname, or for clients without SNI (null); null if none. Expected to be cached. */
  contextFor: (hostname: string | null) => SecureContext | null;
  /** Why an attached hostname is not served, as a sentence for its error page; null for any other. */
  whyUnserved?: (hostname: string) => string | null;
  /** The addresses and CIDR blocks of proxies whose forwarding fields are trusted; none if omitted. */
  trustedProxies?: () => readonly string[];
  /** Answers Vivarium's own requests that look at a hostname; none if omitted. */
  looks?: Pick<Looks, 'answer'>;
  /** The paths that Vivarium answers at its own hosts on loopback; none if omitted. */
  ownPaths?: OwnPaths;
  /** Hosts at which Vivarium answers every path; none if omitted. */
  ownSites?: OwnPlace['sites'];
  /** As in `TlsListenerOptions`; nothing if omitted. */
  brokenFor?: TlsListenerOptions['brokenFor'];
  /** The hostname that TLS clients without SNI reach. */
  defaultHostname: string;
  pages: ErrorPages;
  limits?: Partial<ProxyLimits>;
  /** Called for every request that its target answers, or that is refused in its place. Must not throw. */
  onArrival?: (route: Route, decision: Decision | null) => void;
  /** How much of each exchange to record; nothing if omitted. */
  recording?: () => Recording;
  /** Whether answers have `Server-Timing`; false if omitted. */
  serverTiming?: () => boolean;
  /** The running breaks; none if omitted. */
  faults?: FaultSource;
  /** Real time, for dates in broken answers. */
  realNow?: () => EpochMs;
  /** Called at the end of every exchange. Must not throw. */
  onExchange?: (summary: ExchangeSummary) => void;
}

export interface ListenerAddress {
  port: number;
  addresses: string[];
}

/** Idle connections to close when the system runs out of file descriptors. */
const ROOM_CONNECTIONS = 64;

/** The data plane: listeners and stages; see `README.md`. */
export function createProxy(options: ProxyOptions) {
  const { clock, log } = options;
  const wanted: ProxyLimits = { ...DEFAULT_PROXY_LIMITS, ...options.limits };
  const limits = { ...wanted, connectionsMax: boundConnections(wanted.connectionsMax, readOpenFilesMax()) };
  const own = loopbackPlace(options.ownPaths ?? new Map(), options.ownSites);
  const httpListener: Listener = { scheme: 'http', port: 0, own, table: () => table };
  const httpsListener: Listener = { ...httpListener, scheme: 'https' };
  const closingResponse = faultResponse(
    explainParserError({ name: '', message: '', code: 'ERR_HTTP_REQUEST_TIMEOUT' }, limits),
  );
  let table = buildRouteTable(EMPTY_SNAPSHOT);
  const bound = new Set<BoundPort>();
  let plainServers: readonly HttpServer[] = [];
  let sweepTimer: Timer | null = null;
  let stopped: Promise<void> | null = null;

  const connections = createConnections({
    clock,
    log,
    limits,
    closingResponse,
    onLost: (exchange) => exchanges.finish(exchange),
  });
  const upstreams = createUpstreams({ log, limits, pseudonym: options.pseudonym });
  const exchanges = createExchanges({
    clock,
    log,
    connections,
    limits,
    limiter: options.limiter,
    internalTokens: options.internalTokens ?? NO_INTERNAL_TOKENS,
    targets: { ...options.targets, upstream: upstreams },
    pages: options.pages,
    trusts: options.trustedProxies === undefined ? () => false : createTrust(options.trustedProxies),
    whyUnserved: options.whyUnserved ?? (() => null),
    looks: options.looks ?? { answer: () => null },
    onArrival: options.onArrival,
    faults: options.faults ?? NO_FAULTS,
    realNow: options.realNow ?? (() => 0),
    isTimed: options.serverTiming ?? (() => false),
    recording: options.recording ?? (() => 'off'),
    onExchange: options.onExchange,
    httpsPort: () => httpsListener.port,
    servesHttps: (hostname) => options.contextFor(hostname) !== null,
    stopping: () => stopped !== null,
  });
  const serveHttp2 = createHttp2Acceptor({
    connections,
    log,
    limits,
    onRequest: (request, response, awaitsContinue) => exchanges.serve({ request, response }, awaitsContinue),
    onWebSocket(asked) {
      const connection = asked.stream.session && connections.of(asked.stream.session);
      if (!leadsToUpstream(asked.headers[':authority'] ?? asked.headers.host, connection)) return false;
      const { request, socket } = asUpgrade(asked);
      exchanges.upgrade(request, socket, NO_BYTES);
      return true;
    },
  });

  const createPlainServer = (listener: Listener): HttpServer =>
    createHttp1Server({
      connections,
      listener,
      clock,
      log,
      limits,
      onRequest: (request, response, awaitsContinue) => exchanges.serve({ request, response }, awaitsContinue),
      mayUpgrade: (request) => mayUpgrade(request, connections.of(request.socket)),
      onUpgrade: (request, socket, head) => exchanges.upgrade(request, socket, head),
      onConnect: (request, socket, head) => acceptConnect(request, socket, head, tunnels),
    });

  /** The same server class handles HTTP/1.x on TLS connections, tunnels and plain connections. */
  const serveWithinHttp1 = (connection: Connection, socket: Socket): void => {
    const [plainServer] = plainServers;
    if (plainServer === undefined) throw new Error('No address to listen on.');
    serveHttp1(plainServer, connection, socket, connections);
  };
  const secure: TlsListenerOptions = {
    connections,
    listener: httpsListener,
    log,
    contextFor: options.contextFor,
    defaultHostname: options.defaultHostname,
    faults: options.faults ?? NO_FAULTS,
    brokenFor: options.brokenFor ?? (() => null),
    serveHttp1: serveWithinHttp1,
    serveHttp2,
  };
  const tunnels: TunnelOptions = {
    connections,
    clock,
    log,
    limits,
    ports: () => ({ http: httpListener.port, https: httpsListener.port }),
    stopping: () => stopped !== null,
    serve: {
      http: (connection) => serveWithinHttp1(connection, connection.raw),
      https: (connection) => serveTls(connection, secure),
    },
  };

  /** Accepting can fail at any time, for example without free file descriptors; existing connections continue. */
  function onServerError(server: Server): void {
    server.on('error', (error: NodeJS.ErrnoException) => {
      log.warn('A listener could not accept a connection', { code: error.code, connections: connections.size() });
      if (error.code === 'EMFILE' || error.code === 'ENFILE') connections.makeRoom(ROOM_CONNECTIONS);
    });
  }

  async function bind<AnyServer extends Server>(
    listener: Listener,
    { port, addresses = LOOPBACK_ADDRESSES }: { port: number; addresses: readonly string[] | undefined },
    createServer: () => AnyServer,
  ) {
    const option = `--${listener.scheme}-port`;
    const ready = await bindPort({ port, addresses, option, createServer });
    listener.port = ready.port;
    ready.servers.forEach(onServerError);
    bound.add(ready);
    return ready;
  }

  const closeServers = () => [...bound].flatMap(({ servers }) => servers).map(close);

  async function listen({ httpPort, httpsPort, addresses }: Parameters<Proxy['start']>[0]) {
    const http = await bind(httpListener, { port: httpPort, addresses }, () => createPlainServer(httpListener));
    plainServers = http.servers;
    const https = await bind(httpsListener, { port: httpsPort, addresses }, () => createTlsServer(secure));
    return { http, https };
  }

  async function listenOn(address: string, place: OwnPlace): Promise<() => Promise<void>> {
    const opened: BoundPort[] = [];
    const end = async (): Promise<void> => {
      for (const port of opened) bound.delete(port);
      const closed = opened.flatMap(({ servers }) => servers).map(close);
      for (const connection of connections.all()) if (connection.listener.own === place) destroyConnection(connection);
      await Promise.all(closed);
    };
    try {
      for (const { scheme, port } of [httpListener, httpsListener]) {
        const { serves } = place;
        const view = (): RouteTable => (serves === undefined ? table : table.within(serves));
        const listener: Listener = { scheme, port, own: place, table: view };
        const createServer = (): Server =>
          scheme === 'http' ? createPlainServer(listener) : createTlsServer({ ...secure, listener });
        opened.push(await bind(listener, { port, addresses: [address] }, createServer));
      }
    } catch (error) {
      await end();
      throw error;
    }
    return end;
  }

  function giveUp(exchange: Exchange): void {
    // Resets the stream: its target may still answer, and a stream cannot carry two answers.
    if (isHttp2(exchange.request)) cutExchange(exchange);
    else timeOutRequest(exchange.connection, { clock, log, limits });
  }

  function sweep(): void {
    const nowMs = clock.monotonic();
    const services = { limits, log, closingResponse, onLate: giveUp };
    for (const connection of connections.all()) sweepConnection(connection, nowMs, services);
    connections.boundUnread();
    upstreams.sweep(nowMs);
    sweepTimer = clock.realTimer(limits.sweepIntervalMs, sweep);
  }

  async function drain(deadlineMs: number): Promise<void> {
    const closed = closeServers();
    const deadline = clock.realTimer(deadlineMs, () => connections.destroyAll());
    await connections.drain();
    deadline.cancel();
    sweepTimer?.cancel();
    upstreams.close();
    await Promise.all(closed);
  }

  return {
    /**
     * Binds both ports on 127.0.0.1 and ::1; 0 picks any free port. Call it once.
     * @throws VivariumError `conflict` if a port is unavailable; nothing is left open.
     */
    async start(ports: {
      httpPort: number;
      httpsPort: number;
      /** 127.0.0.1 and ::1 if omitted. */
      addresses?: readonly string[];
    }): Promise<{ http: ListenerAddress; https: ListenerAddress; warnings: string[] }> {
      try {
        const { http, https } = await listen(ports);
        sweep();
        return {
          http: { port: http.port, addresses: http.addresses },
          https: { port: https.port, addresses: https.addresses },
          warnings: [...http.warnings, ...https.warnings],
        };
      } catch (error) {
        await Promise.all(closeServers());
        throw error;
      }
    },
    /**
     * Also serves on another address, at the ports of `start`, until the returned function is called, which cuts
     * everything open there. @throws VivariumError `conflict` if a port is unavailable; nothing is left open.
     */
    serveOn: listenOn,
    /**
     * Serves `snapshot` from the next request on. Before it returns, closes the connections, requests and streams of
     * hostnames that are no longer served or belong to another project, and tunnels to them.
     */
    publish(snapshot: Snapshot): void {
      const [before, next] = [table, buildRouteTable(snapshot)];
      table = next;
      upstreams.publish(snapshot);
      connections.drop((hostname) => before.isLostIn(next, hostname));
      connections.dropTunnels(next);
    },
    /** The recorded exchanges that have run for a while and have not ended. */
    running: (): ExchangeSummary[] => exchanges.running(),
    /** Open connections of both listeners. */
    connections: (): number => connections.size(),
    /** Requests whose answers are not complete, and open tunnels. */
    inProgress: (): number =>
      [...connections.all()].reduce((sum, each) => sum + each.exchanges.length + each.ownStreams.size, 0),
    /** Stops accepting, lets requests in progress finish for up to `deadlineMs` of real time, then closes the rest. */
    stop: (deadlineMs: number) => (stopped ??= drain(deadlineMs)),
  };
}

export type Proxy = ReturnType<typeof createProxy>;

/**
 * Whether a request asks for another protocol at a hostname whose project has an upstream. Excluded are upgrades with a
 * body, because two programs could disagree on where it ends, and to HTTP/2, whose requests would bypass the stages.
 */
function mayUpgrade(request: IncomingMessage, connection: Connection | undefined): boolean {
  const { method, url, headers } = request;
  if (method !== 'GET' || /\bh2c?\b/i.test(headers.upgrade ?? 'h2c') || hasBody(request)) return false;
  // An absolute target (RFC 9112 §3.2.2) may name another host than `Host`.
  if (url?.startsWith('/') !== true) return false;
  return connection?.exchanges.length === 0 && leadsToUpstream(headers.host, connection);
}

function leadsToUpstream(text: string | undefined, connection: Connection | undefined): boolean {
  const authority = parseAuthority(text ?? '');
  return authority !== null && connection?.listener.table().route(authority.host)?.target.kind === 'upstream';
}

const NO_BYTES = Buffer.alloc(0);

const close = (server: Server): Promise<void> => new Promise((resolve) => server.close(() => resolve()));
