import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../base/clock.ts';

/** How long a request waits for a client that neither sends nor reads before its connection may be replaced. */
const PATIENCE_MS = 1_000;

interface Client {
  /** The start of the wait for the other side: the last answer, or the arrival of the request in progress. */
  sinceMs: number;
  requests: Set<ServerResponse>;
  /** Whether a request in progress has the token; `beyond` is one of more such clients than are protected. */
  trust: 'none' | 'protected' | 'beyond';
}

/** The share of the connections that is kept free of protected ones, for new clients. */
const RESERVE = 1 / 8;

const isIdle = ({ requests }: Client): boolean => requests.size === 0;

const waitsForClient = ({ requests, trust }: Client): boolean =>
  trust !== 'protected' && [...requests].some((response) => response.writableEnded || !response.req.complete);

/**
 * Bounds the connections of a server. A new one replaces an idle one, the longest idle first; otherwise one whose
 * client has kept a request waiting. Requests with the token are not replaced, but for those beyond the reserve;
 * WebSockets never are. Returns a function that closes the connections without a request, which browsers open in
 * advance; a closing Node server would wait for them.
 */
export function boundConnections(
  server: Server,
  options: { max: number; clock: Pick<Clock, 'monotonic'>; isTrusted: (request: IncomingMessage) => boolean },
): () => void {
  const { max, clock, isTrusted } = options;
  const protectedMax = max - Math.ceil(max * RESERVE);
  const clients = new Map<Socket, Client>();

  const isLate = ({ sinceMs }: Client): boolean => clock.monotonic() - sinceMs >= PATIENCE_MS;
  /** In the order in which connections are replaced; one that is new comes last, for its request is on the way. */
  const replaceable: readonly ((client: Client) => boolean)[] = [
    (client) => isIdle(client) && isLate(client),
    (client) => isLate(client) && waitsForClient(client),
    ({ trust }) => trust === 'beyond',
    isIdle,
  ];

  function makeRoom(): boolean {
    const all = [...clients].sort(([, one], [, other]) => one.sinceMs - other.sinceMs);
    const [socket] = replaceable.map((may) => all.find(([, client]) => may(client))?.[0]).filter(Boolean);
    if (socket === undefined) return false;
    clients.delete(socket);
    socket.destroy();
    return true;
  }

  server.prependListener('connection', (socket: Socket) => {
    if (clients.size >= max && !makeRoom()) {
      socket.destroy();
      return;
    }
    clients.set(socket, { sinceMs: clock.monotonic(), requests: new Set(), trust: 'none' });
    socket.once('close', () => clients.delete(socket));
  });
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    const client = clients.get(request.socket);
    if (client === undefined) return;
    if (client.requests.size === 0) client.sinceMs = clock.monotonic();
    client.requests.add(response);
    if (client.trust === 'none' && isTrusted(request)) {
      const others = [...clients.values()].filter(({ trust }) => trust === 'protected').length;
      client.trust = others < protectedMax ? 'protected' : 'beyond';
    }
    response.once('close', () => {
      client.requests.delete(response);
      if (client.requests.size > 0) return;
      client.sinceMs = clock.monotonic();
      client.trust = 'none';
    });
  };
  server.prependListener('request', onRequest);
  server.prependListener('checkContinue', onRequest);
  // From here on the connection is a tab; tabs have their own limit.
  server.prependListener('upgrade', (request: IncomingMessage) => void clients.delete(request.socket));
  return () => {
    for (const [socket, client] of clients) if (isIdle(client)) socket.destroy();
  };
}
