import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type RawData, type WebSocket } from 'ws';
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { unavailable, VivariumError } from '../contract/errors.ts';
import { BODY_BYTES_MAX, hasTooManyStrings, STRINGS_MAX } from './body.ts';
import { refuseConnection } from './responses.ts';
import type { ControlRouter } from './router.ts';
import { createRpcHandler, createSession } from './session.ts';
import { readProtocolToken, SOCKET_PROTOCOL } from './access.ts';

export const SOCKET_PATH = '/rpc';

/** Browser tabs on one Vivarium; each holds a few streams. */
export const SOCKETS_MAX = 64;

/** Interval of pings. A tab that has not answered by the next one is disconnected. */
export const PING_INTERVAL_MS = 30_000;

/** Close codes of RFC 6455 §7.4.1. */
const GOING_AWAY = 1001;
const POLICY_VIOLATION = 1008;
const TOO_BIG = 1009;

/** How long a tab may take to answer a close frame before its connection is destroyed. */
const CLOSE_MS_MAX = 1_000;

export interface SocketsOptions {
  router: ControlRouter;
  clock: Pick<Clock, 'realTimer'>;
  log: Log;
  isToken: (candidate: string) => boolean;
}

/** The RPC protocol over WebSocket, for the interface in a browser. */
export function createSockets({ router, clock, log, isToken }: SocketsOptions) {
  const handler = createRpcHandler(router);
  const open = new Set<WebSocket>();
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: BODY_BYTES_MAX,
    // On loopback compression costs time and memory, and saves nothing.
    perMessageDeflate: false,
    handleProtocols: () => SOCKET_PROTOCOL,
  });

  function refusalOf(request: IncomingMessage): VivariumError | null {
    const token = readProtocolToken(request.headers['sec-websocket-protocol']);
    if (token === null || !isToken(token)) {
      return new VivariumError(
        'unauthorized',
        `Offer the subprotocols "${SOCKET_PROTOCOL}" and "token.<token>"; the token is in runtime.json.`,
      );
    }
    if (open.size >= SOCKETS_MAX) return unavailable(`${SOCKETS_MAX} browser tabs are connected; close one of them.`);
    return null;
  }

  function serve(socket: WebSocket): void {
    const session = createSession({
      handler,
      send: (message) => sendMessage(socket, message),
      onViolation(reason) {
        // One is enough: further messages may have arrived with the first.
        if (socket.readyState !== socket.OPEN) return;
        log.warn('Disconnected a browser tab that violates the protocol', { reason });
        closeSocket(socket, POLICY_VIOLATION, reason);
      },
    });
    const stopPinging = keepAlive(socket, clock);
    open.add(socket);
    socket.on('message', (data, isBinary) => {
      const bytes = toBytes(data);
      if (hasTooManyStrings(bytes)) return closeSocket(socket, TOO_BIG, `more than ${STRINGS_MAX} strings`);
      void session.receive(isBinary ? bytes : bytes.toString());
    });
    // ws itself closes connections with oversized frames or frames that violate RFC 6455.
    socket.on('error', (error) => log.debug('The connection of a browser tab failed', { error }));
    socket.once('close', () => {
      open.delete(socket);
      stopPinging();
      session.close();
    });
  }

  function closeSocket(socket: WebSocket, code: number, reason: string): void {
    socket.close(code, reason);
    const timer = clock.realTimer(CLOSE_MS_MAX, () => socket.terminate());
    socket.once('close', () => timer.cancel());
  }

  return {
    /** Takes over a WebSocket upgrade; its Host and Origin have been checked. */
    upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
      const refusal = refusalOf(request);
      if (refusal !== null) return refuseConnection(socket, refusal);
      server.handleUpgrade(request, socket, head, serve);
    },
    count: (): number => open.size,
    /** Sends every tab a close frame, destroys late connections, resolves when all are closed. */
    async stop(reason: string = 'Vivarium is stopping'): Promise<void> {
      const gone = [...open].map((socket) => new Promise((resolve) => socket.once('close', resolve)));
      for (const socket of open) closeSocket(socket, GOING_AWAY, reason);
      await Promise.all(gone);
    },
    cut(): void {
      for (const socket of open) socket.terminate();
    },
  };
}

/** Resolves when the system has accepted the message, which a slow reader delays. */
function sendMessage(socket: WebSocket, message: string | ArrayBufferLike | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.send(message as string | Uint8Array, (error) => (error ? reject(error) : resolve()));
  });
}

function toBytes(data: RawData): Buffer {
  if (Buffer.isBuffer(data)) return data;
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data);
}

function keepAlive(socket: WebSocket, clock: Pick<Clock, 'realTimer'>): () => void {
  let answered = true;
  socket.on('pong', () => {
    answered = true;
  });
  const arm = () =>
    clock.realTimer(PING_INTERVAL_MS, () => {
      if (!answered) return socket.terminate();
      answered = false;
      socket.ping();
      timer = arm();
    });
  let timer = arm();
  return () => timer.cancel();
}
