import type { Log } from '../base/log.ts';
import { hasBody, isHttp2 } from '../base/http/message.ts';
import { closeIdle, cutExchange, destroyConnection, type Connection, type Exchange } from './connection.ts';
import type { ProxyLimits } from './proxy-limits.ts';
import { stalledMs } from './stall.ts';

/**
 * The time-outs that Node has no option for. (Those of HTTP/1.x header sections, and of its idle connections, are Node's:
 * `headersTimeout`, `keepAliveTimeout`.) Looks at one connection and ends what is overdue at `nowMs`, on the monotonic
 * clock.
 */
export function sweepConnection(
  connection: Connection,
  nowMs: number,
  services: {
    limits: ProxyLimits;
    log: Log;
    closingResponse: string;
    /** Told of a request that is not there as a whole in time. */
    onLate: (exchange: Exchange) => void;
  },
): void {
  const { limits, log, closingResponse } = services;
  const silentMs = nowMs - connection.sinceMs;
  const idle = connection.exchanges.length === 0;
  connection.controlFrames = 0;
  if (connection.phase === 'opening') {
    if (silentMs < limits.handshakeTimeoutMs) return;
    log.debug('A client did not finish its TLS handshake in time', { address: connection.address });
    destroyConnection(connection);
  } else if (connection.phase === 'closing' && idle) {
    if (silentMs >= limits.lingerMs) destroyConnection(connection);
  } else if (connection.session !== null && idle) {
    if (silentMs >= limits.keepAliveTimeoutMs) closeIdle(connection, closingResponse, nowMs);
  } else {
    for (const exchange of [...connection.exchanges]) {
      if (isHeldUp(exchange)) exchange.record.activeMs = nowMs;
      if (isStalled(exchange, nowMs, limits)) cutExchange(exchange);
      else if (isLate(exchange, nowMs, limits)) services.onLate(exchange);
    }
  }
}

/** Over HTTP/1.x, answers go out in the order of the requests, and bodies may have to wait for the answers before them. */
const isQueued = (exchange: Exchange): boolean =>
  !isHttp2(exchange.request) && exchange.connection.exchanges[0] !== exchange;

/**
 * A response that is complete on our side, and that the client does not take. The end of an upstream's may take as long as
 * its body: clients and systems make room for a megabyte and more at once, which a slow reader needs minutes for.
 */
function isStalled(exchange: Exchange, nowMs: number, limits: ProxyLimits): boolean {
  const { request, response, connection, record } = exchange;
  if (!response.writableEnded || isQueued(exchange)) return false;
  // Over TLS and HTTP/2, one large piece is seen to move by what is sent of it on the connection.
  const waiting = isHttp2(request) ? request.stream : (connection.http1 ?? connection.raw);
  const taken = connection.raw.bytesWritten - waiting.writableLength;
  const allowedMs = isAnsweredByUpstream(exchange) ? limits.upstreamIdleMs : limits.responseStallMs;
  return stalledMs(record, taken, nowMs) >= allowedMs;
}

/**
 * A request that does not come as a whole. On its way to an upstream, only one that stands still: long uploads are what
 * people send there.
 */
function isLate({ request, response, record }: Exchange, nowMs: number, limits: ProxyLimits): boolean {
  const { upgrade, activeMs } = record;
  // Of HTTP/2, Node calls a request complete once it has been read to its end, and what has no body is never read.
  if (request.complete || !hasBody(request) || response.writableEnded || upgrade) return false;
  return nowMs - activeMs >= limits.requestTimeoutMs;
}

/**
 * Whether the client is not to blame for a body that stands still: requests before it have their turn, or the upstream
 * holds it back, or answers meanwhile. A standstill of the upstream's is the upstreams' own sweep to find.
 */
function isHeldUp(exchange: Exchange): boolean {
  const { request, response } = exchange;
  if (isQueued(exchange)) return true;
  if (!isAnsweredByUpstream(exchange)) return false;
  return request.isPaused() || response.headersSent;
}

const isAnsweredByUpstream = ({ record }: Exchange): boolean =>
  record.route?.target.kind === 'upstream' && !record.byProxy;
