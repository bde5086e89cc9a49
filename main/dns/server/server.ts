import type { RemoteInfo } from 'node:dgram';
import type { Socket, AddressInfo } from 'node:net';
import { TCPServer, UDPServer } from 'dns2';
import type { Clock } from '../../base/clock.ts';
import { LOOPBACK_ADDRESSES } from '../../base/config.ts';
import { codeOf } from '../../base/error-code.ts';
import type { Log } from '../../base/log.ts';
import { ADDRESS_MISSING_CODES, missingAddress, portRefusal } from '../../base/system/bind-port.ts';
import { unavailable, VivariumError } from '../../contract/errors.ts';
import { Connections } from './connections.ts';
import { createExchange, type Exchange } from './exchange.ts';
import type { FaultSource } from '../../model/fault.ts';
import { createStrikes, type Strikes } from './strike.ts';
import type { Updatable } from './update-exchange.ts';
import type { ZoneSet } from '../zones/zone-set.ts';
import type { EventEmitter } from 'node:events';

/** Attempts to find a free port: four sockets need the same one, and the system checks only the first. */
const FREE_PORT_ATTEMPTS_MAX = 32;

export interface DnsListening {
  /** The port that all sockets share. */
  port: number;
  /** The served addresses, each over UDP and TCP. */
  addresses: string[];
  /** Warnings for the user, such as missing IPv6. */
  warnings: string[];
}

/** An open socket on one address and port: dns2's UDP or TCP server. */
export interface Listening {
  readonly port: number;
  /** Resolves when the socket is closed; idempotent. */
  close(): Promise<void>;
}

export interface Opener {
  udp(address: string, port: number): Promise<Listening>;
  tcp(address: string, port: number): Promise<Listening>;
}

export interface Bound extends DnsListening {
  sockets: Listening[];
}

/**
 * Binds TCP and UDP on all addresses, by default both of loopback, to one port. With port 0 the system picks one, and
 * picks again when another socket finds it taken. Missing IPv6 is a warning, unless it comes first.
 * @throws VivariumError as `start` of the server, with all sockets closed.
 */
export async function bindAddresses(
  open: Opener,
  port: number,
  addresses: readonly string[] = LOOPBACK_ADDRESSES,
): Promise<Bound> {
  if (port !== 0) return bindPort(open, port, addresses);
  for (let attempt = 1; ; attempt++) {
    try {
      return await bindPort(open, 0, addresses);
    } catch (error) {
      if (!(error instanceof VivariumError) || error.code !== 'conflict' || attempt === FREE_PORT_ATTEMPTS_MAX)
        throw error;
    }
  }
}

async function bindPort(open: Opener, wanted: number, addresses: readonly string[]): Promise<Bound> {
  const bound: Bound = { port: wanted, addresses: [], warnings: [], sockets: [] };
  try {
    for (const address of addresses) await bindAddress(open, address, bound);
  } catch (error) {
    await closeAll(bound.sockets);
    throw error;
  }
  return bound;
}

async function bindAddress(open: Opener, address: string, bound: Bound): Promise<void> {
  // TCP first: the system picks a port free for TCP, which is most likely free for UDP too.
  for (const transport of ['tcp', 'udp'] as const) {
    try {
      const socket = await open[transport](address, bound.port);
      bound.sockets.push(socket);
      bound.port = socket.port;
    } catch (error) {
      const code = codeOf(error) ?? 'unknown error';
      if (bound.addresses.length > 0 && transport === 'tcp' && ADDRESS_MISSING_CODES.has(code)) {
        bound.warnings.push(missingAddress(address, bound.addresses));
        return;
      }
      throw portRefusal(error, {
        port: bound.port,
        where: `${transport.toUpperCase()} on ${address}`,
        transport,
        option: '--dns-port',
      });
    }
  }
  bound.addresses.push(address);
}

export async function closeAll(sockets: readonly Listening[]): Promise<void> {
  await Promise.all(sockets.map((socket) => socket.close()));
}

export interface DnsServerOptions {
  clock: Pick<Clock, 'monotonic' | 'realTimer'>;
  log: Log;
  /** 0 picks any free port. */
  port: number;
  /** 127.0.0.1 and ::1 if omitted. */
  addresses?: readonly string[];
  /** Whether to answer a datagram from this sender, which can be forged; answers all if omitted. */
  admits?: (address: string) => boolean;
  /** Called for each query, so changes apply immediately. */
  zones: () => ZoneSet;
  /** What programs may update; if omitted, nothing. */
  updatable?: Updatable;
  /** The running breaks; none if omitted. */
  faults?: FaultSource;
}

export function createDnsServer(options: DnsServerOptions) {
  const { zones, faults, clock, log, updatable } = options;
  const exchange = createExchange({ zones, log, updatable });
  const strikes = createStrikes({ clock, zones, exchange, faults });
  const connections = new Connections({ exchange, strikes }, clock);
  let starting: Promise<Bound> | null = null;
  let stopped = false;

  const onError = (error: Error) => log.warn('A DNS socket reported an error.', { error });
  const open: Opener = {
    udp: (address, port) => listenUdp(address, port, { exchange, strikes, admits: options.admits }, onError),
    tcp: (address, port) => listenTcp(address, port, connections, onError),
  };

  return {
    /** Answers a message exactly as the sockets do. */
    exchange,
    /** Breaks answers, for callers that answer messages themselves. */
    strikes,
    /**
     * Listens on its addresses, UDP and TCP, on one port. @throws VivariumError `conflict` when the port is taken,
     * `forbidden` when the system denies it.
     */
    async start(): Promise<DnsListening> {
      if (stopped) throw unavailable('The DNS server was stopped; create another one.');
      starting ??= bindAddresses(open, options.port, options.addresses);
      const { sockets: _sockets, ...listening } = await starting;
      return listening;
    },
    /** Closes all sockets and connections at once; resolves when they are closed. Idempotent. */
    async stop(): Promise<void> {
      stopped = true;
      strikes.stop();
      const bound = await starting?.catch(() => null);
      connections.closeAll();
      await closeAll(bound?.sockets ?? []);
    },
    connectionCount: (): number => connections.size,
  };
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

function listenUdp(
  address: string,
  port: number,
  { exchange, strikes, admits }: { exchange: Exchange; strikes: Strikes; admits: DnsServerOptions['admits'] },
  onError: (error: Error) => void,
): Promise<Listening> {
  const server = new GuardedUdpServer({ type: address.includes(':') ? 'udp6' : 'udp4' });
  Object.assign(server, { exchange, strikes, ...(admits !== undefined && { admits }) });
  return listening(server, (done) => server.bind({ port, address, exclusive: true }, done), onError);
}

/** Closing does not wait for connections; their owner closes them. */
function listenTcp(
  address: string,
  port: number,
  connections: Connections,
  onError: (error: Error) => void,
): Promise<Listening> {
  const server = new GuardedTcpServer();
  server.accepted = connections;
  return listening(server, (done) => server.listen({ port, host: address, exclusive: true }, done), onError);
}

/** Rejects with the system's error (`EADDRINUSE`, `EADDRNOTAVAIL`, …); dns2's own `listen` would never settle. */
function listening(
  server: EventEmitter & { address(): AddressInfo | string | null; close(done: () => void): unknown },
  begin: (done: () => void) => void,
  onError: (error: Error) => void,
): Promise<Listening> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    begin(() => {
      server.off('error', reject);
      server.on('error', onError);
      let closed: Promise<void> | null = null;
      const close = () => (closed ??= new Promise((done) => server.close(() => done())));
      resolve({ port: (server.address() as AddressInfo).port, close });
    });
  });
}
