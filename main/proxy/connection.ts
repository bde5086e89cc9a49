import type { ServerHttp2Session } from 'node:http2';
import { constants } from 'node:http2';
import type { Socket } from 'node:net';
import type { SentAuthority } from './authority.ts';
import type { Exchange } from './exchange.ts';
import type { Scheme } from '../base/hostname.ts';

/** One port, on every loopback address. */
export interface Listener {
  readonly scheme: Scheme;
  /** Known once it is bound. */
  port: number;
}

/**
 * `opening`: accepted, its protocol not known yet. `open`: speaks HTTP. `closing`: has been told to go, and is
 * destroyed if it lingers.
 */
type Phase = 'opening' | 'open' | 'closing';

/** One client connection, from accept to close. */
export interface Connection {
  /** What it speaks to; after CONNECT, the listener that was asked for, at the port that was asked for. */
  listener: Listener;
  /** Whether it has become a tunnel by CONNECT. */
  tunnel: boolean;
  /** As it was accepted. */
  readonly raw: Socket;
  /** The client's address in normal form. */
  readonly address: string;
  /** The client's port. */
  readonly port: number;
  /** What HTTP/1.x is spoken on: the raw socket or a TLS socket over it. Null while opening, and for HTTP/2. */
  http1: Socket | null;
  session: ServerHttp2Session | null;
  /** The hostname that the TLS handshake was made for; null over plain HTTP. */
  serverName: string | null;
  /** Plain HTTP on the HTTPS port: every request is answered with where to go. */
  misdialled: boolean;
  /** What the last request was for and who sent it, so that the next of the same client need not be read again. */
  lastAuthority: SentAuthority | null;
  lastToken: { authorization: string; secretHash: string | null } | null;
  phase: Phase;
  /** When it was last accepted, opened, used or told to close; monotonic. */
  sinceMs: number;
  /** The order in which connections were last used. */
  lastUse: number;
  /** In the order they began. */
  readonly exchanges: Exchange[];
  /** Whether any response was begun on it. */
  answered: boolean;
  /** What to send as the last thing once the exchanges in progress are over. */
  farewell: string | null;
  /** PING and SETTINGS frames since the last sweep. */
  controlFrames: number;
}

/** Sends what is due, then closes our side; the client has a moment to close its own. */
export function endHttp1(connection: Connection, farewell: string, nowMs: number): void {
  connection.phase = 'closing';
  connection.sinceMs = nowMs;
  connection.http1?.end(farewell);
}

export function destroyConnection(connection: Connection): void {
  connection.phase = 'closing';
  connection.session?.destroy();
  connection.http1?.destroy();
  connection.raw.destroy();
}

/** Ends a connection without requests in progress, in the words of its protocol. */
export function closeIdle(connection: Connection, farewell: string, nowMs: number): void {
  const { session, http1, answered } = connection;
  if (session !== null) {
    connection.phase = 'closing';
    connection.sinceMs = nowMs;
    // Sends GOAWAY, so that the client knows that nothing of its was processed half-way.
    session.close();
  } else if (http1 !== null) {
    connection.phase = 'closing';
    connection.sinceMs = nowMs;
    // A keep-alive client may take an unasked-for response for the answer to what it is about to send.
    if (!answered) http1.write(farewell);
    http1.destroySoon();
  } else {
    destroyConnection(connection);
  }
}

/** Ends one exchange at once and, where the protocol cannot do that, its connection. */
export function cutExchange(exchange: Exchange): void {
  if (exchange.stream === null) destroyConnection(exchange.connection);
  else exchange.stream.close(constants.NGHTTP2_CANCEL);
}
