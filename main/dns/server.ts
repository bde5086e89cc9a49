import type { Clock } from '../base/clock.ts';
import { LOOPBACK_ADDRESSES } from '../base/config.ts';
import { codeOf } from '../base/error-code.ts';
import type { Log } from '../base/log.ts';
import { ADDRESS_MISSING_CODES, portRefusal } from '../base/port-refusal.ts';
import { VivariumError } from '../contract/errors.ts';
import { Connections } from './connections.ts';
import { createExchange } from './exchange.ts';
import { listenTcp, listenUdp, type Listening } from './sockets.ts';
import type { ZoneSet } from './zone-set.ts';

/** Ports tried for "any free one": each must be free four times over, and the system knows only the first. */
const FREE_PORT_ATTEMPTS_MAX = 32;

export interface DnsListening {
  /** The one port of all sockets. */
  port: number;
  /** The addresses served, over UDP and TCP each. */
  addresses: string[];
  /** For people, such as that there is no IPv6. */
  warnings: string[];
}

export interface Opener {
  udp(address: string, port: number): Promise<Listening>;
  tcp(address: string, port: number): Promise<Listening>;
}

export interface Bound extends DnsListening {
  sockets: Listening[];
}

/**
 * Binds TCP and UDP on both loopback addresses, all on one port. For port 0 the system chooses, and chooses again when
 * one of the other sockets finds its choice taken. Where IPv6 is missing, that is a warning.
 * @throws VivariumError as `DnsServer.start`; nothing stays open then.
 */
export async function bindLoopback(open: Opener, port: number): Promise<Bound> {
  if (port !== 0) return bindPort(open, port);
  for (let attempt = 1; ; attempt++) {
    try {
      return await bindPort(open, 0);
    } catch (error) {
      if (!(error instanceof VivariumError) || error.code !== 'conflict' || attempt === FREE_PORT_ATTEMPTS_MAX)
        throw error;
    }
  }
}

async function bindPort(open: Opener, wanted: number): Promise<Bound> {
  const bound: Bound = { port: wanted, addresses: [], warnings: [], sockets: [] };
  try {
    for (const address of LOOPBACK_ADDRESSES) await bindAddress(open, address, bound);
  } catch (error) {
    await closeAll(bound.sockets);
    throw error;
  }
  return bound;
}

async function bindAddress(open: Opener, address: string, bound: Bound): Promise<void> {
  // TCP first: among its ports the system chooses one that is free; UDP's are the emptier of the two.
  for (const transport of ['tcp', 'udp'] as const) {
    try {
      const socket = await open[transport](address, bound.port);
      bound.sockets.push(socket);
      bound.port = socket.port;
    } catch (error) {
      const code = codeOf(error) ?? 'unknown error';
      if (address.includes(':') && transport === 'tcp' && ADDRESS_MISSING_CODES.has(code)) {
        bound.warnings.push(
          `DNS is served on ${bound.addresses.join(', ')} only: this machine has no ${address} (${code}).`,
        );
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
  /** 0 for any that is free. */
  port: number;
  /** Asked for each query, so that a publish shows at once. */
  zones: () => ZoneSet;
}

export interface DnsServer {
  /**
   * Listens on 127.0.0.1 and ::1, UDP and TCP, all on one port.
   * @throws VivariumError `conflict` when the port is taken, `forbidden` when the system does not allow it.
   */
  start(): Promise<DnsListening>;
  /** Closes all sockets and connections at once; resolves when they are gone. Idempotent. */
  stop(): Promise<void>;
  /** TCP connections open now. */
  connectionCount(): number;
}

export function createDnsServer(options: DnsServerOptions): DnsServer {
  const { log } = options;
  const exchange = createExchange({ zones: options.zones, log });
  const connections = new Connections(exchange, options.clock);
  let starting: Promise<Bound> | null = null;
  let stopped = false;

  const onError = (error: Error) => log.warn('A DNS socket reported an error.', { error });
  const open: Opener = {
    udp: (address, port) => listenUdp(address, port, exchange, onError),
    tcp: (address, port) => listenTcp(address, port, connections, onError),
  };

  return {
    async start() {
      if (stopped) throw new VivariumError('unavailable', 'The DNS server was stopped; create another one.');
      starting ??= bindLoopback(open, options.port);
      const { sockets: _sockets, ...listening } = await starting;
      return listening;
    },
    async stop() {
      stopped = true;
      const bound = await starting?.catch(() => null);
      connections.closeAll();
      await closeAll(bound?.sockets ?? []);
    },
    connectionCount: () => connections.size,
  };
}
