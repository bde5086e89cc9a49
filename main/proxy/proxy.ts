import type { IncomingMessage, Server as HttpServer } from 'node:http';
import type { Server, Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import type { Clock, Timer } from '../base/clock.ts';
import { bindPort, type BoundPort } from '../base/bind-port.ts';
import { LOOPBACK_ADDRESSES } from '../base/config.ts';
import { parseAuthority } from '../base/hostname.ts';
import { hasBody, isHttp2 } from '../base/http/message.ts';
import type { Decision } from '../model/rate-decision.ts';
import type { Log } from '../base/log.ts';
import type { PlanLimits } from '../contract/projects.ts';
import type { RequestLimiter } from '../model/caller.ts';
import { cutExchange, type Connection, type Exchange, type Listener } from './connection.ts';
import { createConnections } from './connections.ts';
import type { ErrorPages } from './error-pages.ts';
import type { ExchangeSummary } from '../model/exchange-record.ts';
import { createExchanges, type Recording } from './exchanges.ts';
import { createHttp1Server, serveHttp1, timeOutRequest } from './http1.ts';
import { createHttp2Acceptor } from './http2.ts';
import { explainParserError, faultResponse } from './parser-fault.ts';
import { boundConnections, readOpenFilesMax } from './open-files.ts';
import { NO_INTERNAL_TOKENS, type InternalTokens } from './internal-tokens.ts';
import { DEFAULT_PROXY_LIMITS, type ProxyLimits } from './proxy-limits.ts';
import { buildRouteTable, type RouteTable } from './route-table.ts';
import { EMPTY_SNAPSHOT, type Route, type Snapshot } from '../model/route.ts';
import { sweepConnection } from './sweep.ts';
import type { Target } from './target.ts';
import { createTlsServer, serveTls, type TlsListenerOptions } from './tls-listener.ts';
import { acceptConnect, type TunnelOptions } from './tunnel.ts';
import { createUpstreams } from './upstream/upstream.ts';

export interface ProxyOptions {
  clock: Pick<Clock, 'monotonic' | 'realTimer'>;
  log: Log;
  limiter: RequestLimiter;
  /** For what Vivarium sends itself, on an API key's behalf; nothing when left out. */
  internalTokens?: Pick<InternalTokens, 'redeem'>;
  targets: { api: Target };
  /** What this Vivarium calls itself in `Via`. */
  pseudonym: string;
  /** The certificate for a hostname that is served; null when there is none to show. Expected to be cached. */
  contextFor: (hostname: string) => SecureContext | null;
  /** Why a hostname is not served although it is attached, as a sentence for its error page; null for any other. */
  whyUnserved?: (hostname: string) => string | null;
  /** Whose certificate is shown to TLS clients that name no server. */
  defaultHostname: string;
  pages: ErrorPages;
  /** What callers without a valid API key are held to. */
  freeLimits: PlanLimits;
  limits?: Partial<ProxyLimits>;
  /** Told of every request that reaches its target, or is refused in its place. Must not throw. */
  onArrival?: (route: Route, decision: Decision | null) => void;
  /** How much of an exchange its summary has a record of; nothing when left out. */
  recording?: () => Recording;
  /** Told of every exchange when it is over. Must not throw. */
  onExchange?: (summary: ExchangeSummary) => void;
}

export interface ListenerAddress {
  port: number;
  addresses: string[];
}

export interface Proxy {
  /**
   * Binds both ports on 127.0.0.1 and ::1; 0 is any free port. Once only.
   * @throws VivariumError `conflict`, when a port cannot be had; then nothing is left open.
   */
  start(ports: {
    httpPort: number;
    httpsPort: number;
  }): Promise<{ http: ListenerAddress; https: ListenerAddress; warnings: string[] }>;
  /**
   * From the next request on, `snapshot` is what is served. Connections, requests and streams of hostnames that it has
   * no more (or has for another project) are closed before this returns, and so are tunnels to where a hostname does not
   * lead any more.
   */
  publish(snapshot: Snapshot): void;
  /** Open connections of both listeners. */
  connections(): number;
  /** Accepts no more, lets requests in progress finish for at most `deadlineMs` of real time, then closes the rest. */
  stop(deadlineMs: number): Promise<void>;
}

/** How many idle connections make room when the system has no file descriptors left. */
const ROOM_CONNECTIONS = 64;

/** The data plane: listeners and stages; `README.md` has the picture. */
export function createProxy(options: ProxyOptions): Proxy {
  const { clock, log } = options;
  const wanted: ProxyLimits = { ...DEFAULT_PROXY_LIMITS, ...options.limits };
  const limits = { ...wanted, connectionsMax: boundConnections(wanted.connectionsMax, readOpenFilesMax()) };
  const httpListener: Listener = { scheme: 'http', port: 0 };
  const httpsListener: Listener = { scheme: 'https', port: 0 };
  const closingResponse = faultResponse(
    explainParserError({ name: '', message: '', code: 'ERR_HTTP_REQUEST_TIMEOUT' }, limits),
  );
  let table = buildRouteTable(EMPTY_SNAPSHOT);
  const bound: BoundPort[] = [];
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
    freeLimits: options.freeLimits,
    pages: options.pages,
    whyUnserved: options.whyUnserved ?? (() => null),
    onArrival: options.onArrival,
    recording: options.recording ?? (() => 'off'),
    onExchange: options.onExchange,
    table: () => table,
    stopping: () => stopped !== null,
  });
  const serveHttp2 = createHttp2Acceptor({
    connections,
    log,
    limits,
    onRequest: (request, response, awaitsContinue) => exchanges.serve({ request, response }, awaitsContinue),
  });

  const createPlainServer = (): HttpServer =>
    createHttp1Server({
      connections,
      listener: httpListener,
      clock,
      log,
      limits,
      onRequest: (request, response, awaitsContinue) => exchanges.serve({ request, response }, awaitsContinue),
      mayUpgrade: (request) =>
        connections.of(request.socket)?.exchanges.length === 0 && mayUpgradeToWebSocket(request, table),
      onUpgrade: (request, socket, head) => exchanges.upgrade(request, socket, head),
      onConnect: (request, socket, head) => acceptConnect(request, socket, head, tunnels),
    });

  /** HTTP/1.x inside TLS, and inside a tunnel, is served by the same kind of server as outside. */
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
    knows: (hostname) => table.knows(hostname),
    serveHttp1: serveWithinHttp1,
    serveHttp2,
  };
  const tunnels: TunnelOptions = {
    connections,
    clock,
    log,
    limits,
    table: () => table,
    ports: () => ({ http: httpListener.port, https: httpsListener.port }),
    stopping: () => stopped !== null,
    serve: {
      http: (connection) => serveWithinHttp1(connection, connection.raw),
      https: (connection) => serveTls(connection, secure),
    },
  };

  /** Accepting can fail later, too: a process without file descriptors goes on serving those whom it has. */
  function onServerError(server: Server): void {
    server.on('error', (error: NodeJS.ErrnoException) => {
      log.warn('A listener could not accept a connection', { code: error.code, connections: connections.size() });
      if (error.code === 'EMFILE' || error.code === 'ENFILE') connections.makeRoom(ROOM_CONNECTIONS);
    });
  }

  async function bind<AnyServer extends Server>(listener: Listener, port: number, createServer: () => AnyServer) {
    const option = `--${listener.scheme}-port`;
    const ready = await bindPort({ port, addresses: LOOPBACK_ADDRESSES, option, createServer });
    listener.port = ready.port;
    ready.servers.forEach(onServerError);
    bound.push(ready);
    return ready;
  }

  const closeServers = () => bound.flatMap(({ servers }) => servers).map(close);

  async function listen(ports: { httpPort: number; httpsPort: number }) {
    const http = await bind(httpListener, ports.httpPort, createPlainServer);
    plainServers = http.servers;
    const https = await bind(httpsListener, ports.httpsPort, () => createTlsServer(secure));
    return { http, https };
  }

  function giveUp(exchange: Exchange): void {
    // A stream is reset: its target may still answer, and two answers on one stream would be an error of ours.
    if (isHttp2(exchange.request)) cutExchange(exchange);
    else timeOutRequest(exchange.connection, { clock, log, limits });
  }

  function sweep(): void {
    const nowMs = clock.monotonic();
    const services = { limits, log, closingResponse, onLate: giveUp };
    for (const connection of connections.all()) sweepConnection(connection, nowMs, services);
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
    async start(ports) {
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
    publish(snapshot) {
      const next = buildRouteTable(snapshot);
      const lost = table.lostIn(next);
      table = next;
      if (lost.size > 0) connections.drop(lost);
      connections.dropTunnels(next);
    },
    connections: () => connections.size(),
    stop: (deadlineMs) => (stopped ??= drain(deadlineMs)),
  };
}

/**
 * Whether a request asks for WebSocket at a hostname whose project leads to an upstream. One with a body is no upgrade to
 * us: where that ends and the other protocol begins is for two programs to disagree on.
 */
function mayUpgradeToWebSocket(request: IncomingMessage, table: RouteTable): boolean {
  const { method, url, headers } = request;
  if (method !== 'GET' || headers.upgrade?.toLowerCase() !== 'websocket' || hasBody(request)) return false;
  // An absolute target (RFC 9112 §3.2.2) may lead elsewhere than `Host`.
  if (url?.startsWith('/') !== true) return false;
  const authority = parseAuthority(headers.host ?? '');
  return authority !== null && table.route(authority.host)?.target.kind === 'upstream';
}

const close = (server: Server): Promise<void> => new Promise((resolve) => server.close(() => resolve()));
