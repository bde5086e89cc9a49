import type { ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import { isHttp2 } from '../../base/http/message.ts';
import type { Log } from '../../base/log.ts';
import { clientAddress } from '../../model/address.ts';
import {
  closeIdle,
  cutExchange,
  destroyConnection,
  isIdle,
  refuseConnection,
  type Connection,
  type Exchange,
  type Listener,
} from './connection.ts';
import type { ProxyLimits } from './proxy-limits.ts';
import type { RouteTable } from '../route-table.ts';
import { unreadBytes, waitsForClientSince } from './sweep.ts';
import { sameTarget } from '../../model/route.ts';

/** Tracks the open connections of all listeners; enforces the connection limit and the idle time-outs. */
export function createConnections(options: {
  clock: Pick<Clock, 'monotonic'>;
  log: Log;
  limits: ProxyLimits;
  /** A complete HTTP/1.1 response, sent when closing a connection that never sent a request. */
  closingResponse: string;
  /** Called for an exchange whose connection was lost. */
  onLost: (exchange: Exchange) => void;
}) {
  const { clock, log, limits, closingResponse, onLost } = options;
  const open = new Set<Connection>();
  const byKey = new WeakMap<object, Connection>();
  let upstreams = 0;
  let uses = 0;
  let drained: (() => void) | null = null;

  function longestIdle(): Connection | null {
    let found: Connection | null = null;
    for (const connection of open) {
      if (!isIdle(connection) || connection.phase === 'closing') continue;
      if (found === null || connection.lastUse < found.lastUse) found = connection;
    }
    return found;
  }

  /** The connection that has waited for its client the longest, beyond the client's patience. */
  function longestHeld(): Connection | null {
    let found: Connection | null = null;
    let sinceMs = clock.monotonic() - limits.patienceMs;
    for (const connection of open) {
      const waitsSinceMs = waitsForClientSince(connection);
      if (waitsSinceMs === null || waitsSinceMs > sinceMs) continue;
      found = connection;
      sinceMs = waitsSinceMs;
    }
    return found;
  }

  function cut(connection: Connection): void {
    log.debug('Cutting a client that neither sends nor reads', { address: connection.address });
    destroyConnection(connection);
  }

  function cutHeld(): boolean {
    const connection = longestHeld();
    if (connection !== null) cut(connection);
    return connection !== null;
  }

  /**
   * Closes an idle connection, or one that waits for its client; as the last resort, one that has only just become
   * idle.
   */
  function evict(): boolean {
    const connection = longestIdle();
    const isFresh = connection !== null && clock.monotonic() - connection.sinceMs < limits.patienceMs;
    if ((connection === null || isFresh) && cutHeld()) return true;
    if (connection === null) return false;
    log.debug('Closing an idle connection for a new one', { address: connection.address });
    closeIdle(connection, closingResponse, clock.monotonic());
    // It has no request in progress, so the client need not receive the GOAWAY.
    connection.session?.destroy();
    return true;
  }

  function forget(connection: Connection): void {
    if (!open.delete(connection)) return;
    for (const exchange of [...connection.exchanges]) onLost(exchange);
    if (open.size === 0) drained?.();
  }

  function reopen(connection: Connection): void {
    if (connection.phase === 'open') connection.phase = 'opening';
    connection.sinceMs = clock.monotonic();
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
      const connection: Connection = {
        listener,
        tunnel: false,
        raw,
        address: clientAddress(raw.remoteAddress),
        port: raw.remotePort ?? 0,
        http1: null,
        session: null,
        serverName: null,
        fault: null,
        plainHttpOnTls: false,
        lastAuthority: null,
        lastToken: null,
        phase: 'opening',
        sinceMs: clock.monotonic(),
        seen: null,
        lastUse: ++uses,
        exchanges: [],
        ownStreams: new Map(),
        answered: false,
        closingResponse: null,
        controlFrames: 0,
      };
      open.add(connection);
      byKey.set(raw, connection);
      raw.on('close', () => forget(connection));
      return connection;
    },
    /** Lets `of` find `connection` by the key that its requests have: the socket or the HTTP/2 session. */
    link: (key: object, connection: Connection) => void byKey.set(key, connection),
    of: (key: object): Connection | undefined => byKey.get(key),
    /** Restarts the time limit of a handshake that had to wait for our side. */
    reopen,
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
    /** Cuts clients that do not read while unread responses exceed their memory limit. */
    boundUnread(): void {
      let bytes = 0;
      for (const connection of open) bytes += unreadBytes(connection);
      while (bytes > limits.unreadBytesMax) {
        const connection = longestHeld();
        if (connection === null) return;
        bytes -= unreadBytes(connection);
        cut(connection);
      }
    },
    /** Cuts everything open for any of `hostnames`: connections with that server name, requests, streams. */
    drop(isLost: (hostname: string) => boolean): void {
      const lost = (hostname: string | null): boolean => hostname !== null && isLost(hostname);
      for (const connection of open) {
        if (
          lost(connection.serverName) ||
          (connection.session === null && lost(connection.lastAuthority?.authority.host ?? null))
        ) {
          destroyConnection(connection);
          continue;
        }
        for (const exchange of connection.exchanges) if (lost(exchange.record.hostname)) cutExchange(exchange);
      }
    },
    /** Closes tunnels to hostnames that are no longer served. */
    dropTunnels(table: RouteTable): void {
      for (const connection of open) {
        for (const exchange of connection.exchanges) {
          const { tunnelled, route } = exchange.record;
          if (!tunnelled || route === null) continue;
          const next = table.route(route.hostname);
          if (next === undefined || !sameTarget(next.target, route.target)) cutExchange(exchange);
        }
      }
    },
    /** Closes idle connections now, the others after their requests; resolves when all are closed. */
    drain(): Promise<void> {
      return new Promise((resolve) => {
        drained = resolve;
        if (open.size === 0) resolve();
        const nowMs = clock.monotonic();
        for (const connection of open) {
          if (isIdle(connection)) closeIdle(connection, closingResponse, nowMs);
          else connection.session?.close();
          // A tunnel has no end to wait for.
          for (const exchange of connection.exchanges) if (exchange.record.tunnelled) cutExchange(exchange);
          for (const { request, response } of connection.exchanges) {
            if (!isHttp2(request) && !response.headersSent) response.setHeader('Connection', 'close');
          }
        }
      });
    },
    destroyAll(): void {
      for (const connection of open) destroyConnection(connection);
    },
    all: (): Iterable<Connection> => open,
    size: (): number => open.size,
  };
}

export type Connections = ReturnType<typeof createConnections>;
