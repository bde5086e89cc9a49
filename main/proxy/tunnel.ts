import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { describeServed } from './answer.ts';
import { evaluateConnect, type Reachable } from './connect-request.ts';
import { destroyConnection, endHttp1, type Connection } from './connection.ts';
import type { Connections } from './connections.ts';
import { surveyHeaders } from './header-section.ts';
import { faultResponse } from './parser-fault.ts';
import type { Problem } from '../model/problem.ts';
import { stoppingNow, tooEarlyConnect } from './problem.ts';
import type { ProxyLimits } from './proxy-limits.ts';
import type { RouteTable } from './route-table.ts';

export interface TunnelOptions {
  connections: Connections;
  clock: Pick<Clock, 'monotonic'>;
  log: Log;
  limits: ProxyLimits;
  /** The route table of the moment. */
  table: () => RouteTable;
  /** Of our listeners; known once they are bound. */
  ports: () => Reachable['ports'];
  stopping: () => boolean;
  /** What the two listeners do with a connection that they have accepted; the socket is its `raw`. */
  serve: Record<'http' | 'https', (connection: Connection) => void>;
}

/** RFC 9110 §9.3.6: no length and no content; the connection is the tunnel from here on. */
const ESTABLISHED = 'HTTP/1.1 200 Connection established\r\n\r\n';

/**
 * Takes a CONNECT that Node's HTTP server has let go of. There is no second socket and nothing that dials: once the
 * answer is sent, the client's own connection goes on as one of the listener that it asked for, under that listener's
 * limits and time-outs. So there is nowhere a tunnel could lead but here.
 */
export function acceptConnect(request: IncomingMessage, socket: Socket, head: Buffer, options: TunnelOptions): void {
  const { connections, clock, log, limits } = options;
  // Node's own listener is gone.
  socket.on('error', (error) => log.debug('A client connection failed after CONNECT', { error }));
  const connection = connections.of(socket);
  if (connection === undefined) {
    socket.destroy();
    return;
  }
  const table = options.table();
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
    // Its answer would overtake those of the requests before it; the connection ends with theirs.
    socket.resume();
    connection.closingResponse = refusal(tooEarlyConnect());
  } else if (options.stopping()) {
    refuse(stoppingNow());
  } else {
    const verdict = evaluateConnect(facts, { ports: options.ports(), knows: (hostname) => table.knows(hostname) });
    if (verdict.ok) handOver(connection, head, verdict, options);
    else refuse(verdict.problem);
  }

  /** What came after the head is nobody's request: it is read away, and the connection closed. */
  function refuse(found: Problem): void {
    socket.resume();
    endHttp1(connection as Connection, refusal(found), clock.monotonic());
  }

  function refusal({ code, status, message, headers, listServed }: Problem): string {
    const { listener } = connection as Connection;
    const text = listServed ? `${message} ${describeServed({ table, listener })}` : message;
    return faultResponse({ code, status, message: text, headers });
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
  // What the client takes itself to be connected to; redirects and upstreams are told of this port.
  connection.listener = { scheme, port };
  connection.http1 = null;
  connection.phase = 'opening';
  connection.sinceMs = clock.monotonic();
  connection.lastAuthority = null;
  connection.answered = false;
  // As the HTTPS listener's own: a half-open tunnel would stay, unseen.
  raw.allowHalfOpen = scheme === 'http';
  // The HTTP server's, for connections that are kept; it would cut a long answer.
  raw.setTimeout(0);
  if (head.length > 0) raw.unshift(head);
  serve[scheme](connection);
}
