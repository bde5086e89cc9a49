import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer, type Socket } from 'node:net';
import { track } from './engine.ts';
import { DEMO, routeFor, SHOP, testSnapshot } from './proxy-harness.ts';
import type { Snapshot, UpstreamDestination } from '../../main/model/route.ts';

/** A server behind the proxy, with the requests that it received. */
export interface Upstream {
  port: number;
  url: string;
  requests: IncomingMessage[];
  server: Server;
  /** The number of open sockets. */
  sockets: ReadonlySet<Socket>;
}

/** A scripted HTTP server; closed after the test. */
export async function startUpstream(handle: RequestListener): Promise<Upstream> {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    handle(request, response);
  });
  const { port, sockets } = await listen(server);
  return { port, url: `http://127.0.0.1:${port}`, requests, server, sockets };
}

/** A server that sends scripted bytes; `allowHalfOpen` keeps it open after the client has ended. */
export async function startRawUpstream(
  speak: (socket: Socket) => void,
  { allowHalfOpen = false } = {},
): Promise<{ url: string; sockets: ReadonlySet<Socket> }> {
  const server = createTcpServer({ allowHalfOpen }, (socket) => {
    socket.on('error', () => undefined);
    // Otherwise the end of the connection would never be read.
    socket.resume();
    speak(socket);
  });
  const { port, sockets } = await listen(server);
  return { url: `http://127.0.0.1:${port}`, sockets };
}

async function listen(server: TcpServer): Promise<{ port: number; sockets: Set<Socket> }> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  track(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return { port: (server.address() as AddressInfo).port, sockets };
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

/** Waits, turn by turn of the event loop, until `holds` is true. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}
