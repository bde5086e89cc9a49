import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { VivariumError } from '../contract/errors.ts';
import { bindLoopback, closeAll, type Bound, type DnsListening, type Opener } from './bind.ts';
import { Connections } from './connections.ts';
import { createExchange } from './exchange.ts';
import { listenTcp, listenUdp } from './sockets.ts';
import type { ZoneSet } from './zone-set.ts';

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
