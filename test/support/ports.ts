import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** Has a server listen until the end of the test; resolves with its port, and with its open connections at any time. */
export async function listen(server: Server, port = 0, host = '127.0.0.1') {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await once(server.listen(port, host), 'listening');
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return { port: (server.address() as AddressInfo).port, sockets };
}

/** A port of 127.0.0.1 on which a server hangs up until the end of the test. */
export async function takenPort(): Promise<number> {
  return (await listen(createServer((socket) => socket.destroy()))).port;
}

/**
 * A port of 127.0.0.1 that refuses connections until it is released, by the end of the test at the latest. It belongs
 * to a connection, so no other program gets it meanwhile, and is none that the system assigns, so none gets it once it
 * is released.
 */
export async function refusingPort(): Promise<{ port: number; release(): Promise<void> }> {
  // Neither side may fail the test by the reset.
  const server = createServer((other) => other.on('error', () => undefined));
  const [{ port }, localPort] = [await listen(server), await freePort()];
  const socket = connect({ host: '127.0.0.1', port, localPort });
  await once(socket, 'connect');
  const release = async () => {
    if (socket.destroyed) return;
    socket.resetAndDestroy();
    await once(socket, 'close');
    server.close();
  };
  onTestFinished(release);
  return { port: localPort, release };
}

/** A port of 127.0.0.1 that refuses connections until the end of the test. */
export const closedPort = async (): Promise<number> => (await refusingPort()).port;

/** Below the ports that systems assign automatically (RFC 6335 §6; Linux: from 32768). */
const [LEAST, MOST] = [20_000, 30_000];

/**
 * A free port for a program that cannot pick one, or that must be free at ::1 and over UDP as well: unlike a port by
 * port 0 of another address or transport, no other test gets it.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(LEAST, MOST);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}
