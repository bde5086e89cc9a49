import { connect } from 'node:http2';
import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';
import { type Handler, type Http2Request, Http2Transfer, type Session } from './http2-transfer.ts';

/** Opens a connection that speaks HTTP/2. */
export type Dial = (done: buildConnector.Callback) => void;

/** The most streams in one session; a server may allow fewer, but should allow as many (RFC 9113 §6.5.2). */
const STREAMS_MAX = 100;

/** How much may arrive before it is acknowledged: of one answer until its reader takes it, and in all. */
const STREAM_WINDOW_BYTES = 256 * 1024;
const WINDOW_BYTES = 1024 * 1024;

/** How long a server may take to begin: a busy one accepts connections before it serves them. */
const OPENING_MS = 60_000;

/** As long as undici keeps idle connections. */
const IDLE_MS = 4_000;

/** The HTTP/2 connections to one upstream. A new one is opened when all have as many streams as the server allows. */
export class Http2Sessions {
  readonly #origin: string;
  readonly #moment: { opening: boolean };
  readonly #dial: Dial;
  readonly #sessions = new Set<Session>();
  #streamsMax = STREAMS_MAX;
  /** Requests for the next session. */
  readonly #waiting: { request: Http2Request; handler: Handler }[] = [];
  #isDialling = false;

  /** `moment.opening` is true while requests receive the session that was opened for them. */
  constructor(origin: string, moment: { opening: boolean }, dial: Dial) {
    this.#origin = origin;
    this.#moment = moment;
    this.#dial = dial;
  }

  /** Whether the server is known to speak HTTP/2, because a session is open. */
  get isOpen(): boolean {
    return this.#find(() => true) !== null;
  }

  dispatch(request: Http2Request, handler: Handler): void {
    const session = this.#find(({ isReady, streams }) => isReady && streams < this.#streamsMax);
    if (session !== null) {
      new Http2Transfer(handler).send(session, request);
      return;
    }
    this.#waiting.push({ request, handler });
    this.#openNext();
  }

  /** Opens a session on `socket`. */
  adopt(socket: Socket): void {
    const http2 = connect(this.#origin, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: STREAM_WINDOW_BYTES },
    });
    const session: Session = { http2, isReady: false, streams: 0, lastStream: Number.POSITIVE_INFINITY };
    let failure = Object.assign(new Error('The server closed the connection.'), { code: 'ECONNRESET' });
    this.#sessions.add(session);
    http2.on('connect', () => http2.setLocalWindowSize(WINDOW_BYTES));
    http2.on('remoteSettings', ({ maxConcurrentStreams = STREAMS_MAX }) => {
      this.#streamsMax = Math.max(1, Math.min(maxConcurrentStreams, STREAMS_MAX));
      if (!session.isReady) this.#use(session);
    });
    http2.on('goaway', (_code, lastStream) => (session.lastStream = lastStream));
    // Streams report it, too.
    http2.on('error', (error) => (failure = error));
    http2.on('close', () => {
      this.#sessions.delete(session);
      if (!session.isReady) this.#failWaiting(failure);
    });
    http2.on('timeout', () => {
      if (session.streams === 0) http2.close();
    });
    http2.setTimeout(OPENING_MS);
  }

  close(): void {
    for (const { http2 } of this.#sessions) http2.destroy();
  }

  #find(fits: (session: Session) => boolean): Session | null {
    for (const session of this.#sessions) if (!session.http2.closed && fits(session)) return session;
    return null;
  }

  /** Opens a session for the waiting requests, unless one is being opened. */
  #openNext(): void {
    if (this.#waiting.length === 0 || this.#isDialling || this.#find(({ isReady }) => !isReady) !== null) return;
    this.#isDialling = true;
    this.#dial((...[error, socket]) => {
      this.#isDialling = false;
      if (error === null) this.adopt(socket);
      else this.#failWaiting(error);
    });
  }

  #use(session: Session): void {
    session.isReady = true;
    session.http2.setTimeout(IDLE_MS);
    this.#moment.opening = true;
    for (const { request, handler } of this.#waiting.splice(0, this.#streamsMax))
      new Http2Transfer(handler).send(session, request);
    this.#moment.opening = false;
    this.#openNext();
  }

  #failWaiting(error: Error): void {
    for (const { handler } of this.#waiting.splice(0)) new Http2Transfer(handler).fail(error);
  }
}
