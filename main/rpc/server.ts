/**
 * The control port: everything that the contract has, for whoever holds the token.
 *
 * What it gives away: its caller creates and removes projects, keys and data, reads every stored record, moves the
 * clock, and sees what is served on this machine. It runs no program but an
 * installed browser, at hostnames that are served here, and reads no files, but with its token a stranger owns
 * this Vivarium. So it is narrow on purpose:
 *
 * 1. It listens on 127.0.0.1 and ::1, and nowhere else.
 * 2. It answers to its own names only (`Host`), so that no name which resolves here by a trick reaches it, and to no page
 *    but its own (`Origin`, `Sec-Fetch-Site`); it never sends a CORS header. See `guard.ts`.
 * 3. Every call needs the token, which is kept in a file that only its owner reads. Over HTTP it is
 *    a header that a foreign page cannot send; over WebSocket it is a subprotocol. It is never in an address or a cookie.
 *    Without the token there are the interface's own files and the description of the contract, which are no secrets. A link
 *    that signs in once can be had for it, and is given to browsers instead: programs show their arguments to everybody.
 * 4. Everything has an edge: header and body sizes, times, connections, tabs, calls.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { bindPort } from '../base/bind-port.ts';
import { pairsOf } from '../base/http/fields.ts';
import type { Clock } from '../base/clock.ts';
import { LOOPBACK_ADDRESSES } from '../base/config.ts';
import type { Log } from '../base/log.ts';
import { VivariumError } from '../contract/errors.ts';
import { createAssets, type OpenFile, sendOpenFile } from './assets.ts';
import { drainRefused } from './body.ts';
import { refusalOf, createTokenCheck } from './guard.ts';
import { API_PREFIX, createHttpApi } from './http-api.ts';
import { refuseConnection, sendFailure } from './responses.ts';
import type { ControlRouter } from './router.ts';
import { createSignIn, SIGN_IN_PATH } from './sign-in.ts';
import { createSockets, SOCKET_PATH } from './sockets.ts';

/** Connections per address family: tabs, scripts and streams of one developer, and room. */
const CONNECTIONS_MAX = 256;

/** A client on this machine sends its header at once. */
const HEADER_MS_MAX = 10_000;

/** The largest import, on a machine that is busy. */
const REQUEST_MS_MAX = 120_000;

const KEEP_ALIVE_MS = 30_000;
const CHECK_INTERVAL_MS = 5_000;

export interface ControlServerOptions {
  clock: Pick<Clock, 'realTimer'>;
  log: Log;
  router: ControlRouter;
  /** What every call must show; letters, digits, `-` and `_`, so that it fits into a subprotocol. */
  token: string;
  /** 0 stands for any free port. */
  port: number;
  /** The folder of the built interface; null when there is none. */
  assetsDir: string | null;
  /** What is there for everybody, by its path. */
  openFiles?: ReadonlyMap<string, OpenFile>;
  version: string;
}

export interface ControlServer {
  /**
   * Listens, and says where.
   * @throws VivariumError `conflict` when the port cannot be had.
   */
  start(): Promise<{ port: number; url: string; warnings: string[] }>;
  /** Takes no more calls, ends the streams, waits for what is under way at most `deadlineMs` (real time), closes. */
  stop(deadlineMs: number): Promise<void>;
  /** The path of a link that signs in once, within a minute. */
  signInPath(): string;
  /** Who is watching: browser tabs, and event streams over HTTP. */
  clients(): number;
}

