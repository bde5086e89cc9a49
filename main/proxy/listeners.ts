import type { IncomingMessage, Server as HttpServer } from 'node:http';
import type { Server, Socket } from 'node:net';
import type { Clock } from '../base/clock.ts';
import { bindPort, type BoundPort } from '../base/system/bind-port.ts';
import { LOOPBACK_ADDRESSES } from '../base/config.ts';
import { parseAuthority, type Scheme } from '../base/text/hostname.ts';
import { hasBody } from '../base/http/message.ts';
import type { Log } from '../base/log.ts';
import { destroyConnection, type Connection, type Listener } from './front/connection.ts';
import type { Connections } from './front/connections.ts';
import type { createExchanges } from './exchanges.ts';
import { asUpgrade } from './front/extended-connect.ts';
import { createHttp2Acceptor } from './front/http2.ts';
import { createHttp1Server, serveHttp1 } from './front/http1.ts';
import type { OwnPlace } from './front/own-paths.ts';
import type { ProxyLimits } from './front/proxy-limits.ts';
import type { RouteTable } from './route-table.ts';
import { createTlsServer, serveTls, type TlsListenerOptions } from './front/tls-listener.ts';
import { acceptConnect, type TunnelOptions } from './tunnels/tunnel.ts';

export interface ListenersOptions extends Pick<
  TlsListenerOptions,
  'contextFor' | 'brokenFor' | 'defaultHostname' | 'faults'
> {
  providerPlace: TunnelOptions['providerPlace'];
  clock: Pick<Clock, 'monotonic'>;
  log: Log;
  limits: ProxyLimits;
  connections: Connections;
  exchanges: ReturnType<typeof createExchanges>;
  stopping: () => boolean;
  /** What Vivarium itself answers on loopback. */
  own: OwnPlace;
  table: () => RouteTable;
}

/** 0 picks any free port. */
export interface WantedPorts {
  httpPort: number;
  httpsPort: number;
  /** 127.0.0.1 and ::1 if omitted. */
  addresses?: readonly string[];
}

/** Idle connections to close when the system runs out of file descriptors. */
const ROOM_CONNECTIONS = 64;

