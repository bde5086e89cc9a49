/**
 * The control port: access to the whole contract with the token.
 *
 * A caller with the token creates and removes projects, keys and data, reads every stored record, moves the clock, and
 * sees all traffic on this machine. It cannot read files or run programs, except an installed browser at served
 * hostnames, but it owns this Vivarium. Access is therefore narrow:
 *
 * 1. It listens on 127.0.0.1 and ::1 only.
 * 2. It accepts only its own names (`Host`), which defeats DNS rebinding, and only its own page (`Origin`,
 * `Sec-Fetch-Site`); it never sends a CORS header. See `guard.ts`.
 * 3. Every call needs the token, which is in a file that only its owner can read. Over HTTP it is a header, which a
 * foreign page cannot send; over WebSocket it is a subprotocol. It is never in an address or a cookie. Only the
 * interface's files, the description of the contract and `/healthz` are public. Browsers get a one-time sign-in link
 * instead of the token, and a session for it: program arguments are visible to all users, and browsers keep a history.
 * 4. Everything is bounded: header and body sizes, times, connections, tabs, calls.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { bindPort } from '../base/system/bind-port.ts';
import { pairsOf, readBearerToken } from '../base/http/message.ts';
import type { Clock } from '../base/clock.ts';
import { LOOPBACK_ADDRESSES } from '../base/config.ts';
import type { Log } from '../base/log.ts';
import { invalidRequest, notFound, unavailable, VivariumError } from '../contract/errors.ts';
import { boundConnections } from './connections.ts';
import { createAssets, type OpenFile, sendOpenFile } from './assets.ts';
import { drainRefused } from './body.ts';
import { type Access, createSignIn, SIGN_IN_PATH, refusalOf } from './access.ts';
import { API_PREFIX, createHttpApi } from './http-api.ts';
import { refuseConnection, sendFailure, sendJson } from './responses.ts';
import type { ControlRouter } from './router.ts';
import { createSockets, SOCKET_PATH } from './sockets.ts';

/** Connections per address family: enough for the tabs, scripts and streams of one developer. */
export const CONTROL_CONNECTIONS_MAX = 256;

/** A client on this machine sends its header at once. */
const HEADER_MS_MAX = 10_000;

/** Allows for the largest import on a busy machine. */
const REQUEST_MS_MAX = 120_000;

const KEEP_ALIVE_MS = 30_000;
const CHECK_INTERVAL_MS = 5_000;

/** Answers without the token; its only information is that all listeners are ready. */
const HEALTH_PATH = '/healthz';
const HEALTHY: OpenFile = { contentType: 'text/plain; charset=utf-8', read: () => Buffer.from('ok\n') };

/** `POST` with the token stops this Vivarium: Windows has no signal that a program could act on. */
const STOP_PATH = '/stop';

const LOOP = 'The project’s target is the control port of this Vivarium. Point it at your own server.';

/** Time for answers in progress. */
const SIGN_OUT_MS = 200;

export interface ControlServerOptions {
  clock: Pick<Clock, 'realTimer' | 'monotonic'>;
  log: Log;
  router: ControlRouter;
  /** Checks tokens: letters, digits, `.`, `-` and `_` only, to fit into a subprotocol. */
  access: Access;
  /** 0 means any free port. */
  port: number;
  /** 127.0.0.1 and ::1 if omitted. The accepted names are always those of loopback. */
  addresses?: readonly string[];
  /** Per address; `CONTROL_CONNECTIONS_MAX` if omitted. */
  connectionsMax?: number;
  /** Whether the `Via` field of a request shows that this Vivarium forwarded it: the port is no project's upstream. */
  isForwarded: (via: string | undefined) => boolean;
  /** The folder of the built interface; null when there is none. */
  assetsDir: string | null;
  /** Starts to stop this Vivarium, like a signal. */
  requestStop: () => void;
  /** Public files, by path. */
  openFiles?: ReadonlyMap<string, OpenFile>;
  version: string;
}

