import {
  constants,
  createServer,
  type Http2Server,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
  type ServerOptions,
} from 'node:http2';
import type { Duplex } from 'node:stream';
import type { Log } from '../base/log.ts';
import type { Connection } from './connection.ts';
import type { Connections } from './connections.ts';
import type { ProxyLimits } from './proxy-limits.ts';

export interface Http2Options {
  connections: Connections;
  log: Log;
  limits: ProxyLimits;
  onRequest: (request: Http2ServerRequest, response: Http2ServerResponse, awaitsContinue: boolean) => void;
}

/** Serves a connection whose TLS handshake has agreed on HTTP/2. */
export type Http2Acceptor = (connection: Connection, socket: Duplex) => void;

/**
 * HTTP/2 with its floods bounded (CVE-2019-9511 to 9518, CVE-2023-44487 "rapid reset", CVE-2024-27316 CONTINUATION):
 * streams, header lists, resets, refused and malformed streams by Node's options; PING and SETTINGS frames counted
 * here, because each of them is legal on its own.
 */
export function createHttp2Acceptor({ connections, log, limits, onRequest }: Http2Options): Http2Acceptor {
  const server = createServer(nodeOptions(limits));
  let accepting: Connection | null = null;

  server.on('session', (session) => {
    if (accepting === null) throw new Error('An HTTP/2 session came from nowhere.');
    adopt(accepting, session);
  });
  server.on('sessionError', (error) => log.debug('An HTTP/2 session failed', { error }));
  server.on('request', (request, response) => onRequest(request, response, false));
  server.on('checkContinue', (request, response) => onRequest(request, response, true));
  onConnect(server, (request, response) => onRequest(request, response, false));

  function adopt(connection: Connection, session: ServerHttp2Session): void {
    connection.session = session;
    connection.phase = 'open';
    connections.link(session, connection);
    const count = (): void => {
      if (++connection.controlFrames !== limits.controlFramesMax) return;
      log.debug('A client floods its HTTP/2 session with control frames', { address: connection.address });
      session.destroy(new Error('Too many control frames'), constants.NGHTTP2_ENHANCE_YOUR_CALM);
    };
    session.on('ping', count);
    session.on('remoteSettings', count);
  }

  return (connection, socket) => {
    accepting = connection;
    server.emit('connection', socket);
    accepting = null;
  };
}

function nodeOptions(limits: ProxyLimits): ServerOptions {
  return {
    settings: {
      maxConcurrentStreams: limits.streamsMax,
      maxHeaderListSize: limits.headerBytesMax,
      enablePush: false,
    },
    // Four pseudo header fields beside the others, and one more for the authority stage to see and answer.
    maxHeaderListPairs: limits.headerFieldsMax + 5,
    maxSettings: 32,
    maxOutstandingPings: 10,
    maxSessionInvalidFrames: 100,
    maxSessionRejectedStreams: 100,
    // Ten times what a browser does when a page is left; then GOAWAY.
    streamResetBurst: 1000,
    streamResetRate: 33,
    // Megabytes of one session's buffers.
    maxSessionMemory: 4,
  };
}

/** A CONNECT goes through the stages like any request, which refuse it; Node's own answer would have no words. */
function onConnect(
  server: Http2Server,
  listener: (request: Http2ServerRequest, response: Http2ServerResponse) => void,
): void {
  // The types know this event with the arguments of HTTP/1 only.
  (server as unknown as { on: (event: 'connect', handler: typeof listener) => void }).on('connect', listener);
}
