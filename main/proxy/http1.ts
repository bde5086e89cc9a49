import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { WatchedResponse } from './capture.ts';
import { endHttp1, type Connection, type Listener } from './connection.ts';
import type { Connections } from './connections.ts';
import { explainParserError, looksLikeTls, faultResponse, type ParserError } from './parser-fault.ts';
import type { ProxyLimits } from './proxy-limits.ts';

export interface Http1Options {
  connections: Connections;
  /** Where connections come from that this server accepts itself. */
  listener: Listener;
  clock: Pick<Clock, 'monotonic'>;
  log: Log;
  limits: ProxyLimits;
  /** `awaitsContinue`: the client holds its body back until it is told to go on. */
  onRequest: (request: IncomingMessage, response: ServerResponse, awaitsContinue: boolean) => void;
  /** Whether an upgrade leads to a target that speaks WebSocket; any other is answered as a plain request. */
  mayUpgrade: (request: IncomingMessage) => boolean;
  onUpgrade: (request: IncomingMessage, socket: Socket, head: Buffer) => void;
  onConnect: (request: IncomingMessage, socket: Socket, head: Buffer) => void;
}

/**
 * An HTTP/1.x server, for plain connections and for those that `serveHttp1` hands to it. An upgrade that leads nowhere is
 * answered as the plain request that it also is (RFC 9110 §7.8).
 */
export function createHttp1Server(options: Http1Options): Server {
  const { connections, limits, onRequest } = options;
  const server = createServer({
    // The type says that it could be of any request.
    ServerResponse: WatchedResponse as typeof ServerResponse,
    // The authority stage answers a missing Host, in words.
    requireHostHeader: false,
    maxHeaderSize: limits.headerBytesMax,
    headersTimeout: limits.headersTimeoutMs,
    // The sweep's: a long upload to an upstream is not a slow client.
    requestTimeout: 0,
    shouldUpgradeCallback: options.mayUpgrade,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: limits.sweepIntervalMs,
    noDelay: true,
  });
  // With a limit, Node drops what is beyond it without a word; the authority stage counts.
  server.maxHeadersCount = 0;
  // Before Node's own listener, so that a connection is known when its first request comes.
  server.prependListener('connection', (socket) => {
    if (connections.of(socket) !== undefined) return;
    const connection = connections.open(socket, options.listener);
    if (connection === null) return;
    connection.http1 = socket;
    connection.phase = 'open';
  });
  server.on('request', (request, response) => onRequest(request, response, false));
  server.on('checkContinue', (request, response) => onRequest(request, response, true));
  // Other expectations may be ignored (RFC 9110 §10.1.1); Node's own answer would be a bare 417.
  server.on('checkExpectation', (request, response) => onRequest(request, response, false));
  server.on('upgrade', (request, socket, head) => options.onUpgrade(request, socket as Socket, head));
  server.on('clientError', (error: ParserError, stream) => {
    const connection = connections.of(stream);
    if (connection !== undefined) answerFault(connection, error, options);
    else stream.destroy();
  });
  server.on('connect', (request, socket, head) => options.onConnect(request, socket as Socket, head));
  return server;
}

/** Makes `socket` the HTTP/1.x side of `connection`. */
export function serveHttp1(server: Server, connection: Connection, socket: Socket, connections: Connections): void {
  connection.http1 = socket;
  connection.phase = 'open';
  connections.link(socket, connection);
  server.emit('connection', socket);
}

/** Answers 408 where a request did not come as a whole in time. */
export function timeOutRequest(connection: Connection, services: Pick<Http1Options, 'clock' | 'log' | 'limits'>): void {
  answerFault(connection, { name: '', message: '', code: 'ERR_HTTP_REQUEST_TIMEOUT' }, services);
}

function answerFault(
  connection: Connection,
  error: ParserError,
  { clock, log, limits }: Pick<Http1Options, 'clock' | 'log' | 'limits'>,
): void {
  const socket = connection.http1;
  // What still comes after a fault is one more fault to the parser; the client has its answer.
  if (connection.phase === 'closing' || connection.closingResponse !== null || socket === null) return;
  // Data after `Connection: close`: the request before it is being answered, and the connection ends with that.
  if (error.code === 'HPE_CLOSED_CONNECTION' && connection.exchanges.length > 0) return;
  log.debug('A client sent no HTTP request', { address: connection.address, code: error.code, reason: error.reason });
  if (!socket.writable || (looksLikeTls(error.rawPacket) && !connection.answered)) {
    socket.destroy();
    return;
  }
  const closingResponse = faultResponse(explainParserError(error, limits));
  const waiting = connection.exchanges;
  const [first] = waiting;
  if (first === undefined) {
    endHttp1(connection, closingResponse, clock.monotonic());
  } else if (waiting.every(({ request }) => request.complete)) {
    // Answers go out in the order of the requests; this is the answer to what came after them.
    connection.closingResponse = closingResponse;
  } else if (waiting.length === 1 && first.record.byProxy) {
    endHttp1(connection, '', clock.monotonic());
  } else if (waiting.length === 1 && !first.response.headersSent) {
    endHttp1(connection, closingResponse, clock.monotonic());
  } else {
    // In the middle of a response there is nothing left to say.
    socket.destroy();
  }
}
