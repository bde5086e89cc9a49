import { createClock, type Clock } from '../../../main/base/clock.ts';
import { silentLog, type Log } from '../../../main/base/log.ts';
import { type DnsListening, createDnsServer } from '../../../main/dns/server/server.ts';
import type { Zone } from '../../../main/dns/zones/zone.ts';
import { zoneSetOf } from './dns-tables.ts';

export interface RunningDns extends DnsListening {
  server: ReturnType<typeof createDnsServer>;
  publish(zones: Zone[]): void;
}

/** A DNS server on a free port; the caller stops it. */
export async function startDns(
  zones: Zone[],
  options: { port?: number; clock?: Pick<Clock, 'monotonic' | 'realTimer'>; log?: Log } = {},
): Promise<RunningDns> {
  let set = zoneSetOf(zones);
  const server = createDnsServer({
    clock: options.clock ?? createClock(),
    log: options.log ?? silentLog,
    port: options.port ?? 0,
    zones: () => set,
  });
  const listening = await server.start();
  return { ...listening, server, publish: (next) => void (set = zoneSetOf(next)) };
}
