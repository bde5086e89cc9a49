import { isIP, type Socket } from 'node:net';
import { buildConnector, errors, Pool } from 'undici';
import type { HttpRequest } from '../../base/http/message.ts';
import type { UpstreamDestination } from '../../model/route.ts';
import { machineTrust, lookup } from './dial.ts';
import { codeOf } from './upstream-problem.ts';
import { connect } from 'node:http2';
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

/** One upstream server, with its connections. */
export function createOrigin(
  { url, verifyCertificate }: Pick<UpstreamDestination, 'url' | 'verifyCertificate'>,
  connectMs: number,
) {
  const target = new URL(url);
  const { protocol, origin, host, pathname, port } = target;
  const hostname = target.hostname.replace(/^\[|\]$/g, '');
  const secure = protocol === 'https:';
  // RFC 6066 §3: addresses are not allowed as server names.
  const servername = secure && isIP(hostname) === 0 ? hostname : '';
  const trust = secure && verifyCertificate ? { secureContext: machineTrust() } : {};
  const options = { lookup, timeout: connectMs, rejectUnauthorized: verifyCertificate, ...trust };
  const server = { hostname, host, protocol, port, servername };
  const [connect, connectHttp1] = [buildConnector(options), buildConnector({ ...options, allowH2: false })];
  /**
   * What a connection is doing while undici calls its handlers, which do not receive the connection: it has just been
   * opened, or has reported an error. Undici calls them synchronously, within the same event of the socket.
   */
  const moment = { opening: false, failing: false };
  let speaksH2c = false;
  let negotiation: Promise<boolean> | null = null;
  /** A connection that negotiated HTTP/1.1, until the pool takes it in the same turn. */
  let spare: Socket | null = null;
  let http1Connections = 0;
  const dial: Dial = (done) => connect(server, done);
  const http2 = new Http2Sessions(origin, moment, dial);
  const pool = new Pool(origin, {
    ...NO_TIMEOUTS,
    connect: (_options, callback) => {
      const give: buildConnector.Callback = (...[error, socket]) => {
        if (error !== null) return callback(error, null);
        http1Connections += 1;
        socket.once('close', () => (http1Connections -= 1));
        // Listens before undici does.
        socket.on('error', () => {
          moment.failing = true;
          queueMicrotask(() => (moment.failing = false));
        });
        moment.opening = true;
        callback(null, socket);
        moment.opening = false;
      };
      if (spare === null) return connectHttp1(server, give);
      const socket = spare;
      spare = null;
      // Undici expects it later than its call.
      queueMicrotask(() => give(null, socket));
    },
  });
  const negotiate = (): Promise<boolean> =>
    new Promise((resolve, reject) => {
      dial((...[error, socket]) => {
        negotiation = null;
        if (error !== null) return reject(error);
        resolve(isHttp2(socket));
        if (isHttp2(socket)) return http2.adopt(socket);
        spare = socket;
        // Requests that http-proxy sends do not take it.
        setImmediate(() => {
          spare?.destroy();
          spare = null;
        });
      });
    });
  return {
    host,
    /** The path of the target's URL, without its last slash; prepended to that of every request. */
    path: pathname.replace(/\/$/, ''),
    moment,
    /** Options of http-proxy, for the requests that undici cannot send. */
    dialling: { target, secure: verifyCertificate, connectTimeout: connectMs, ssl: { lookup, servername, ...trust } },
    /** For HTTP/1.1. */
    pool,
    http2,
    /** Whether `request` is for HTTP/2. Without a connection over TLS, which negotiates it, one is opened. */
    isForHttp2(request: Pick<HttpRequest, 'headers'>): boolean | Promise<boolean> {
      if (!secure) return speaksH2c || isGrpc(request);
      if (http2.isOpen) return true;
      return http1Connections > 0 || spare !== null ? false : (negotiation ??= negotiate());
    },
    /** Whether `error` shows that the server speaks the other version; further requests are sent in that. */
    meetsOtherVersion(error: Error): boolean {
      if (secure || !(speaksH2c ? isNoHttp2(error) : isSettingsFrame(error))) return false;
      speaksH2c = !speaksH2c;
      return true;
    },
    close(): void {
      void pool.destroy();
      http2.close();
    },
  };
}

export type Origin = ReturnType<typeof createOrigin>;

const isHttp2 = (socket: Socket): boolean => 'alpnProtocol' in socket && socket.alpnProtocol === 'h2';

/** The sweep enforces time limits, because undici's would end silent streams. */
const NO_TIMEOUTS = { headersTimeout: 0, bodyTimeout: 0 };

/** GRPC requires HTTP/2, whose trailers have its status. */
const isGrpc = ({ headers }: Pick<HttpRequest, 'headers'>): boolean =>
  /^application\/grpc(?![\w-])/i.test(headers['content-type'] ?? '');

/** The type of a SETTINGS frame, after three octets of its length (RFC 9113 §4.1). */
const SETTINGS = 4;

/** Whether a server answered HTTP/1.1 with its preface, a SETTINGS frame (RFC 9113 §3.4), so it read no request. */
const isSettingsFrame = (error: Error): boolean =>
  error instanceof errors.HTTPParserError && 'data' in error && String(error.data).charCodeAt(3) === SETTINGS;

const isNoHttp2 = (error: Error): boolean => codeOf(error) === 'ERR_HTTP2_ERROR';
