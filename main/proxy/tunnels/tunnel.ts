import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { messageAt } from '../answer.ts';
import { evaluateConnect, type Reachable } from './connect-request.ts';
import { destroyConnection, endHttp1, type Connection } from '../front/connection.ts';
import type { Connections } from '../front/connections.ts';
import { surveyHeaders } from '../front/request-head.ts';
import { faultResponse } from '../front/parser-fault.ts';
import type { Problem } from '../../model/problem.ts';
import { stoppingNow, tooEarlyConnect } from '../problem.ts';
import type { ProxyLimits } from '../front/proxy-limits.ts';

export interface TunnelOptions {
  connections: Connections;
  clock: Pick<Clock, 'monotonic'>;
  log: Log;
  limits: ProxyLimits;
  /** Our listeners' ports, known after binding. */
  ports: () => Reachable['ports'];
  stopping: () => boolean;
  /** How each listener serves an accepted connection; the socket is its `raw`. */
  serve: Record<'http' | 'https', (connection: Connection) => void>;
}

/** RFC 9110 §9.3.6: no length and no content; the connection is a tunnel from here on. */
const ESTABLISHED = 'HTTP/1.1 200 Connection established\r\n\r\n';

/**
 * Handles a CONNECT whose socket Node's HTTP server has released. No second socket is dialled: after the answer, the
 * requested listener serves the client's own connection under its own limits and time-outs. A tunnel therefore cannot
 * lead anywhere else.
 */
export function acceptConnect(request: IncomingMessage, socket: Socket, head: Buffer, options: TunnelOptions): void {
  const { connections, clock, log, limits } = options;
  // Node has removed its own listener.
  socket.on('error', (error) => log.debug('A client connection failed after CONNECT', { error }));
  const connection = connections.of(socket);
  if (connection === undefined) {
    socket.destroy();
    return;
  }
  const { listener } = connection;
  const table = listener.table();
  const facts = {
    target: request.url ?? '',
    httpVersion: request.httpVersion,
    rawHeaders: request.rawHeaders,
    headers: surveyHeaders(request.rawHeaders),
    connection,
    limits,
  };
  if (connection.phase === 'closing' || connection.closingResponse !== null) {
    socket.resume();
  } else if (connection.exchanges.length > 0) {
    // Its answer would overtake those of earlier requests; the connection closes after them.
    socket.resume();
    connection.closingResponse = refusal(tooEarlyConnect());
  } else if (options.stopping()) {
    refuse(stoppingNow());
  } else {
    const verdict = evaluateConnect(facts, { ports: options.ports(), knows: (hostname) => table.knows(hostname) });
    if (verdict.ok) handOver(connection, head, verdict, options);
    else refuse(verdict.problem);
  }

  /** Bytes after the head belong to no request: they are discarded, and the connection closes. */
  function refuse(found: Problem): void {
    socket.resume();
    endHttp1(connection as Connection, refusal(found), clock.monotonic());
  }

  function refusal(found: Problem): string {
    return faultResponse({ ...found, message: messageAt(listener, found) });
  }
}

function handOver(
  connection: Connection,
  head: Buffer,
  { scheme, port }: { scheme: 'http' | 'https'; port: number },
  { clock, serve }: TunnelOptions,
): void {
  const { raw } = connection;
  if (!raw.writable) {
    destroyConnection(connection);
    return;
  }
  raw.write(ESTABLISHED);
  connection.tunnel = true;
  // The port the client believes it is connected to; redirects and upstreams use it.
  connection.listener = { ...connection.listener, scheme, port };
  connection.http1 = null;
  connection.phase = 'opening';
  connection.sinceMs = clock.monotonic();
  connection.lastAuthority = null;
  connection.answered = false;
  // As for the HTTPS listener: a half-open tunnel would never close.
  raw.allowHalfOpen = scheme === 'http';
  if (head.length > 0) raw.unshift(head);
  serve[scheme](connection);
}
