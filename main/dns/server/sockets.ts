import type { RemoteInfo } from 'node:dgram';
import type { Socket } from 'node:net';
import { TCPServer, UDPServer } from 'dns2';
import type { Connections } from './connections.ts';
import type { Exchange } from './exchange.ts';
import type { Strikes } from './strike.ts';

/** An open socket on one address and port: dns2's UDP or TCP server. */
export interface Listening {
  readonly port: number;
  /** Resolves when the socket is closed; idempotent. */
  close(): Promise<void>;
}

/**
 * dns2's UDP server with its own message handler: dns2's would decode any datagram, answer responses, and trust the
 * client's payload size.
 */
class GuardedUdpServer extends UDPServer {
  exchange: Exchange | null = null;
  strikes: Strikes | null = null;
  admits: (address: string) => boolean = () => true;

  /** Called by dns2 for each datagram. */
  override handle(message: Buffer, from: RemoteInfo): void {
    if (!this.admits(from.address)) return;
    const struck = this.strikes?.strike(message, 'udp') ?? null;
    const reply = struck === null ? (this.exchange?.(message, 'udp') ?? null) : struck.reply;
    if (reply === null) return;
    if (struck === null || struck.delayMs === 0) this.#reply(reply, from);
    else this.strikes?.later(struck.delayMs, () => this.#reply(reply, from));
  }

  #reply(reply: Buffer, from: RemoteInfo): void {
    try {
      // A failed send is a lost datagram, which UDP clients expect.
      this.send(reply, from.port, from.address, () => undefined);
    } catch {
      // The sender's port was 0, or the socket is closing: no reply is possible.
    }
  }
}

/** dns2's TCP server with its own connection handler: dns2's has no cap, a fixed time-out, and a slow `close()`. */
class GuardedTcpServer extends TCPServer {
  accepted: Connections | null = null;

  /** Called by dns2 for each connection. */
  handle(socket: Socket): void {
    if (this.accepted === null) socket.destroy();
    else this.accepted.accept(socket);
  }
}

/**
 * Binds UDP. Rejects with the system's error (`EADDRINUSE`, `EADDRNOTAVAIL`, …); dns2's own `listen` would never
 * settle.
 */
export function listenUdp(
  address: string,
  port: number,
  options: { exchange: Exchange; strikes: Strikes; admits?: ((address: string) => boolean) | undefined },
  onError: (error: Error) => void,
): Promise<Listening> {
  return new Promise((resolve, reject) => {
    const server = new GuardedUdpServer({ type: address.includes(':') ? 'udp6' : 'udp4' });
    const { exchange, strikes, admits } = options;
    server.exchange = exchange;
    server.strikes = strikes;
    if (admits !== undefined) server.admits = admits;
    server.once('error', reject);
    server.bind({ port, address, exclusive: true }, () => {
      server.off('error', reject);
      server.on('error', onError);
      let closed: Promise<void> | null = null;
      const close = () => (closed ??= new Promise((done) => server.close(() => done())));
      resolve({ port: server.address().port, close });
    });
  });
}

/** Binds TCP, as `listenUdp`. Closing does not wait for connections; their owner closes them. */
export function listenTcp(
  address: string,
  port: number,
  connections: Connections,
  onError: (error: Error) => void,
): Promise<Listening> {
  return new Promise((resolve, reject) => {
    const server = new GuardedTcpServer();
    server.accepted = connections;
    server.once('error', reject);
    server.listen({ port, host: address, exclusive: true }, () => {
      server.off('error', reject);
      server.on('error', onError);
      const bound = server.address();
      let closed: Promise<void> | null = null;
      const close = () => (closed ??= new Promise((done) => server.close(() => done())));
      resolve({ port: typeof bound === 'object' && bound !== null ? bound.port : port, close });
    });
  });
}
