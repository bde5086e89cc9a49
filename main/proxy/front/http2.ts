import {
  constants,
  createServer,
  type Http2Server,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
  type ServerOptions,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import type { Duplex } from 'node:stream';
import type { Answer } from '../../base/http/answer.ts';
import { BodilessRequest, type HttpRequest } from '../../base/http/message.ts';
import type { Log } from '../../base/log.ts';
import { WatchedHttp2Response } from '../capture.ts';
import { asksForWebSocket } from './extended-connect.ts';
import type { Connection } from './connection.ts';
import type { Connections } from './connections.ts';
import { type OwnPath, ownPathAsked } from './own-paths.ts';
import type { ProxyLimits } from './proxy-limits.ts';

export interface Http2Options {
  connections: Connections;
  log: Log;
  limits: ProxyLimits;
  onRequest: (request: HttpRequest, response: Http2ServerResponse, awaitsContinue: boolean) => void;
  /** Accepts a WebSocket request; returns whether it did, because the target speaks WebSocket. */
  onWebSocket: (request: Http2ServerRequest) => boolean;
}

/** Serves a connection that negotiated HTTP/2 in its TLS handshake. */
export type Http2Acceptor = (connection: Connection, socket: Duplex) => void;

/**
 * An HTTP/2 server with limits against floods (CVE-2019-9511 to 9518, CVE-2023-44487 "rapid reset", CVE-2024-27316
 * CONTINUATION). Node's options limit streams, header lists, resets, and refused and malformed streams; PING and
 * SETTINGS frames are counted here, because each one alone is legal.
 */
export function createHttp2Acceptor({ connections, log, limits, onRequest, onWebSocket }: Http2Options): Http2Acceptor {
  const server = createServer(nodeOptions(limits));
  // Without sessions: creates Node's request and response for each stream that it gets, which may have a body.
  const requests = createServer({ Http2ServerResponse: WatchedHttp2Response as typeof Http2ServerResponse });
  let accepting: Connection | null = null;

  server.on('session', (session) => {
    if (accepting === null) throw new Error('An HTTP/2 session has no known connection.');
    adopt(accepting, session);
  });
  server.on('sessionError', (error) => log.debug('An HTTP/2 session failed', { error }));
  server.on('stream', (stream, headers, flags, rawHeaders) => {
    const connection = stream.session === undefined ? undefined : connections.of(stream.session);
    const head = { headers, rawHeaders };
    const own = connection === undefined ? undefined : ownPathOfStream(connection, head, limits);
    if (connection === undefined || own === undefined) {
      const isPlain = stream.endAfterHeaders && headers[':method'] !== 'CONNECT' && headers.expect === undefined;
      if (isPlain) onRequest(new BodilessRequest(stream, headers, rawHeaders), new WatchedHttp2Response(stream), false);
      else requests.emit('stream', stream, headers, flags, rawHeaders);
      return;
    }
    connections.hold(connection, stream);
    stream.on('error', onClientGone);
    answerStream(own, stream, connection, head);
  });
  requests.on('request', (request, response) => onRequest(request, response, false));
  requests.on('checkContinue', (request, response) => onRequest(request, response, true));
  requests.on('checkExpectation', (request: Http2ServerRequest, response: Http2ServerResponse) =>
    onRequest(request, response, false),
  );
  onConnect(requests, (request, response) => {
    if (!asksForWebSocket(request) || !onWebSocket(request)) onRequest(request, response, false);
  });

  const onClientGone = (error: Error): void => log.debug('A client disconnected during its request', { error });

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
      // RFC 8441.
      enableConnectProtocol: true,
    },
    // Four pseudo-header fields, plus one more field for the authority stage to detect and answer.
    maxHeaderListPairs: limits.headerFieldsMax + 5,
    maxSettings: 32,
    maxOutstandingPings: 10,
    maxSessionInvalidFrames: 100,
    maxSessionRejectedStreams: 100,
    // Ten times what a browser sends on leaving a page; more triggers GOAWAY.
    streamResetBurst: 1000,
    streamResetRate: 33,
    // Buffer memory per session, in megabytes.
    maxSessionMemory: 4,
  };
}

/** CONNECT runs through the stages, which refuse it with an explanation; Node would send none. */
function onConnect(
  server: Http2Server,
  listener: (request: Http2ServerRequest, response: Http2ServerResponse) => void,
): void {
  // The types declare only HTTP/1's arguments for this event.
  (server as unknown as { on: (event: 'connect', handler: typeof listener) => void }).on('connect', listener);
}

/** The headers that opened a stream, as Node reads them. */
export interface StreamHead {
  headers: IncomingHttpHeaders;
  /** Name, value, name, value, … */
  rawHeaders: readonly string[];
}

/**
 * The own path that a stream requests, if no stage could refuse the request. Undefined for all others, which the
 * stages decide. Requests that browsers send by the thousand take half the processor time this way, because Node
 * creates no request and response objects.
 */
function ownPathOfStream(
  { listener: { own, scheme } }: Connection,
  { headers, rawHeaders }: StreamHead,
  limits: Pick<ProxyLimits, 'headerFieldsMax' | 'targetLengthMax'>,
): OwnPath | undefined {
  const { ':path': target = '', ':method': method } = headers;
  const isPlain =
    headers[':scheme'] === scheme &&
    headers[':authority'] !== undefined &&
    headers.host === undefined &&
    headers.expect === undefined &&
    // A trusted proxy may report its client in these.
    headers['x-forwarded-for'] === undefined &&
    headers.forwarded === undefined &&
    method !== 'CONNECT' &&
    target.length <= limits.targetLengthMax &&
    rawHeaders.length <= 2 * limits.headerFieldsMax;
  return isPlain ? ownPathAsked(own, target, headers) : undefined;
}

function answerStream(
  own: OwnPath,
  stream: ServerHttp2Stream,
  { listener, address }: Connection,
  head: StreamHead,
): void {
  const { headers } = head;
  const { ':method': method = '', ':path': target = '' } = headers;
  const send = ({ status, headers: fields, body }: Answer): void => {
    if (stream.headersSent || stream.closed || stream.destroyed) return;
    const sent = method === 'HEAD' ? null : body;
    stream.respond([':status', String(status), ...fields], { endStream: sent === null });
    // Ends after the last byte is written: Node creates an error for every write still pending when its stream ends.
    if (sent !== null) stream.write(sent.text, sent.encoding, () => stream.end());
  };
  own({ method, target, scheme: listener.scheme, headers, address, body: stream }, send);
}