/** The two ports of the proxy, on loopback and at other places, and how their connections are served. */
export function createListeners(options: ListenersOptions) {
  const { clock, log, limits, connections, exchanges, stopping, table } = options;
  const http: Listener = { scheme: 'http', port: 0, own: options.own, table };
  const https: Listener = { ...http, scheme: 'https' };
  const bound = new Set<BoundPort>();
  let plainServers: readonly HttpServer[] = [];
  const ports = (): Record<Scheme, number> => ({ http: http.port, https: https.port });

  /** The same server class handles HTTP/1.x on TLS connections, tunnels and plain connections. */
  const serveWithinHttp1 = (connection: Connection, socket: Socket): void => {
    const [plainServer] = plainServers;
    if (plainServer === undefined) throw new Error('No address to listen on.');
    serveHttp1(plainServer, connection, socket, connections);
  };
  const secure: TlsListenerOptions = {
    ...options,
    listener: https,
    serveHttp1: serveWithinHttp1,
    serveHttp2: createHttp2Acceptor({
      connections,
      log,
      limits,
      onRequest: (request, response, awaitsContinue) => exchanges.serve({ request, response }, awaitsContinue),
      onWebSocket(asked) {
        const connection = asked.stream.session && connections.of(asked.stream.session);
        if (!leadsToUpstream(asked.headers[':authority'] ?? asked.headers.host, connection)) return false;
        const { request, socket } = asUpgrade(asked);
        exchanges.upgrade(request, socket, NO_BYTES);
        return true;
      },
    }),
  };
  const tunnels: TunnelOptions = {
    ...{ connections, clock, log, limits, ports, stopping, providerPlace: options.providerPlace },
    serve: {
      http: (connection) => serveWithinHttp1(connection, connection.raw),
      https: (connection) => serveTls(connection, secure),
    },
  };
  const createPlainServer = (listener: Listener): HttpServer =>
    createHttp1Server({
      ...{ connections, listener, clock, log, limits },
      onRequest: (request, response, awaitsContinue) => exchanges.serve({ request, response }, awaitsContinue),
      mayUpgrade: (request) => mayUpgrade(request, connections.of(request.socket)),
      onUpgrade: (request, socket, head) => exchanges.upgrade(request, socket, head),
      onConnect: (request, socket, head) => acceptConnect(request, socket, head, tunnels),
    });

  async function bind<AnyServer extends Server>(
    listener: Listener,
    { port, addresses = LOOPBACK_ADDRESSES }: { port: number; addresses: readonly string[] | undefined },
    createServer: () => AnyServer,
  ) {
    const option = `--${listener.scheme}-port`;
    const ready = await bindPort({ port, addresses, option, createServer });
    listener.port = ready.port;
    for (const server of ready.servers) {
      // Accepting can fail at any time, for example without free file descriptors; existing connections continue.
      server.on('error', (error: NodeJS.ErrnoException) => {
        log.warn('A listener could not accept a connection', { code: error.code, connections: connections.size() });
        if (error.code === 'EMFILE' || error.code === 'ENFILE') connections.makeRoom(ROOM_CONNECTIONS);
      });
    }
    bound.add(ready);
    return ready;
  }

  const close = async (): Promise<void> => closeAll(bound);

  return {
    ports,
    /** Stops accepting; resolves when all connections are closed. */
    close,
    /**
     * Binds both ports. Call it once.
     * @throws VivariumError `conflict` if a port is unavailable; nothing is left open.
     */
    async start({ httpPort, httpsPort, addresses }: WantedPorts) {
      try {
        const plain = await bind(http, { port: httpPort, addresses }, () => createPlainServer(http));
        plainServers = plain.servers;
        const tls = await bind(https, { port: httpsPort, addresses }, () => createTlsServer(secure));
        return { http: plain, https: tls, warnings: [...plain.warnings, ...tls.warnings] };
      } catch (error) {
        await close();
        throw error;
      }
    },
    /**
     * Also serves on another address, at the ports of `start`, until the returned function is called, which cuts
     * everything open there. @throws VivariumError `conflict` if a port is unavailable; nothing is left open.
     */
    async serveOn(address: string, own: OwnPlace): Promise<() => Promise<void>> {
      const opened: BoundPort[] = [];
      const end = async (): Promise<void> => {
        for (const port of opened) bound.delete(port);
        const closed = closeAll(opened);
        for (const connection of connections.all()) if (connection.listener.own === own) destroyConnection(connection);
        await closed;
      };
      try {
        for (const { scheme, port } of [http, https]) {
          const { serves } = own;
          const view = (): RouteTable => (serves === undefined ? table() : table().within(serves));
          const listener: Listener = { scheme, port, own, table: view };
          const createServer = (): Server =>
            scheme === 'http' ? createPlainServer(listener) : createTlsServer({ ...secure, listener });
          opened.push(await bind(listener, { port, addresses: [address] }, createServer));
        }
      } catch (error) {
        await end();
        throw error;
      }
      return end;
    },
  };
}

/**
 * Whether a request asks for another protocol at a hostname whose project has an upstream. Excluded are upgrades with a
 * body, because two programs could disagree on where it ends, and to HTTP/2, whose requests would bypass the stages.
 */
function mayUpgrade(request: IncomingMessage, connection: Connection | undefined): boolean {
  const { method, url, headers } = request;
  if (method !== 'GET' || /\bh2c?\b/i.test(headers.upgrade ?? 'h2c') || hasBody(request)) return false;
  // An absolute target (RFC 9112 §3.2.2) may name another host than `Host`.
  if (url?.startsWith('/') !== true) return false;
  return connection?.exchanges.length === 0 && leadsToUpstream(headers.host, connection);
}

function leadsToUpstream(text: string | undefined, connection: Connection | undefined): boolean {
  const authority = parseAuthority(text ?? '');
  return authority !== null && connection?.listener.table().route(authority.host)?.target.kind === 'upstream';
}

const NO_BYTES = Buffer.alloc(0);

async function closeAll(ports: Iterable<BoundPort>): Promise<void> {
  const servers = [...ports].flatMap((port) => port.servers);
  await Promise.all(servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve()))));
}
