import { isWithin } from '../base/hostname.ts';
import { isWildcard, wildcardOver } from '../contract/wildcards.ts';
import { parentOf, type DomainName } from '../model/dns-name.ts';
import type { RecordData, ResourceRecord } from './record.ts';
import { ZoneSet } from './zone-set.ts';
import { createZone } from './zone.ts';

/** Hostnames come and go, and the machine gets other addresses. */
const TTL_SECONDS = 5;

/** What other devices are answered: the served hostnames at this machine's address, and nothing of the stored zones. */
export interface DeviceZones {
  readonly zones: ZoneSet;
  /** Replaces the hostnames, in normal form; in force when it returns. */
  publish(hostnames: Iterable<string>): void;
}

/** Whether another device can have the name for this machine: below `localhost`, each means itself (RFC 6761 §6.3). */
export const isForDevices = (hostname: string): boolean => !isWithin(hostname, 'localhost');

/**
 * A zone for each hostname, which has its address and HTTPS record only: TXT and other records stay private, and no
 * answer is much larger than its question.
 * @param nameServer the name of this machine for the devices, which has the address too
 * @param service the HTTPS record of each hostname; null for none
 */
export function createDeviceZones(options: {
  address: string;
  nameServer: DomainName;
  service: () => RecordData | null;
}): DeviceZones {
  const { address, nameServer, service } = options;
  const zones = new ZoneSet();
  /** The names with an address, by the apex of their zone. */
  let shown = new Map<DomainName, readonly DomainName[]>();

  function put(apex: DomainName, names: readonly DomainName[]): void {
    const type = address.includes(':') ? 'AAAA' : 'A';
    const records: ResourceRecord[] = names.map((name) => ({ name, ttlSeconds: TTL_SECONDS, data: { type, address } }));
    const [soa] = createZone({ apex, nameServer }).records;
    if (soa?.data.type === 'SOA') {
      records.push({ ...soa, ttlSeconds: TTL_SECONDS, data: { ...soa.data, minimumSeconds: TTL_SECONDS } });
    }
    zones.put(createZone({ apex, nameServer, records }));
  }

  const deviceZones: DeviceZones = {
    zones,
    publish(hostnames) {
      const served = new Set([...hostnames].filter(isForDevices));
      const next = new Map([[nameServer, [nameServer]]]);
      for (const name of served) {
        const apex = isWildcard(name) ? parentOf(name) : name;
        next.set(apex, [...(next.get(apex) ?? []), name]);
      }
      for (const apex of shown.keys()) if (!next.has(apex)) zones.remove(apex);
      for (const [apex, names] of next) if (shown.get(apex)?.join() !== names.join()) put(apex, names);
      shown = next;
      const record = service();
      zones.setServices((name) => (served.has(name) || served.has(wildcardOver(name)) ? record : null));
    },
  };
  deviceZones.publish([]);
  return deviceZones;
}
