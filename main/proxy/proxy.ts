import type { IncomingMessage, Server as HttpServer, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { Server } from 'node:net';
import type { SecureContext } from 'node:tls';
import type { Clock, Timer } from '../base/clock.ts';
import { LOOPBACK_ADDRESSES } from '../base/config.ts';
import type { Log } from '../base/log.ts';
import type { PlanLimits } from '../contract/projects.ts';
import { writeAnswer, type Answer } from './answer.ts';
import { bindPort, type BoundPort } from './bind.ts';
import type { Limiter } from './caller.ts';
import { cutExchange, type Listener } from './connection.ts';
import { createConnections } from './connections.ts';
import type { ErrorPages } from './error-pages.ts';
import { summarize, type Exchange, type ExchangeSummary } from './exchange.ts';
import { surveyHeaders } from './header-section.ts';
import { createHttp1Server, serveHttp1 } from './http1.ts';
import { createHttp2Acceptor } from './http2.ts';
import { explainParserError, rawResponse } from './parser-fault.ts';
import { createPipeline } from './pipeline.ts';
import * as problem from './problem.ts';
import { DEFAULT_PROXY_LIMITS, type ProxyLimits } from './proxy-limits.ts';
import { buildRouteTable } from './route-table.ts';
import { EMPTY_SNAPSHOT, type Snapshot } from './snapshot.ts';
import { sweepConnection } from './sweep.ts';
import type { Target } from './target.ts';
import { createTlsServer } from './tls-listener.ts';

export interface ProxyOptions {
  clock: Pick<Clock, 'monotonic' | 'realTimer'>;
  log: Log;
  limiter: Limiter;
  targets: { api: Target };
  /** The certificate for a hostname that is served; null when there is none to show. Expected to be cached. */
  contextFor: (hostname: string) => SecureContext | null;
  /** Whose certificate is shown to TLS clients that name no server. */
  defaultHostname: string;
  pages: ErrorPages;
  /** What callers without a valid API key are held to. */
  freeLimits: PlanLimits;
  limits?: Partial<ProxyLimits>;
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
   * no more (or has for another project) are closed before this returns.
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
  const { clock, log, pages, onExchange } = options;
  const limits: ProxyLimits = { ...DEFAULT_PROXY_LIMITS, ...options.limits };
  const httpListener: Listener = { scheme: 'http', port: 0 };
  const httpsListener: Listener = { scheme: 'https', port: 0 };
  const farewell = rawResponse(explainParserError({ name: '', message: '', code: 'ERR_HTTP_REQUEST_TIMEOUT' }, limits));
  const connections = createConnections({ clock, log, limits, farewell, onLost: finish });
  let table = buildRouteTable(EMPTY_SNAPSHOT);
  let bound: BoundPort[] = [];
  let stopping = false;
  let sweepTimer: Timer | null = null;

  const pipeline = createPipeline({
    limiter: options.limiter,
    targets: options.targets,
    freeLimits: options.freeLimits,
    limits,
    onTargetError: fail,
  });

  const serveHttp2 = createHttp2Acceptor({
    connections,
    log,
    limits,
    onRequest(request, response, awaitsContinue) {
      serve(request, response, request.stream, awaitsContinue);
    },
  });

  function serve(
    request: IncomingMessage | Http2ServerRequest,
    response: ServerResponse | Http2ServerResponse,
    stream: Exchange['stream'],
    awaitsContinue: boolean,
  ): void {
    const connection = connections.of(stream === null ? request.socket : (stream.session ?? stream));
    if (connection === undefined) {
      request.destroy();
      return;
    }
    const exchange: Exchange = {
      connection,
      request,
      response,
      stream,
      table,
      startedMs: clock.monotonic(),
      endedMs: null,
      awaitsContinue,
      headers: surveyHeaders(request.rawHeaders),
      stage: 'listener',
      answered: false,
      authority: null,
      authorityText: '',
      route: null,
      keyId: null,
      caller: null,
      decision: null,
    };
    connections.begin(exchange);
    response.on('close', () => finish(exchange));
    response.on('error', logClientGone);
    if (stream !== null) request.on('error', logClientGone);
    if (stopping && stream === null) response.setHeader('Connection', 'close');
    try {
      const answer = pipeline(exchange);
      if (answer !== null) write(exchange, answer);
    } catch (error) {
      fail(exchange, error);
    }
  }

  const logClientGone = (error: Error): void => log.debug('A client went away during its request', { error });

  function write(exchange: Exchange, answer: Answer): void {
    writeAnswer(exchange, answer, pages, limits.drainBytesMax);
  }

  /** What went wrong behind the stages costs this one request only. */
  function fail(exchange: Exchange, error: unknown): void {
    log.error('A request failed', { hostname: exchange.authority?.host, stage: exchange.stage, error });
    const { response } = exchange;
    if (response.destroyed || response.writableEnded) return;
    if (response.headersSent) {
      cutExchange(exchange);
      return;
    }
    for (const name of response.getHeaderNames()) response.removeHeader(name);
    write(exchange, { kind: 'problem', problem: problem.failed() });
  }

  function finish(exchange: Exchange): void {
    if (connections.end(exchange)) onExchange?.(summarize(exchange, clock.monotonic()));
  }

  function sweep(): void {
    const nowMs = clock.monotonic();
    const services = { limits, log, farewell };
    for (const connection of connections.all()) sweepConnection(connection, nowMs, services);
    sweepTimer = clock.realTimer(limits.sweepIntervalMs, sweep);
  }

  function createPlainServer(): HttpServer {
    const server = createHttp1Server({
      connections,
      clock,
      log,
      limits,
      onRequest: (request, response, awaitsContinue) => serve(request, response, null, awaitsContinue),
    });
    // Before Node's own listener, so that a connection is known when its first request comes.
    server.prependListener('connection', (socket) => {
      if (connections.of(socket) !== undefined) return;
      const connection = connections.open(socket, httpListener);
      if (connection === null) return;
      connection.http1 = socket;
      connection.phase = 'open';
    });
    return server;
  }

  /** Accepting can fail later, too: a process without file descriptors goes on serving those whom it has. */
  function survive(server: Server): void {
    server.on('error', (error: NodeJS.ErrnoException) => {
      log.warn('A listener could not accept a connection', { code: error.code, connections: connections.size() });
      if (error.code === 'EMFILE' || error.code === 'ENFILE') connections.makeRoom(ROOM_CONNECTIONS);
    });
  }

  async function bindBoth(ports: { httpPort: number; httpsPort: number }): Promise<[BoundPort, BoundPort]> {
    const http = await bindPort({
      port: ports.httpPort,
      addresses: LOOPBACK_ADDRESSES,
      option: '--http-port',
      createServer: createPlainServer,
    });
    bound = [http];
    // HTTP/1.x inside TLS is served by the same kind of server as outside; any one that listens will do.
    const [plainServer] = http.servers;
    if (plainServer === undefined) throw new Error('No listener was bound.');
    const createServer = (): Server =>
      createTlsServer({
        connections,
        listener: httpsListener,
        log,
        contextFor: options.contextFor,
        defaultHostname: options.defaultHostname,
        knows: (hostname) => table.knows(hostname),
        serveHttp1: (connection, socket) => serveHttp1(plainServer, connection, socket, connections),
        serveHttp2,
      });
    const https = await bindPort({
      port: ports.httpsPort,
      addresses: LOOPBACK_ADDRESSES,
      option: '--https-port',
      createServer,
    });
    bound = [http, https];
    return bound as [BoundPort, BoundPort];
  }

  return {
    async start(ports) {
      try {
        const [http, https] = await bindBoth(ports);
        httpListener.port = http.port;
        httpsListener.port = https.port;
        for (const { servers } of bound) servers.forEach(survive);
        sweep();
        return {
          http: { port: http.port, addresses: http.addresses },
          https: { port: https.port, addresses: https.addresses },
          warnings: [...http.warnings, ...https.warnings],
        };
      } catch (error) {
        for (const { servers } of bound) for (const server of servers) server.close();
        throw error;
      }
    },
    publish(snapshot) {
      const next = buildRouteTable(snapshot);
      const lost = table.lostIn(next);
      table = next;
      if (lost.size > 0) connections.drop(lost);
    },
    connections: () => connections.size(),
    async stop(deadlineMs) {
      if (stopping) return;
      stopping = true;
      const closed = bound.flatMap(({ servers }) => servers.map(close));
      const deadline = clock.realTimer(deadlineMs, () => connections.destroyAll());
      await connections.drain();
      deadline.cancel();
      sweepTimer?.cancel();
      await Promise.all(closed);
    },
  };
}

const close = (server: Server): Promise<void> => new Promise((resolve) => server.close(() => resolve()));
