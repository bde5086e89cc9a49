import type { Log } from '../base/log.ts';
import { closeIdle, cutExchange, destroyConnection, type Connection } from './connection.ts';
import type { Exchange } from './exchange.ts';
import type { ProxyLimits } from './proxy-limits.ts';

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
    farewell: string;
    /** Told of a request that is not there as a whole in time. */
    onLate: (exchange: Exchange) => void;
  },
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
    for (const exchange of [...connection.exchanges]) {
      if (isStalled(exchange, nowMs, limits)) cutExchange(exchange);
      else if (isLate(exchange, nowMs, limits)) services.onLate(exchange);
    }
  }
}

/** A response that the client does not take. */
function isStalled(exchange: Exchange, nowMs: number, limits: ProxyLimits): boolean {
  if (!exchange.response.writableEnded) return false;
  exchange.endedMs ??= nowMs;
  return nowMs - exchange.endedMs >= limits.responseStallMs;
}

/**
 * A request that does not come as a whole. On its way to an upstream, only one that stands still: long uploads are what
 * people send there; one that the upstream holds back is not the client's fault.
 */
function isLate(
  { request, response, upgrade, route, activeMs }: Exchange,
  nowMs: number,
  limits: ProxyLimits,
): boolean {
  if (request.complete || response.writableEnded || upgrade !== null) return false;
  if (route?.target.kind === 'upstream' && request.isPaused()) return false;
  return nowMs - activeMs >= limits.requestTimeoutMs;
}
