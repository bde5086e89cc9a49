import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { createSecureServer, createServer as createHttp2Server } from 'node:http2';
import type { Http2Session, IncomingHttpHeaders, ServerHttp2Stream, ServerOptions } from 'node:http2';
import { createServer as createTcpServer, type Server as TcpServer, type Socket } from 'node:net';
import { listen } from './ports.ts';
import type { TestCertificates } from './proxy/proxy-certificates.ts';
import { DEMO, routeFor, SHOP, startProxy, testSnapshot } from './proxy/proxy-harness.ts';
import type { ProxyStart, RunningProxy } from './proxy/proxy-harness.ts';
import type { Snapshot, UpstreamDestination } from '../../main/model/route.ts';

export type Upstream = Awaited<ReturnType<typeof startUpstream>>;

/** A scripted HTTP server, with the requests that it received and its open sockets; closed after the test. */
export async function startUpstream(handle: RequestListener, host = '127.0.0.1') {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    handle(request, response);
  });
  const { port, sockets } = await listen(server, 0, host);
  return { port, url: `http://${host}:${port}`, requests, server, sockets };
}

/** A server that sends scripted bytes; `allowHalfOpen` keeps it open after the client has ended. */
export async function startRawUpstream(speak: (socket: Socket) => void, { allowHalfOpen = false } = {}) {
  const server = createTcpServer({ allowHalfOpen }, (socket) => {
    socket.on('error', () => undefined);
    // Otherwise the end of the connection would never be read.
    socket.resume();
    speak(socket);
  });
  const { port, sockets } = await listen(server);
  return { url: `http://127.0.0.1:${port}`, sockets };
}

export type ServeStream = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void;

/** A server that speaks only HTTP/2: with TLS as `localhost` if it has certificates, else without. */
export async function startHttp2Upstream(
  serve: ServeStream,
  { certificates, ...options }: ServerOptions & { certificates?: TestCertificates } = {},
) {
  const server =
    certificates === undefined
      ? createHttp2Server(options)
      : createSecureServer({
          ...options,
          SNICallback: (name, done) => done(null, certificates.contextFor(name) ?? undefined),
        });
  server.on('stream', serve);
  const sessions = new Set<Http2Session>();
  server.on('session', (session) => {
    sessions.add(session);
    session.on('close', () => sessions.delete(session));
    session.on('error', () => undefined);
  });
  const { port } = await listen(server as unknown as TcpServer);
  const url = certificates === undefined ? `http://127.0.0.1:${port}` : `https://localhost:${port}`;
  return { port, url, server, sessions };
}

/** DEMO leads to `url`, SHOP to the built-in API. */
export function snapshotTo(url: string, more: Partial<UpstreamDestination> = {}): Snapshot {
  const target: UpstreamDestination = {
    kind: 'upstream',
    url,
    host: 'rewrite',
    limited: false,
    withoutKey: 'free',
    verifyCertificate: true,
    ...more,
  };
  return testSnapshot({ routes: [routeFor(DEMO, 'prj_demo', { target }), routeFor(SHOP, 'prj_shop')] });
}

/** A proxy where DEMO leads to `url`. */
export const proxyTo = (
  url: string,
  { destination, ...options }: ProxyStart & { destination?: Partial<UpstreamDestination> } = {},
): Promise<RunningProxy> => startProxy({ snapshot: snapshotTo(url, destination), ...options });

/** Waits, turn by turn of the event loop, until `holds` is true. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}
