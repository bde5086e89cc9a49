import { isDeepStrictEqual } from 'node:util';
import { parseDuration } from '../base/duration.ts';
import * as dnsRules from '../dns/index.ts';
import {
  buildZoneSet,
  createDnsClient,
  createDnsServer,
  createLookup,
  createZonePublisher,
  platformZone,
  type Resolver,
  type Zone,
  type ZoneSet,
} from '../dns/index.ts';
import { createRecordWriter, parseResolver, providerFacts, zoneFacts } from '../services/index.ts';
import type { Foundation } from './foundation.ts';

export type Dns = Awaited<ReturnType<typeof startDns>>;

/** Zones and their records, the server that answers from them, and the client that asks it or the resolver of the setting. */
export async function startDns({ config, clock, log, store, events, settings, onStop }: Foundation) {
  let platformHostnames: readonly string[] = [];
  /** Made when the first question after a change comes in: few changes are followed by one. */
  let ownZone: Zone | null = null;
  let zoneSet: ZoneSet | null = null;
  const currentZones = () => {
    ownZone ??= platformZone({ hostnames: platformHostnames });
    return (zoneSet ??= buildZoneSet([ownZone, ...zonePublisher.zones()]));
  };
  const recordsChanged = () => {
    zoneSet = null;
    events.emit('records.changed');
  };
  const zonePublisher = createZonePublisher({
    clock,
    stored: { ...store.records, zones: () => store.zones.list() },
    onPublished: recordsChanged,
  });
  onStop(() => zonePublisher.stop());
  clock.onAdjusted(() => {
    zonePublisher.clockAdjusted();
    recordsChanged();
  });
  const recordWriter = createRecordWriter({
    clock,
    records: store.records,
    rules: dnsRules,
    propagationMs: () => parseDuration(settings.current().propagation),
    onChanged(zone) {
      zonePublisher.changed(zone);
      recordsChanged();
    },
  });

  const server = createDnsServer({ clock, log, port: config.dnsPort, zones: currentZones });
  onStop(() => server.stop());
  const listening = await server.start();
  const client = createDnsClient(clock);
  onStop(() => client.close());
  const resolver = (): Resolver => {
    const foreign = parseResolver(settings.current().resolver);
    return foreign === null
      ? { address: '127.0.0.1', port: listening.port, local: true }
      : { ...foreign, local: false };
  };
  const findZone = (apex: string) => currentZones().zones.get(apex);

  return {
    rules: dnsRules,
    listening,
    client,
    resolver,
    lookup: createLookup(client, resolver),
    recordWriter,
    /** The zone here that a hostname is in, if any. */
    zoneOf: (hostname: string) => zoneFacts(hostname, findZone),
    /** What is stored for a hostname in the zones here; null in none, or when another resolver is asked. */
    provider: (hostname: string) =>
      resolver().local ? providerFacts(hostname, { zone: findZone, records: store.records }) : null,
    /** To be called when there are zones more or less. */
    zonesChanged() {
      zonePublisher.changed();
      zoneSet = null;
    },
    /** The names of the platform's own zone that have addresses, from the next question on. */
    publish(hostnames: readonly string[]) {
      if (isDeepStrictEqual(platformHostnames, hostnames)) return;
      platformHostnames = hostnames;
      ownZone = zoneSet = null;
    },
  };
}
