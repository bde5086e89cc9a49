import type { Log } from '../base/log.ts';
import { closeIdle, cutExchange, destroyConnection, type Connection } from './connection.ts';
import type { Exchange } from './exchange.ts';
import type { ProxyLimits } from './proxy-limits.ts';

/**
 * The time-outs that Node has no option for. (Those of HTTP/1.x requests, and of its idle connections, are Node's:
 * `headersTimeout`, `requestTimeout`, `keepAliveTimeout`.) Looks at one connection and ends what is overdue at
 * `nowMs`, on the monotonic clock; `onLate` answers a request whose body did not come.
 */
export function sweepConnection(
  connection: Connection,
  nowMs: number,
  services: { limits: ProxyLimits; log: Log; farewell: string; onLate: (exchange: Exchange) => void },
): void {
  const { limits, log, farewell, onLate } = services;
  const silentMs = nowMs - connection.sinceMs;
  if (connection.phase === 'opening') {
    if (silentMs >= limits.handshakeTimeoutMs) {
      log.debug('A client did not finish its TLS handshake in time', { address: connection.address });
      destroyConnection(connection);
    }
    return;
  }
  if (connection.phase === 'closing' && connection.exchanges.length === 0) {
    if (silentMs >= limits.lingerMs) destroyConnection(connection);
    return;
  }
  connection.controlFrames = 0;
  if (connection.session !== null && connection.exchanges.length === 0 && silentMs >= limits.keepAliveTimeoutMs) {
    closeIdle(connection, farewell, nowMs);
    return;
  }
  for (const exchange of [...connection.exchanges]) sweepExchange(exchange, nowMs, limits, onLate);
}

function sweepExchange(
  exchange: Exchange,
  nowMs: number,
  limits: ProxyLimits,
  onLate: (exchange: Exchange) => void,
): void {
  const { request, response, stream } = exchange;
  if (response.writableEnded) {
    exchange.endedMs ??= nowMs;
    if (nowMs - exchange.endedMs >= limits.responseStallMs) cutExchange(exchange);
  } else if (stream !== null && !request.complete && nowMs - exchange.startedMs >= limits.requestTimeoutMs) {
    onLate(exchange);
  }
}
