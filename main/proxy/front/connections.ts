import type { ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import { isHttp2 } from '../../base/http/message.ts';
import type { Log } from '../../base/log.ts';
import { closeIdle, cutExchange, destroyConnection, isIdle, refuseConnection, Connection } from './connection.ts';
import type { Exchange, Listener } from './connection.ts';
import type { ProxyLimits } from './proxy-limits.ts';
import type { RouteTable } from '../route-table.ts';
import { cutUnresponsive, longestHeld } from './sweep.ts';
import { sameTarget } from '../../model/route.ts';

export interface ConnectionsOptions {
  clock: Pick<Clock, 'monotonic'>;
  log: Log;
  limits: ProxyLimits;
  /** A complete HTTP/1.1 response, sent when closing a connection that never sent a request. */
  closingResponse: string;
  /** Called for an exchange whose connection was lost. */
  onLost: (exchange: Exchange) => void;
}

/** Tracks the open connections of all listeners, and enforces their limit. */
export function createConnections({ clock, log, limits, closingResponse, onLost }: ConnectionsOptions) {
  const open = new Set<Connection>();
  const byKey = new WeakMap<object, Connection>();
  let upstreams = 0;
  let uses = 0;
  let accepts = 0;
  let drained: (() => void) | null = null;

  /**
   * Closes an idle connection, or one that waits for its client; as the last resort, one that has only just become
   * idle.
   */
  function evict(): boolean {
    const patientSinceMs = clock.monotonic() - limits.patienceMs;
    const idle = longestIdle(open);
    const held = idle === null || idle.sinceMs > patientSinceMs ? longestHeld(open, patientSinceMs) : null;
    if (held !== null) {
      cutUnresponsive(held, log);
    } else if (idle !== null) {
      log.debug('Closing an idle connection for a new one', { address: idle.address });
      closeIdle(idle, closingResponse, clock.monotonic());
      // It has no request in progress, so the client need not receive the GOAWAY.
      idle.session?.destroy();
    }
    return held !== null || idle !== null;
  }

  function forget(connection: Connection): void {
    if (!open.delete(connection)) return;
    for (const exchange of [...connection.exchanges]) onLost(exchange);
    if (open.size === 0) drained?.();
  }

  function settle(connection: Connection): void {
    connection.sinceMs = clock.monotonic();
    connection.lastUse = ++uses;
    if (connection.closingResponse !== null && connection.http1 !== null) {
      connection.phase = 'closing';
      connection.http1.end(connection.closingResponse);
      connection.closingResponse = null;
    } else if (drained !== null && connection.phase !== 'closing') {
      closeIdle(connection, closingResponse, connection.sinceMs);
    }
  }

  return {
    /**
     * Registers an accepted socket. Returns null and destroys the socket if the limit is reached or the client is gone.
     */
    open(raw: Socket, listener: Listener): Connection | null {
      // Closing connections disappear within the linger time, so they may exceed the limit, up to twice.
      // A client that left before it was accepted has no address, and reads no answer.
      const isGone = raw.remoteAddress === undefined;
      const full = !isGone && open.size + upstreams >= limits.connectionsMax && !evict();
      if (isGone || full || drained !== null || open.size >= 2 * limits.connectionsMax) {
        raw.destroy();
        return null;
      }
      const begun = { sinceMs: clock.monotonic(), lastUse: ++uses, number: ++accepts };
      const connection = new Connection(raw, listener, begun);
      open.add(connection);
      byKey.set(raw, connection);
      raw.on('close', () => forget(connection));
      return connection;
    },
    /** Lets `of` find `connection` by the key that its requests have: the socket or the HTTP/2 session. */
    link: (key: object, connection: Connection) => void byKey.set(key, connection),
    of: (key: object): Connection | undefined => byKey.get(key),
    /** Restarts the time limit of a handshake that had to wait for our side. */
    reopen(connection: Connection): void {
      if (connection.phase === 'open') connection.phase = 'opening';
      connection.sinceMs = clock.monotonic();
    },
    /** Sends a last answer, if any, and closes once the client has had the time to read it. */
    refuse: (connection: Connection, bytes: Buffer | null) => refuseConnection(connection, bytes, clock.monotonic()),
    begin(exchange: Exchange): void {
      exchange.connection.exchanges.push(exchange);
    },
    /** Idempotent; returns false if the exchange had already ended. */
    end(exchange: Exchange): boolean {
      const { connection } = exchange;
      const index = connection.exchanges.indexOf(exchange);
      if (index === -1) return false;
      if (connection.exchanges.length === 1) connection.exchanges.pop();
      else connection.exchanges.splice(index, 1);
      connection.answered ||= exchange.response.headersSent;
      if (isIdle(connection)) settle(connection);
      return true;
    },
    /** Keeps a stream for one of Vivarium's own paths until it closes. */
    hold(connection: Connection, stream: ServerHttp2Stream): void {
      connection.ownStreams.set(stream, clock.monotonic());
      stream.on('close', () => {
        connection.ownStreams.delete(stream);
        if (isIdle(connection)) settle(connection);
      });
    },
    /** Counts a tunnel's upstream socket towards the limit until it closes. */
    countUpstream(socket: Socket): void {
      upstreams += 1;
      socket.once('close', () => (upstreams -= 1));
      if (open.size + upstreams > limits.connectionsMax) evict();
    },
    /** Closes up to `count` connections, longest idle first; for when the process runs out of file descriptors. */
    makeRoom(count: number): void {
      for (let made = 0; made < count; made++) if (!evict()) return;
    },
    /** Closes idle connections now, the others after their requests; resolves when all are closed. */
    drain(): Promise<void> {
      return new Promise((resolve) => {
        drained = resolve;
        if (open.size === 0) resolve();
        for (const connection of open) closeSoon(connection, closingResponse, clock.monotonic());
      });
    },
    all: (): Iterable<Connection> => open,
    size: (): number => open.size,
  };
}

export type Connections = ReturnType<typeof createConnections>;

function longestIdle(open: Iterable<Connection>): Connection | null {
  let found: Connection | null = null;
  for (const connection of open) {
    if (!isIdle(connection) || connection.phase === 'closing') continue;
    if (found === null || connection.lastUse < found.lastUse) found = connection;
  }
  return found;
}

/** Closes an idle connection, any other after its requests; a tunnel has no end to wait for. */
function closeSoon(connection: Connection, closingResponse: string, nowMs: number): void {
  if (isIdle(connection)) closeIdle(connection, closingResponse, nowMs);
  else connection.session?.close();
  for (const exchange of connection.exchanges) if (exchange.record.tunnelled) cutExchange(exchange);
  for (const { request, response } of connection.exchanges) {
    if (!isHttp2(request) && !response.headersSent) response.setHeader('Connection', 'close');
  }
}

/** Cuts everything open for lost hostnames: connections with that server name, requests, streams. */
export function dropLost(open: Iterable<Connection>, isLost: (hostname: string) => boolean): void {
  const lost = (hostname: string | null): boolean => hostname !== null && isLost(hostname);
  for (const connection of open) {
    const { serverName, session, lastAuthority, exchanges } = connection;
    if (lost(serverName) || (session === null && lost(lastAuthority?.authority.host ?? null)))
      destroyConnection(connection);
    else for (const exchange of exchanges) if (lost(exchange.record.hostname)) cutExchange(exchange);
  }
}

/** Closes tunnels to hostnames that are no longer served. */
export function dropTunnels(open: Iterable<Connection>, table: RouteTable): void {
  for (const { exchanges } of open) {
    for (const exchange of exchanges) {
      const { tunnelled, route } = exchange.record;
      if (!tunnelled || route === null) continue;
      const next = table.route(route.hostname);
      if (next === undefined || !sameTarget(next.target, route.target)) cutExchange(exchange);
    }
  }
}
