import type { ServerHttp2Session } from 'node:http2';
import { constants } from 'node:http2';
import type { Socket } from 'node:net';
import { isHttp2, type HttpExchange } from '../base/http/message.ts';
import type { StageName } from '../contract/stages.ts';
import type { Decision } from '../model/rate-decision.ts';
import type { Route } from '../model/route.ts';
import type { SentAuthority } from './authority.ts';
import type { StallMark } from './stall.ts';
import type { Capture } from './capture.ts';
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
  plainHttpOnTls: boolean;
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
  closingResponse: string | null;
  /** PING and SETTINGS frames since the last sweep. */
  controlFrames: number;
}

/** One request and its response, on the connection that they came on. */
export interface Exchange extends HttpExchange {
  readonly connection: Connection;
  readonly record: RunningRecord;
}

/** What is noted of an exchange while it goes on: for its end, the sweep, and the traffic log. */
export interface RunningRecord {
  /** The stage it is in, or that answered it. */
  stage: StageName;
  /** What the stages found out; null before. */
  hostname: string | null;
  /** The authority as the client wrote it. */
  authority: string | null;
  route: Route | null;
  keyId: string | null;
  decision: Decision | null;
  /** Monotonic, as the other times. */
  readonly startedMs: number;
  /** When it began or, on its way to an upstream, when its body last moved or was held up. */
  activeMs: number;
  /** What the last sweep saw of a response that is complete on our side and not taken yet; null before. */
  seen: StallMark | null;
  /** When it was handed to its target. */
  handedMs: number | null;
  /** Whether the client still waits for 100 (Continue) before it sends its body. */
  awaitsContinue: boolean;
  /** Whether it asks for WebSocket. */
  readonly upgrade: boolean;
  /** Whether the upgrade has succeeded, and the connection is a tunnel to the upstream now. */
  tunnelled: boolean;
  /** Whether the proxy itself has answered, and only reads the rest of the request away. */
  byProxy: boolean;
  /** Null while nothing is recorded. */
  readonly capture: Capture | null;
}

/** Sends what is due, then closes our side; the client has a moment to close its own. */
export function endHttp1(connection: Connection, closingResponse: string, nowMs: number): void {
  connection.phase = 'closing';
  connection.sinceMs = nowMs;
  connection.http1?.end(closingResponse);
}

export function destroyConnection(connection: Connection): void {
  connection.phase = 'closing';
  connection.session?.destroy();
  connection.http1?.destroy();
  connection.raw.destroy();
}

/** Ends a connection without requests in progress, in the words of its protocol. */
export function closeIdle(connection: Connection, closingResponse: string, nowMs: number): void {
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
    if (!answered) http1.write(closingResponse);
    http1.destroySoon();
  } else {
    destroyConnection(connection);
  }
}

/** Ends one exchange at once and, where the protocol cannot do that, its connection. */
export function cutExchange({ request, connection }: Exchange): void {
  if (isHttp2(request)) request.stream.close(constants.NGHTTP2_CANCEL);
  else destroyConnection(connection);
}
