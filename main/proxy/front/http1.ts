import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { watchHeads, WatchedResponse } from '../capture.ts';
import { endHttp1, type Connection, type Exchange, type Listener } from './connection.ts';
import type { Connections } from './connections.ts';
import { explainParserError, looksLikeTls, faultResponse, type ParserError } from './parser-fault.ts';
import type { ProxyLimits } from './proxy-limits.ts';
import { isAnsweredByUpstream } from './sweep.ts';

export interface Http1Options {
  connections: Connections;
  /** The listener of connections that this server accepts itself. */
  listener: Listener;
  clock: Pick<Clock, 'monotonic'>;
  log: Log;
  limits: ProxyLimits;
  /** `awaitsContinue`: the client waits for 100 (Continue) before sending its body. */
  onRequest: (request: IncomingMessage, response: ServerResponse, awaitsContinue: boolean) => void;
  /** Whether an upgrade leads to a target that may accept it; any other is answered as a plain request. */
  mayUpgrade: (request: IncomingMessage) => boolean;
  onUpgrade: (request: IncomingMessage, socket: Socket, head: Buffer) => void;
  onConnect: (request: IncomingMessage, socket: Socket, head: Buffer) => void;
}

/**
 * An HTTP/1.x server for plain connections and for those passed to `serveHttp1`. An upgrade that no target accepts is
 * answered as a plain request (RFC 9110 §7.8).
 */
export function createHttp1Server(options: Http1Options): Server {
  const { connections, limits, onRequest } = options;
  const server = createServer({
    // The type declares a generic request type.
    ServerResponse: WatchedResponse as typeof ServerResponse,
    // The authority stage answers a missing Host with an explanation.
    requireHostHeader: false,
    maxHeaderSize: limits.headerBytesMax,
    headersTimeout: limits.headersTimeoutMs,
    // Handled by the sweep: a long upload to an upstream is not a slow client.
    requestTimeout: 0,
    shouldUpgradeCallback: options.mayUpgrade,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: limits.sweepIntervalMs,
    noDelay: true,
    // A request without a body has no stream events then; they take processor time.
    optimizeEmptyRequests: true,
  });
  // Node silently drops fields beyond its limit; the authority stage counts them instead.
  server.maxHeadersCount = 0;
  // Runs before Node's own listener, to register the connection before its first request.
  server.prependListener('connection', (socket) => {
    if (connections.of(socket) !== undefined) return;
    const connection = connections.open(socket, options.listener);
    if (connection === null) return;
    adopt(connection, socket);
  });
  server.on('request', (request, response) => onRequest(request, response, false));
  server.on('checkContinue', (request, response) => onRequest(request, response, true));
  // RFC 9110 §10.1.1 allows ignoring other expectations; Node would send a 417 without a body.
  server.on('checkExpectation', (request, response) => onRequest(request, response, false));
  server.on('upgrade', (request, socket, head) => {
    release(socket as Socket);
    options.onUpgrade(request, socket as Socket, head);
  });
  server.on('clientError', (error: ParserError, stream) => {
    const connection = connections.of(stream);
    if (connection !== undefined) answerFault(connection, error, options);
    else stream.destroy();
  });
  server.on('connect', (request, socket, head) => {
    release(socket as Socket);
    options.onConnect(request, socket as Socket, head);
  });
  return server;
}

/** Sets `socket` as the HTTP/1.x side of `connection`. */
export function serveHttp1(server: Server, connection: Connection, socket: Socket, connections: Connections): void {
  adopt(connection, socket);
  connections.link(socket, connection);
  server.emit('connection', socket);
}

function adopt(connection: Connection, socket: Socket): void {
  connection.http1 = socket;
  connection.phase = 'open';
  watchHeads(socket, () => currentExchange(connection)?.record.capture ?? null);
  socket.setTimeout = withoutTimer;
}

/** Node would set and clear a timer for every request; the sweep closes idle connections instead. */
function withoutTimer(this: Socket): Socket {
  return this;
}

/** Reverts `adopt`, for the protocol that follows. */
function release(socket: Socket): void {
  Reflect.deleteProperty(socket, 'setTimeout');
}

/** The exchange whose response is being written: responses follow the order of requests. */
function currentExchange({ exchanges }: Connection): Exchange | undefined {
  const [first] = exchanges;
  // Node begins the next response before the end of the last one is reported.
  return first?.response.writableFinished === true
    ? exchanges.find(({ response }) => !response.writableFinished)
    : first;
}

/** Answers 408 if a request is incomplete after its time limit. */
export function timeOutRequest(connection: Connection, services: Pick<Http1Options, 'clock' | 'log' | 'limits'>): void {
  answerFault(connection, { name: '', message: '', code: 'ERR_HTTP_REQUEST_TIMEOUT' }, services);
}

function answerFault(
  connection: Connection,
  error: ParserError,
  { clock, log, limits }: Pick<Http1Options, 'clock' | 'log' | 'limits'>,
): void {
  const socket = connection.http1;
  // After one fault, the parser reports all further bytes as faults; the client already has its answer.
  if (connection.phase === 'closing' || connection.closingResponse !== null || socket === null) return;
  // Data after `Connection: close`: the previous request is being answered, which ends the connection.
  if (error.code === 'HPE_CLOSED_CONNECTION' && connection.exchanges.length > 0) return;
  log.debug('A client sent an invalid HTTP request', {
    address: connection.address,
    code: error.code,
    reason: error.reason,
  });
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
    // Answers follow the order of requests, so this one is sent after those in progress.
    connection.closingResponse = closingResponse;
  } else if (waiting.length === 1 && !first.response.headersSent) {
    endHttp1(connection, closingResponse, clock.monotonic());
  } else if (waiting.length === 1 && !isAnsweredByUpstream(first)) {
    // Its answer is complete; only the end of the body was missing.
    endHttp1(connection, '', clock.monotonic());
  } else {
    // The response has begun, so no error can be sent.
    socket.destroy();
  }
}