export function createControlServer(options: ControlServerOptions): ControlServer {
  const { clock, log, router, version, openFiles } = options;
  const isToken = createTokenCheck(options.token);
  const api = createHttpApi({ router, clock, log, isToken, version });
  const sockets = createSockets({ router, clock, log, isToken });
  const signIn = createSignIn({ clock, token: options.token, isToken });
  const assets = createAssets(options.assetsDir);
  let servers: Server[] = [];
  let port = options.port;
  let stopping = false;

  function createListener(): Server {
    const server = createServer(
      {
        headersTimeout: HEADER_MS_MAX,
        requestTimeout: REQUEST_MS_MAX,
        keepAliveTimeout: KEEP_ALIVE_MS,
        connectionsCheckingInterval: CHECK_INTERVAL_MS,
        // Other offers, such as HTTP/2's, are answered as if they had not been made (RFC 9110 §7.8).
        shouldUpgradeCallback: (request) => request.headers.upgrade?.toLowerCase() === 'websocket',
      },
      receive,
    );
    server.maxConnections = CONNECTIONS_MAX;
    server.on('checkContinue', receive);
    server.on('upgrade', upgrade);
    server.on('clientError', refuseMalformed);
    return server;
  }

  function refusal(request: IncomingMessage): VivariumError | null {
    if (stopping) return new VivariumError('unavailable', 'Vivarium is stopping.');
    const reason = refusalOf(approachOf(request), port);
    return reason === null ? null : new VivariumError('forbidden', reason);
  }

  function receive(request: IncomingMessage, response: ServerResponse): void {
    response.once('close', () => {
      // It may have been promised to be kept for the next request.
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
    if (openFile !== undefined) {
      sendOpenFile(openFile, request, response, clock);
    } else if (path === SOCKET_PATH) {
      const error = new VivariumError('invalid_request', 'This path takes WebSocket only; scripts POST to /api/.');
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
      return refuseConnection(socket, new VivariumError('not_found', `WebSocket is spoken at ${SOCKET_PATH} only.`));
    }
    sockets.upgrade(request, socket, head);
  }

  return {
    async start() {
      const bound = await bindPort({
        port: options.port,
        addresses: LOOPBACK_ADDRESSES,
        option: '--control-port',
        createServer: createListener,
      });
      ({ port, servers } = bound);
      // Accepting can fail while all is well otherwise, such as for want of file descriptors.
      for (const server of servers) {
        server.on('error', (error) => log.warn('The control port could not take a connection', { error }));
      }
      return { port, url: `http://127.0.0.1:${port}`, warnings: bound.warnings };
    },
    async stop(deadlineMs) {
      stopping = true;
      api.stop();
      const timer = clock.realTimer(deadlineMs, () => {
        sockets.cut();
        servers.forEach((server) => server.closeAllConnections());
      });
      await Promise.all([sockets.stop(), ...servers.map(closeServer)]);
      timer.cancel();
    },
    signInPath: () => signIn.issue(),
    clients: () => sockets.count() + api.streams(),
  };
}

const pathOf = (request: IncomingMessage): string => (request.url ?? '/').split(/[?#]/, 1)[0] ?? '/';

function approachOf(request: IncomingMessage): Parameters<typeof refusalOf>[0] {
  const { rawHeaders, headers } = request;
  // `headers` keeps the first of several Host headers only.
  const hosts = pairsOf(rawHeaders).flatMap(([name, value]) => (name.toLowerCase() === 'host' ? [value] : []));
  return {
    target: request.url ?? '',
    hosts,
    origin: headers.origin,
    fetchSite: headers['sec-fetch-site']?.toString(),
    fetchMode: headers['sec-fetch-mode']?.toString(),
  };
}

/** Resolves when the last connection has gone, upgraded ones included. */
function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    if (server.listening) server.close(() => resolve());
    else resolve();
  });
}

/** Status and sentence for what is no HTTP request: RFC 9112 §2.2, RFC 6585 §5, RFC 9110 §15.5.9. */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Duplex): void {
  switch (error.code) {
    case 'ECONNRESET':
      socket.destroy();
      return;
    case 'HPE_HEADER_OVERFLOW':
      return refuseConnection(socket, new VivariumError('header_fields_too_large', 'The header is too large.'));
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return refuseConnection(
        socket,
        new VivariumError('invalid_request', 'The request took too long to arrive.'),
        408,
      );
    default:
      return refuseConnection(socket, new VivariumError('invalid_request', 'This is no HTTP/1.1 request.'));
  }
}
