import type { Log } from '../base/log.ts';
import { closeIdle, cutExchange, destroyConnection, type Connection } from './connection.ts';
import type { Exchange } from './exchange.ts';
import type { ProxyLimits } from './proxy-limits.ts';

/**
 * The time-outs that Node has no option for. (Those of HTTP/1.x requests, and of its idle connections, are Node's:
 * `headersTimeout`, `requestTimeout`, `keepAliveTimeout`.) Looks at one connection and ends what is overdue at
 * `nowMs`, on the monotonic clock.
 */
export function sweepConnection(
  connection: Connection,
  nowMs: number,
  services: { limits: ProxyLimits; log: Log; farewell: string },
): void {
  const { limits, log, farewell } = services;
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
    if (silentMs >= limits.keepAliveTimeoutMs) closeIdle(connection, farewell, nowMs);
  } else {
    for (const exchange of [...connection.exchanges]) if (isOverdue(exchange, nowMs, limits)) cutExchange(exchange);
  }
}

/**
 * A response that the client does not take; over HTTP/2, a request that does not come. That stream is reset: its
 * target may still answer, and two answers on one stream would be an error of ours.
 */
function isOverdue(exchange: Exchange, nowMs: number, limits: ProxyLimits): boolean {
  const { request, response, stream } = exchange;
  if (response.writableEnded) {
    exchange.endedMs ??= nowMs;
    return nowMs - exchange.endedMs >= limits.responseStallMs;
  }
  return stream !== null && !request.complete && nowMs - exchange.startedMs >= limits.requestTimeoutMs;
}
