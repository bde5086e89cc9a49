import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { conflict } from '../../contract/errors.ts';
import { codeOf } from '../../base/error-code.ts';

/** Maximum connections; further ones are closed. */
const CONNECTIONS_MAX = 64;

/**
 * A second server in front of the platform that forwards connections, like a CDN or a tunnel. Uses the same ports as the
 * platform, at another address of this machine.
 */
export function createFront(options: { address: string; target: string; ports: () => readonly number[] }) {
  const { address, target } = options;
  const holders = new Set<string>();
  const sockets = new Set<Socket>();
  let servers: Server[] = [];

  function keep(socket: Socket): void {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  }

  function accept(client: Socket, port: number): void {
    if (sockets.size >= 2 * CONNECTIONS_MAX) return void client.destroy();
    const upstream = connect({ host: target, port });
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      keep(socket);
      // When one side ends, so does the other, after it has received what was sent before.
      socket.on('error', () => other.destroy());
      socket.on('close', () => other.end());
      socket.pipe(other);
    }
  }

  async function listen(port: number): Promise<void> {
    const server = createServer((client) => accept(client, port));
    servers.push(server);
    server.listen({ host: address, port, exclusive: true });
    try {
      await once(server, 'listening');
    } catch (error) {
      const reason = codeOf(error) ?? String(error);
      throw conflict(`Vivarium can’t listen on ${address}, port ${port}: ${reason}.`);
    }
  }

  async function stop(): Promise<void> {
    const closing = servers;
    servers = [];
    for (const socket of sockets) socket.destroy();
    await Promise.all(closing.map((server) => new Promise<void>((done) => server.close(() => done()))));
  }

  return {
    /** Listens from the first holder on. @throws VivariumError `conflict` if the address or a port is unavailable. */
    async open(holder: string): Promise<void> {
      const isOpen = holders.size > 0;
      holders.add(holder);
      if (isOpen) return;
      try {
        for (const port of options.ports()) await listen(port);
      } catch (error) {
        holders.delete(holder);
        await stop();
        throw error;
      }
    },
    /** Ends all connections when the last holder is gone. Idempotent. */
    async close(holder: string): Promise<void> {
      if (holders.delete(holder) && holders.size === 0) await stop();
    },
    closeAll(): Promise<void> {
      holders.clear();
      return stop();
    },
  };
}

export type Front = ReturnType<typeof createFront>;
