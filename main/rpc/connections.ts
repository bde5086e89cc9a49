import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../base/clock.ts';

/** How long a request waits for a client that neither sends nor reads before its connection may be replaced. */
const PATIENCE_MS = 1_000;

interface Client {
  /** The start of the wait for the other side: the last answer, or the arrival of the request in progress. */
  sinceMs: number;
  requests: Set<ServerResponse>;
  /** Whether a request in progress has the token. */
  isTrusted: boolean;
}

/**
 * Bounds the connections of a server. A new one replaces an idle one, the longest idle first; otherwise one whose
 * client has kept a request waiting. Requests with the token, and WebSockets, are never replaced.
 */
export function boundConnections(
  server: Server,
  options: { max: number; clock: Pick<Clock, 'monotonic'>; isTrusted: (request: IncomingMessage) => boolean },
): void {
  const { max, clock, isTrusted } = options;
  const clients = new Map<Socket, Client>();

  function waitsForClient({ requests, isTrusted: trusted, sinceMs }: Client): boolean {
    if (trusted || clock.monotonic() - sinceMs < PATIENCE_MS) return false;
    return [...requests].some((response) => response.writableEnded || !response.req.complete);
  }

  function makeRoom(): boolean {
    const all = [...clients].sort(([, one], [, other]) => one.sinceMs - other.sinceMs);
    const chosen =
      all.find(([, { requests }]) => requests.size === 0) ?? all.find(([, client]) => waitsForClient(client));
    if (chosen === undefined) return false;
    const [socket] = chosen;
    clients.delete(socket);
    socket.destroy();
    return true;
  }

  server.prependListener('connection', (socket: Socket) => {
    if (clients.size >= max && !makeRoom()) {
      socket.destroy();
      return;
    }
    clients.set(socket, { sinceMs: clock.monotonic(), requests: new Set(), isTrusted: false });
    socket.once('close', () => clients.delete(socket));
  });
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    const client = clients.get(request.socket);
    if (client === undefined) return;
    if (client.requests.size === 0) client.sinceMs = clock.monotonic();
    client.requests.add(response);
    client.isTrusted ||= isTrusted(request);
    response.once('close', () => {
      client.requests.delete(response);
      if (client.requests.size > 0) return;
      client.sinceMs = clock.monotonic();
      client.isTrusted = false;
    });
  };
  server.prependListener('request', onRequest);
  server.prependListener('checkContinue', onRequest);
  // From here on the connection is a tab; tabs have their own limit.
  server.prependListener('upgrade', (request: IncomingMessage) => void clients.delete(request.socket));
}
