import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { watchHeads, WatchedResponse } from '../capture.ts';
import { endHttp1, type Connection, type Exchange, type Listener } from './connection.ts';
import type { Connections } from './connections.ts';
import type { ProxyLimits } from './proxy-limits.ts';
import { isAnsweredByUpstream } from './sweep.ts';
import { rawResponse } from '../../base/http/answer.ts';
import { type ErrorCode, ERROR_CATALOGUE } from '../../contract/errors.ts';
import { errorText, type Problem } from '../../model/problem.ts';

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

/** An error from Node's HTTP/1.x parser. */
export interface ParserError extends Error {
  code?: string;
  reason?: string;
  /** The chunk that failed to parse. */
  rawPacket?: Uint8Array;
}

const FRAMING = 'Send exactly one Content-Length, or Transfer-Encoding: chunked alone.';

/** Keyed by the parser's reason, where one code covers faults with different remedies. */
const BY_REASON: Record<string, string> = {
  'Expected CRLF after version': 'The request line does not end with CR LF.',
  'Duplicate Content-Length': `The request has more than one Content-Length. ${FRAMING}`,
  "Transfer-Encoding can't be present with Content-Length": `The request has both Content-Length and Transfer-Encoding. ${FRAMING}`,
  "Content-Length can't be present with Transfer-Encoding": `The request has both Content-Length and Transfer-Encoding. ${FRAMING}`,
  'Unexpected whitespace after header value':
    'A header field is folded over several lines (obs-fold). Put it on one line.',
  'Chunk size overflow': 'The size of a chunk exceeds the limit. Send smaller chunks.',
};

const BY_CODE: Record<string, string> = {
  HPE_INVALID_METHOD: 'The request does not begin with a known method. Methods are upper case.',
  HPE_INVALID_URL:
    'The request target is neither a path that begins with a slash nor an http or https URL, or it contains a character that must be percent-encoded.',
  HPE_INVALID_CONSTANT:
    'The request line is not "METHOD target HTTP/1.1"; spaces in the target must be percent-encoded.',
  HPE_INVALID_VERSION: 'The HTTP version of the request line is neither HTTP/1.1 nor HTTP/1.0.',
  HPE_PAUSED_H2_UPGRADE: 'HTTP/2 is available only over HTTPS, negotiated by ALPN.',
  HPE_CR_EXPECTED: 'A line ends with a bare LF. End it with CR LF.',
  HPE_LF_EXPECTED: 'A line contains a CR without an LF after it. End it with CR LF.',
  HPE_UNEXPECTED_SPACE: 'The line after the request line begins with a space.',
  HPE_INVALID_HEADER_TOKEN:
    'A header field contains a character that is not allowed, or has no colon directly after its name.',
  HPE_INVALID_CONTENT_LENGTH: 'Content-Length is not a valid decimal number.',
  HPE_UNEXPECTED_CONTENT_LENGTH: `Content-Length is not allowed there. ${FRAMING}`,
  HPE_INVALID_TRANSFER_ENCODING: `Transfer-Encoding is not exactly chunked. ${FRAMING}`,
  HPE_INVALID_CHUNK_SIZE: 'The size of a chunk is not a plain hexadecimal number.',
  HPE_INVALID_EOF_STATE: 'The connection was closed before the request was complete.',
};

/** A one-line explanation and a status. */
export interface ParserFault {
  code: ErrorCode;
  status: number;
  message: string;
}

const fault = (code: ErrorCode, message: string): ParserFault => ({
  code,
  status: ERROR_CATALOGUE[code].status,
  message,
});

/** Explains `error` to the client. */
export function explainParserError(error: ParserError, limits: ProxyLimits): ParserFault {
  switch (error.code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return fault(
        'request_timeout',
        `The request was not complete in time: the limit is ${limits.headersTimeoutMs / 1000} s for its header section and ${limits.requestTimeoutMs / 1000} s in total. Send it again.`,
      );
    case 'HPE_HEADER_OVERFLOW':
      return isTargetTooLong(error.rawPacket, limits.targetLengthMax)
        ? fault(
            'uri_too_long',
            `The request target has more than ${limits.targetLengthMax} characters. Shorten it, or send the data in a body.`,
          )
        : fault(
            'header_fields_too_large',
            `The request line and header section have more than ${limits.headerBytesMax} bytes. Send fewer or shorter fields.`,
          );
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return fault('payload_too_large', 'The chunk extensions exceed the limit. Leave them out.');
    default:
      return fault(
        'invalid_request',
        BY_REASON[error.reason ?? ''] ?? BY_CODE[error.code ?? ''] ?? 'The bytes received are not an HTTP/1.1 request.',
      );
  }
}

/**
 * The parser counts the target as part of the header section; only the length of the first line distinguishes the two.
 */
function isTargetTooLong(packet: Uint8Array | undefined, targetLengthMax: number): boolean {
  return (
    packet !== undefined &&
    packet.length > targetLengthMax &&
    /^[A-Z]+ \S+$/.test(Buffer.from(packet.subarray(0, targetLengthMax)).toString('latin1'))
  );
}

/** Matches a TLS handshake or alert record: the client speaks HTTPS to the HTTP port. */
export const looksLikeTls = (firstBytes: Uint8Array | undefined): boolean =>
  firstBytes !== undefined && (firstBytes[0] === 0x16 || firstBytes[0] === 0x15) && firstBytes[1] === 0x03;

/** `fault` as a complete response that closes the connection. */
export const faultResponse = (fault: ParserFault & Partial<Pick<Problem, 'headers'>>): string =>
  rawResponse(fault.status, fault.headers ?? [], errorText(fault));
