import type { Clock } from '../../base/clock.ts';
import { LOOPBACK_ADDRESSES } from '../../base/config.ts';
import { codeOf } from '../../base/error-code.ts';
import type { Log } from '../../base/log.ts';
import { ADDRESS_MISSING_CODES, missingAddress, portRefusal } from '../../base/system/bind-port.ts';
import { VivariumError } from '../../contract/errors.ts';
import { Connections } from './connections.ts';
import { createExchange, type Exchange } from './exchange.ts';
import { listenTcp, listenUdp, type Listening } from './sockets.ts';
import type { FaultSource } from '../../model/fault.ts';
import { createStrikes, type Strikes } from './strike.ts';
import type { Updatable } from './update-exchange.ts';
import type { ZoneSet } from '../zones/zone-set.ts';

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
 * @throws VivariumError as `DnsServer.start`, with all sockets closed.
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

export interface DnsServer {
  /**
   * Listens on its addresses, UDP and TCP, on one port. @throws VivariumError `conflict` when the port is taken,
   * `forbidden` when the system denies it.
   */
  start(): Promise<DnsListening>;
  /** Closes all sockets and connections at once; resolves when they are closed. Idempotent. */
  stop(): Promise<void>;
  /** Answers a message exactly as the sockets do. */
  exchange: Exchange;
  /** Breaks answers, for callers that answer messages themselves. */
  strikes: Strikes;
  connectionCount(): number;
}

export function createDnsServer(options: DnsServerOptions): DnsServer {
  const { log } = options;
  const { updatable } = options;
  const exchange = createExchange({ zones: options.zones, log, ...(updatable !== undefined && { updatable }) });
  const { zones, faults, clock } = options;
  const strikes = createStrikes({ clock, zones, exchange, ...(faults !== undefined && { faults }) });
  const connections = new Connections({ exchange, strikes }, clock);
  let starting: Promise<Bound> | null = null;
  let stopped = false;

  const onError = (error: Error) => log.warn('A DNS socket reported an error.', { error });
  const open: Opener = {
    udp: (address, port) => listenUdp(address, port, { exchange, strikes, admits: options.admits }, onError),
    tcp: (address, port) => listenTcp(address, port, connections, onError),
  };

  return {
    exchange,
    strikes,
    async start() {
      if (stopped) throw new VivariumError('unavailable', 'The DNS server was stopped; create another one.');
      starting ??= bindAddresses(open, options.port, options.addresses);
      const { sockets: _sockets, ...listening } = await starting;
      return listening;
    },
    async stop() {
      stopped = true;
      strikes.stop();
      const bound = await starting?.catch(() => null);
      connections.closeAll();
      await closeAll(bound?.sockets ?? []);
    },
    connectionCount: () => connections.size,
  };
}