export function createControlServer(options: ControlServerOptions) {
  const { access, clock, log, router, version, openFiles, connectionsMax = CONTROL_CONNECTIONS_MAX } = options;
  const isToken = (candidate: string): boolean => access.accepts(candidate);
  const isTrusted = ({ headers }: IncomingMessage): boolean => isToken(readBearerToken(headers.authorization) ?? '');
  const api = createHttpApi({ router, clock, log, isToken, version });
  const sockets = createSockets({ router, clock, log, isToken });
  const signIn = createSignIn({ clock, access });
  const assets = createAssets(options.assetsDir);
  const idleClosers: (() => void)[] = [];
  let servers: Server[] = [];
  let port = options.port;
  let stopping = false;
  let ready = false;

  function refusal(request: IncomingMessage): VivariumError | null {
    if (stopping) return unavailable('Vivarium is stopping.');
    if (options.isForwarded(request.headers.via)) return new VivariumError('loop_detected', LOOP);
    const reason = refusalOf(requestOriginOf(request), port);
    return reason === null ? null : new VivariumError('forbidden', reason);
  }

  function receive(request: IncomingMessage, response: ServerResponse): void {
    response.once('close', () => {
      // The connection may have been announced as keep-alive.
      if (stopping) request.socket.destroySoon();
    });
    response.on('error', (error) => log.debug('An answer of the control port could not be sent', { error }));
    const refused = refusal(request);
    if (refused !== null) {
      sendFailure(response, refused, { Connection: 'close' });
      drainRefused(request, clock);
      return;
    }
    const path = pathOf(request);
    const openFile = openFiles?.get(path);
    if (path === HEALTH_PATH && !ready) {
      sendFailure(response, unavailable('Vivarium is starting.'));
      request.resume();
    } else if (path === HEALTH_PATH) {
      sendOpenFile(HEALTHY, request, response, clock);
    } else if (path === STOP_PATH) {
      receiveStop(request, response, { ...options, isTrusted });
    } else if (openFile !== undefined) {
      sendOpenFile(openFile, request, response, clock);
    } else if (path === SOCKET_PATH) {
      const error = invalidRequest('This path accepts WebSocket only; scripts POST to /api/.');
      sendFailure(response, error, { Connection: 'close' });
      drainRefused(request, clock);
    } else if (path.startsWith(API_PREFIX) || path === API_PREFIX.slice(0, -1)) {
      void api.handle(request, response, path);
    } else if (path === SIGN_IN_PATH || path.startsWith(`${SIGN_IN_PATH}/`)) {
      signIn.handle(request, response, path);
    } else {
      void assets.handle(request, response, path);
    }
  }

  function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const refused = refusal(request);
    if (refused !== null) return refuseConnection(socket, refused);
    if (pathOf(request) !== SOCKET_PATH) {
      return refuseConnection(socket, notFound(`WebSocket is available at ${SOCKET_PATH} only.`));
    }
    sockets.upgrade(request, socket, head);
  }

  return {
    /** Starts listening and returns the address. @throws VivariumError `conflict` when the port is unavailable. */
    async start(): Promise<{ port: number; url: string; warnings: string[] }> {
      const bound = await bindPort({
        port: options.port,
        addresses: options.addresses ?? LOOPBACK_ADDRESSES,
        option: '--control-port',
        createServer() {
          const server = createListener(receive, upgrade);
          idleClosers.push(boundConnections(server, { max: connectionsMax, clock, isTrusted }));
          return server;
        },
      });
      ({ port, servers } = bound);
      // Accepting can fail temporarily, for example without free file descriptors.
      for (const server of servers) {
        server.on('error', (error) => log.warn('The control port could not accept a connection', { error }));
      }
      return { port, url: `http://127.0.0.1:${port}`, warnings: bound.warnings };
    },
    /** Refuses new calls, ends the streams, waits for running calls for at most `deadlineMs` (real time), closes. */
    async stop(deadlineMs: number): Promise<void> {
      stopping = true;
      api.stop();
      const timer = clock.realTimer(deadlineMs, () => {
        sockets.cut();
        servers.forEach((server) => server.closeAllConnections());
      });
      const closed = servers.map(closeServer);
      for (const closeIdle of idleClosers) closeIdle();
      await Promise.all([sockets.stop(), ...closed]);
      timer.cancel();
    },
    /** From now on, `/healthz` answers 200: all listeners are ready. */
    ready(): void {
      ready = true;
    },
    /** Ends all sessions and streams after a moment, so the requesting caller still gets its answer. */
    signOutAll(): void {
      clock.realTimer(SIGN_OUT_MS, () => {
        api.stop();
        void sockets.stop('The token has been renewed');
      });
    },
    /** The path of a one-time sign-in link, valid for a minute unless specified. */
    signInPath: signIn.issue,
    /** Number of watchers: browser tabs, and event streams over HTTP. */
    clients: (): number => sockets.count() + api.streams(),
  };
}

