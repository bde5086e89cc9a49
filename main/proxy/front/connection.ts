import { constants, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import { isHttp2, type HttpExchange } from '../../base/http/message.ts';
import type { StageName } from '../../contract/stages.ts';
import type { NamedFault } from '../../model/fault.ts';
import type { Decision } from '../../model/rate-decision.ts';
import type { Route } from '../../model/route.ts';
import type { SentAuthority } from './authority.ts';
import type { OwnPlace } from './own-paths.ts';
import type { RouteTable } from '../route-table.ts';
import type { StageTimes, Capture } from '../capture.ts';
import type { Client } from '../forwarded.ts';
import type { Scheme } from '../../base/text/hostname.ts';
import { clientAddress } from '../../model/address.ts';

/** One port on every loopback address, or on an address of an interface. */
export interface Listener {
  readonly scheme: Scheme;
  /** Set after binding. */
  port: number;
  /** The paths and hosts that Vivarium itself answers there. */
  readonly own: OwnPlace;
  /** The certificates of hosts that only this listener has; those of all listeners if omitted. */
  readonly contextFor?: (hostname: string | null) => SecureContext | null;
  /** The current route table, as clients there see it. */
  readonly table: () => RouteTable;
}

/**
 * `opening`: accepted, protocol not yet known. `open`: speaks HTTP. `closing`: asked to close, destroyed after the
 * linger time.
 */
type Phase = 'opening' | 'open' | 'closing';

/** One client connection, from accept to close. */
export class Connection {
  /** The listener serving it; after CONNECT, the requested listener and port. */
  listener: Listener;
  /** Whether CONNECT has turned it into a tunnel. */
  tunnel = false;
  readonly raw: Socket;
  /** The client's address in normal form. */
  readonly address: string;
  readonly port: number;
  /** Counts the connections of this run, from 1. */
  readonly number: number;
  /** How many requests it has carried. */
  requests = 0;
  /** The socket that carries HTTP/1.x: raw or TLS. Null while opening, and for HTTP/2. */
  http1: Socket | null = null;
  session: ServerHttp2Session | null = null;
  /** The hostname in the TLS handshake; null over plain HTTP. */
  serverName: string | null = null;
  /** The break that affected the handshake. */
  fault: NamedFault | null = null;
  /** Plain HTTP on the HTTPS port: every answer contains the https URL. */
  plainHttpOnTls = false;
  /** The authority and token of the last request, which the next one usually repeats: saves parsing and hashing. */
  lastAuthority: SentAuthority | null = null;
  lastToken: { authorization: string; secretHash: string | null } | null = null;
  phase: Phase = 'opening';
  /** When it was last accepted, opened, used or asked to close; monotonic. */
  sinceMs: number;
  /** The last sweep's observation of an idle HTTP/1.x connection; null before. */
  seen: StallMark | null = null;
  /** A counter that orders connections by last use. */
  lastUse: number;
  /** In order of arrival. */
  readonly exchanges: Exchange[] = [];
  /** Streams for Vivarium's own paths, which are not exchanges, in order of arrival, with their monotonic start times. */
  readonly ownStreams = new Map<ServerHttp2Stream, number>();
  /** Whether any response has begun. */
  answered = false;
  /** The response to send when the exchanges in progress end; then the connection closes. */
  closingResponse: string | null = null;
  /** PING and SETTINGS frames since the last sweep. */
  controlFrames = 0;

  constructor(
    raw: Socket,
    listener: Listener,
    { sinceMs, lastUse, number }: Pick<Connection, 'sinceMs' | 'lastUse' | 'number'>,
  ) {
    this.raw = raw;
    this.listener = listener;
    this.address = clientAddress(raw.remoteAddress);
    this.port = raw.remotePort ?? 0;
    this.number = number;
    this.sinceMs = sinceMs;
    this.lastUse = lastUse;
  }
}

/** A request and its response, with their connection. */
export interface Exchange extends HttpExchange {
  readonly connection: Connection;
  /** The bare socket of an upgrade, which Node has released: answers are written to it. Null without an upgrade. */
  readonly socket: Socket | null;
  readonly record: RunningRecord;
}

/** The state of an exchange in progress, for its end, the sweep and the traffic log. */
export interface RunningRecord {
  /** The current stage, or the one that answered. */
  stage: StageName;
  /** Results of the stages; null until known. */
  hostname: string | null;
  /** The authority as the client wrote it. */
  authority: string | null;
  /** The client of a trusted proxy; null if the connection is the client's own. */
  client: Client | null;
  route: Route | null;
  keyId: string | null;
  decision: Decision | null;
  /** The break that affected it, or the handshake of its connection. */
  fault: NamedFault | null;
  /** Its place among the requests of its connection, from 1. */
  readonly place: number;
  /** Monotonic, like the other times. */
  readonly startedMs: number;
  /** When it began or, while forwarded, when its body last moved or was blocked. */
  activeMs: number;
  /** Whether a break holds it back before its target gets it. */
  delayed: boolean;
  /** The last sweep's observation of a complete response that the client has not read; null before. */
  seen: StallMark | null;
  /** When it entered each stage, for `Server-Timing`; null if that is off. */
  readonly times: StageTimes | null;
  /** When the target received it. */
  handedMs: number | null;
  /** Whether the client waits for 100 (Continue) before sending its body. */
  awaitsContinue: boolean;
  /** Whether it requests WebSocket. */
  readonly upgrade: boolean;
  /** Whether the upgrade succeeded, which makes the connection a tunnel to the upstream. */
  tunnelled: boolean;
  /** The status of an answer that was written to a bare socket; null without one. */
  rawStatus: number | null;
  /** Its number in the list of running exchanges; null if it was never listed. */
  begun: number | null;
  /** Whether the proxy has answered and only drains the rest of the request. */
  byProxy: boolean;
  /** Null while recording is off. */
  readonly capture: Capture | null;
}

export const isIdle = ({ exchanges, ownStreams }: Connection): boolean =>
  exchanges.length === 0 && ownStreams.size === 0;

/** Sends pending data, then ends our side; the client has the linger time to close its side. */
export function endHttp1(connection: Connection, closingResponse: string, nowMs: number): void {
  connection.phase = 'closing';
  connection.sinceMs = nowMs;
  connection.http1?.end(closingResponse);
}

/** Maximum bytes read after a refusal: more than the rest of any handshake. */
const DRAINED_OCTETS_MAX = 65_536;

/**
 * Sends a last answer and ends our side, but reads on until the client has ended its side, or for the linger time.
 * Closing with unread or still incoming input would reset the connection and discard the answer.
 */
export function refuseConnection(connection: Connection, bytes: Buffer | null, nowMs: number): void {
  const { raw } = connection;
  connection.phase = 'closing';
  connection.sinceMs = nowMs;
  let drained = 0;
  raw.on('data', (chunk: Buffer) => {
    drained += chunk.length;
    if (drained > DRAINED_OCTETS_MAX) raw.destroy();
  });
  if (bytes === null) raw.end();
  else raw.end(bytes);
  raw.resume();
}

export function destroyConnection(connection: Connection): void {
  connection.phase = 'closing';
  connection.session?.destroy();
  connection.http1?.destroy();
  connection.raw.destroy();
}

/** Resets a connection (RST), whatever has been written to it. */
export function resetConnection(connection: Connection): void {
  const { raw } = connection;
  connection.phase = 'closing';
  // Otherwise the session and TLS would first end properly, which some clients treat as success.
  raw.once('close', () => destroyConnection(connection));
  raw.resetAndDestroy();
  raw.destroy();
}

/** Closes a connection without requests in progress, by the rules of its protocol. */
export function closeIdle(connection: Connection, closingResponse: string, nowMs: number): void {
  const { session, http1, answered } = connection;
  if (session !== null) {
    connection.phase = 'closing';
    connection.sinceMs = nowMs;
    // Sends GOAWAY, which tells the client that none of its requests is half-processed.
    session.close();
  } else if (http1 !== null) {
    connection.phase = 'closing';
    connection.sinceMs = nowMs;
    // A keep-alive client could mistake an unsolicited response for the answer to its next request.
    if (!answered) http1.write(closingResponse);
    http1.destroySoon();
  } else {
    destroyConnection(connection);
  }
}

/**
 * Ends one exchange at once, and its connection if the protocol requires it. CANCEL is for tunnels (RFC 8441 §5): Node's
 * HTTP/2 client takes an answer that it ends for complete.
 */
export function cutExchange({ request, connection, record }: Exchange): void {
  const code = record.tunnelled ? constants.NGHTTP2_CANCEL : constants.NGHTTP2_INTERNAL_ERROR;
  if (isHttp2(request)) request.stream.close(code);
  else destroyConnection(connection);
}

/** The progress seen by the last check, and since when it has not changed. */
export interface StallMark {
  progress: number;
  /** Monotonic. */
  sinceMs: number;
}

/**
 * How long `watched` has made no progress at `nowMs`, on the monotonic clock; 0 if it has moved since the last check.
 * `progress` is any number that changes with every movement.
 */
export function stalledMs(watched: { seen: StallMark | null }, progress: number, nowMs: number): number {
  if (watched.seen?.progress !== progress) watched.seen = { progress, sinceMs: nowMs };
  return nowMs - watched.seen.sinceMs;
}
