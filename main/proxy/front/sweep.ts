import { constants } from 'node:http2';
import type { Log } from '../../base/log.ts';
import { hasBody, isHttp2 } from '../../base/http/message.ts';
import { closeIdle, cutExchange, destroyConnection, isIdle, stalledMs } from './connection.ts';
import type { Connection, Exchange } from './connection.ts';
import type { ProxyLimits } from './proxy-limits.ts';

interface SweepServices {
  limits: ProxyLimits;
  log: Log;
  closingResponse: string;
  /** Called for a request that is incomplete after its time limit. */
  onLate: (exchange: Exchange) => void;
}

/**
 * Enforces all time-outs except that of a header section, which is Node's `headersTimeout`, and the memory limit of
 * unread responses. Ends overdue work at `nowMs`, on the monotonic clock.
 */
export function sweepConnections(open: Iterable<Connection>, nowMs: number, services: SweepServices): void {
  for (const connection of open) sweepConnection(connection, nowMs, services);
  const { limits, log } = services;
  let bytes = 0;
  for (const connection of open) bytes += unreadBytes(connection);
  while (bytes > limits.unreadBytesMax) {
    const connection = longestHeld(open, nowMs - limits.patienceMs);
    if (connection === null) return;
    bytes -= unreadBytes(connection);
    cutUnresponsive(connection, log);
  }
}

export function cutUnresponsive(connection: Connection, log: Log): void {
  log.debug('Cutting a client that neither sends nor reads', { address: connection.address });
  destroyConnection(connection);
}

function sweepConnection(connection: Connection, nowMs: number, services: SweepServices): void {
  const { limits, log, closingResponse } = services;
  const silentMs = nowMs - connection.sinceMs;
  const idle = isIdle(connection);
  connection.controlFrames = 0;
  if (connection.phase === 'opening') {
    if (silentMs < limits.handshakeTimeoutMs) return;
    log.debug('A client did not finish its TLS handshake in time', { address: connection.address });
    destroyConnection(connection);
  } else if (connection.phase === 'closing' && idle) {
    if (silentMs >= limits.lingerMs) destroyConnection(connection);
  } else if (idle && (connection.session !== null || connection.answered)) {
    if (idleMs(connection, nowMs) >= limits.keepAliveTimeoutMs) closeIdle(connection, closingResponse, nowMs);
  } else {
    for (const exchange of [...connection.exchanges]) {
      if (isHeldUp(exchange)) exchange.record.activeMs = nowMs;
      if (isStalled(exchange, nowMs, limits)) cutExchange(exchange);
      else if (isLate(exchange, nowMs, limits)) services.onLate(exchange);
    }
    for (const [stream, startedMs] of connection.ownStreams) {
      if (nowMs - startedMs >= limits.requestTimeoutMs) stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    }
  }
}

/** How long a connection without requests has been silent. Over HTTP/1.x, part of a next request may have arrived. */
const idleMs = (connection: Connection, nowMs: number): number =>
  connection.session === null ? stalledMs(connection, connection.raw.bytesRead, nowMs) : nowMs - connection.sinceMs;

/** HTTP/1.x answers follow the order of requests, so a body may have to wait for earlier answers. */
const isQueued = (exchange: Exchange): boolean =>
  !isHttp2(exchange.request) && exchange.connection.exchanges[0] !== exchange;

/**
 * Whether the client is not reading a complete response. For an upstream's response, the longer body time-out applies:
 * clients and systems buffer a megabyte and more, which takes a slow reader minutes.
 */
function isStalled(exchange: Exchange, nowMs: number, limits: ProxyLimits): boolean {
  const { request, response, connection, record } = exchange;
  if (!response.writableEnded || isQueued(exchange)) return false;
  // Over TLS and HTTP/2, only bytes written to the connection show progress within one large chunk.
  const waiting = isHttp2(request) ? request.stream : (connection.http1 ?? connection.raw);
  const taken = connection.raw.bytesWritten - waiting.writableLength;
  const allowedMs = isAnsweredByUpstream(exchange) ? limits.upstreamIdleMs : limits.responseStallMs;
  return stalledMs(record, taken, nowMs) >= allowedMs;
}

/** Whether a request is incomplete for too long. A forwarded request is late only if it stalls: uploads may be long. */
function isLate({ request, response, record }: Exchange, nowMs: number, limits: ProxyLimits): boolean {
  const { upgrade, activeMs } = record;
  // Node marks an HTTP/2 request complete only after it is read to its end, which never happens without a body.
  if (request.complete || !hasBody(request) || response.writableEnded || upgrade) return false;
  return nowMs - activeMs >= limits.requestTimeoutMs;
}

/**
 * Whether a stalled body is not the client's fault: a break delays it, earlier requests are being answered, or the
 * upstream applies back pressure or already answers. The upstreams' own sweep detects stalled upstreams.
 */
function isHeldUp(exchange: Exchange): boolean {
  const { request, response, record } = exchange;
  if (record.delayed || isQueued(exchange)) return true;
  if (!isAnsweredByUpstream(exchange)) return false;
  return (hasBody(request) && request.isPaused()) || response.headersSent;
}

/** The connection that has waited for its client the longest, at least since `sinceMs`. */
export function longestHeld(open: Iterable<Connection>, sinceMs: number): Connection | null {
  let found: Connection | null = null;
  let longestMs = sinceMs;
  for (const connection of open) {
    const waitsSinceMs = waitsForClientSince(connection);
    if (waitsSinceMs === null || waitsSinceMs > longestMs) continue;
    found = connection;
    longestMs = waitsSinceMs;
  }
  return found;
}

/**
 * Since when a connection waits only for its client: for the rest of a body, or for it to read a complete response.
 * Null if any of its requests is with its target, for WebSockets, and for an upstream's response, which may be large.
 */
function waitsForClientSince(connection: Connection): number | null {
  const [first] = connection.exchanges;
  if (connection.phase === 'closing') return null;
  // Own paths are answered immediately.
  if (first === undefined) return connection.ownStreams.values().next().value ?? null;
  const decisive = isHttp2(first.request) ? connection.exchanges : [first];
  return decisive.every(waitsForClient) ? first.record.startedMs : null;
}

function waitsForClient(exchange: Exchange): boolean {
  const { request, response, record } = exchange;
  if (record.upgrade || record.delayed || isAnsweredByUpstream(exchange)) return false;
  return response.writableEnded || (!request.complete && hasBody(request));
}

/** Bytes of responses that a connection's client has not read, those of pipelined requests included. */
const unreadBytes = ({ raw, http1, exchanges }: Connection): number =>
  http1 === null ? raw.writableLength : exchanges.reduce((sum, { response }) => sum + response.writableLength, 0);

/** Whether the response comes from an upstream, and may stay incomplete for long; others are written at once. */
export const isAnsweredByUpstream = ({ record }: Exchange): boolean =>
  record.route?.target.kind === 'upstream' && !record.byProxy;
