import { isIP } from 'node:net';
import { buildConnector, errors, H2CClient, Pool } from 'undici';
import type { HttpRequest } from '../../base/http/message.ts';
import type { UpstreamDestination } from '../../model/route.ts';
import { machineTrust, lookup } from './dial.ts';
import { codeOf } from './upstream-problem.ts';

/**
 * What a connection is doing while undici calls its handlers, which do not receive the connection. Undici calls them
 * synchronously, within the same event of the socket.
 */
export interface Moment {
  /** It has just been opened. */
  opening: boolean;
  /** It has reported an error. */
  failing: boolean;
}

/** One upstream server, with its connections. */
export interface Origin {
  /** The upstream's own `Host`. */
  readonly host: string;
  /** The path of the target's URL, without its last slash; prepended to that of every request. */
  readonly path: string;
  /** Whether it is known to speak HTTP/2 without TLS, and not HTTP/1.1. */
  readonly speaksH2c: boolean;
  readonly moment: Moment;
  /** Options of http-proxy, for the requests that undici cannot send. */
  readonly dialling: { target: URL; secure: boolean; connectTimeout: number; ssl: object };
  /** Connections for `request`: HTTP/1.1 or what TLS negotiates, or HTTP/2 without TLS. */
  poolFor(request: Pick<HttpRequest, 'headers'>): Pool;
  /** Whether `error` shows that the server speaks the other version without TLS; further requests are sent in that. */
  meetsOtherVersion(error: Error): boolean;
  close(): void;
}

export function createOrigin(
  { url, verifyCertificate }: Pick<UpstreamDestination, 'url' | 'verifyCertificate'>,
  connectMs: number,
): Origin {
  const target = new URL(url);
  const { protocol, origin, host, pathname } = target;
  const hostname = target.hostname.replace(/^\[|\]$/g, '');
  const secure = protocol === 'https:';
  // RFC 6066 §3: addresses are not allowed as server names.
  const servername = secure && isIP(hostname) === 0 ? hostname : '';
  const trust = secure && verifyCertificate ? { secureContext: machineTrust() } : {};
  const dial = { lookup, timeout: connectMs, rejectUnauthorized: verifyCertificate, ...trust };
  const connect = buildConnector(dial);
  const moment = { opening: false, failing: false };
  let speaksH2c = false;
  let h2c: Pool | null = null;
  const pool = new Pool(origin, {
    ...NO_TIMEOUTS,
    // Undici would derive the server name from `Host`.
    connect: (options, callback) =>
      connect({ ...options, servername }, (...[error, socket]) => {
        if (error !== null) {
          callback(error, null);
          return;
        }
        // Listens before undici does.
        socket.on('error', () => {
          moment.failing = true;
          queueMicrotask(() => (moment.failing = false));
        });
        moment.opening = true;
        callback(null, socket);
        moment.opening = false;
      }),
  });
  return {
    host,
    path: pathname.replace(/\/$/, ''),
    moment,
    get speaksH2c() {
      return speaksH2c;
    },
    dialling: {
      target,
      secure: verifyCertificate,
      connectTimeout: connectMs,
      ssl: { lookup, servername, ...trust },
    },
    poolFor(request) {
      if (secure || !(speaksH2c || isGrpc(request))) return pool;
      h2c ??= new Pool(origin, { factory: (server) => new H2CClient(server, { ...NO_TIMEOUTS, connect: dial }) });
      return h2c;
    },
    meetsOtherVersion(error) {
      if (secure || !(speaksH2c ? isNoHttp2(error) : isSettingsFrame(error))) return false;
      speaksH2c = !speaksH2c;
      return true;
    },
    close() {
      void pool.destroy();
      void h2c?.destroy();
    },
  };
}

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