function createListener(
  receive: (request: IncomingMessage, response: ServerResponse) => void,
  upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void,
): Server {
  const server = createServer(
    {
      headersTimeout: HEADER_MS_MAX,
      requestTimeout: REQUEST_MS_MAX,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: CHECK_INTERVAL_MS,
      // Other upgrade offers, such as HTTP/2's, are ignored (RFC 9110 §7.8).
      shouldUpgradeCallback: (request) => request.headers.upgrade?.toLowerCase() === 'websocket',
    },
    receive,
  );
  server.on('checkContinue', receive);
  server.on('upgrade', upgrade);
  server.on('clientError', refuseMalformed);
  return server;
}

function receiveStop(
  request: IncomingMessage,
  response: ServerResponse,
  { isTrusted, clock, requestStop }: ControlServerOptions & { isTrusted: (request: IncomingMessage) => boolean },
): void {
  if (request.method !== 'POST') {
    sendFailure(response, new VivariumError('method_not_allowed', 'Request a stop with POST.'), { Allow: 'POST' });
  } else if (!isTrusted(request)) {
    sendFailure(response, new VivariumError('unauthorized', 'A stop needs the token.'));
  } else {
    sendJson(response, 202, '{}');
    requestStop();
  }
  drainRefused(request, clock);
}

const pathOf = (request: IncomingMessage): string => (request.url ?? '/').split(/[?#]/, 1)[0] ?? '/';

function requestOriginOf(request: IncomingMessage): Parameters<typeof refusalOf>[0] {
  const { rawHeaders, headers } = request;
  // `headers` keeps only the first of several Host headers.
  const hosts = pairsOf(rawHeaders).flatMap(([name, value]) => (name.toLowerCase() === 'host' ? [value] : []));
  return {
    target: request.url ?? '',
    hosts,
    origin: headers.origin,
    fetchSite: headers['sec-fetch-site']?.toString(),
    fetchMode: headers['sec-fetch-mode']?.toString(),
  };
}

/** Resolves when the last connection has closed, upgraded ones included. */
function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    if (server.listening) server.close(() => resolve());
    else resolve();
  });
}

/** Status and sentence for malformed HTTP requests: RFC 9112 §2.2, RFC 6585 §5, RFC 9110 §15.5.9. */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Duplex): void {
  switch (error.code) {
    case 'ECONNRESET':
      socket.destroy();
      return;
    case 'HPE_HEADER_OVERFLOW':
      return refuseConnection(socket, new VivariumError('header_fields_too_large', 'The header is too large.'));
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return refuseConnection(socket, invalidRequest('The request took too long to arrive.'), 408);
    default:
      return refuseConnection(socket, invalidRequest('This is not an HTTP/1.1 request.'));
  }
}
