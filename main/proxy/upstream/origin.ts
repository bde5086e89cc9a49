import { isIP } from 'node:net';
import { buildConnector, Pool } from 'undici';
import type { UpstreamDestination } from '../../model/route.ts';
import { machineTrust } from './dial.ts';
import { lookup } from './lookup.ts';

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
  readonly pool: Pool;
  readonly moment: Moment;
  /** Options of http-proxy, for the requests that undici cannot send. */
  readonly dialling: { target: URL; secure: boolean; connectTimeout: number; ssl: object };
}

export function createOrigin({ url, verifyCertificate }: UpstreamDestination, connectMs: number): Origin {
  const target = new URL(url);
  const { protocol, origin, host, pathname } = target;
  const hostname = target.hostname.replace(/^\[|\]$/g, '');
  // RFC 6066 §3: addresses are not allowed as server names.
  const servername = protocol === 'https:' && isIP(hostname) === 0 ? hostname : '';
  const trust = protocol === 'https:' && verifyCertificate ? { secureContext: machineTrust() } : {};
  const connect = buildConnector({
    lookup,
    timeout: connectMs,
    rejectUnauthorized: verifyCertificate,
    allowH2: false,
    ...trust,
  });
  const moment = { opening: false, failing: false };
  const pool = new Pool(origin, {
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
    // The sweep times requests out: undici's time-outs would end streams that are silent.
    headersTimeout: 0,
    bodyTimeout: 0,
    allowH2: false,
  });
  return {
    host,
    path: pathname.replace(/\/$/, ''),
    pool,
    moment,
    dialling: {
      target,
      secure: verifyCertificate,
      connectTimeout: connectMs,
      ssl: { lookup, servername, ...trust },
    },
  };
}
