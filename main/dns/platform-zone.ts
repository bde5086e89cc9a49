import { CNAME_TARGET, LOOPBACK_ADDRESSES, PLATFORM_ZONE } from '../base/config.ts';
import { canonicalAddress } from './address.ts';
import type { DomainName } from './name.ts';
import type { ResourceRecord } from './record.ts';
import { createZone, DEFAULT_TTL_SECONDS, type Zone } from './zone.ts';

/** The name server's own name, in every zone's SOA and NS. */
export const NAME_SERVER: DomainName = `ns.${PLATFORM_ZONE}`;

/**
 * The platform's own zone: SOA, NS, and the loopback addresses at its apex, at the name server, at the target of custom
 * domains' CNAMEs, and at each platform hostname given (in normal form, below the zone).
 */
export function platformZone(
  options: { hostnames?: Iterable<string>; addresses?: readonly string[]; serial?: number } = {},
): Zone {
  const names = new Set<DomainName>([PLATFORM_ZONE, NAME_SERVER, CNAME_TARGET, ...(options.hostnames ?? [])]);
  const addresses = (options.addresses ?? LOOPBACK_ADDRESSES).map(canonicalAddress);
  const records: ResourceRecord[] = [];
  for (const name of names) {
    for (const address of addresses) {
      const type = address.includes(':') ? 'AAAA' : 'A';
      records.push({ name, ttlSeconds: DEFAULT_TTL_SECONDS, data: { type, address } });
    }
  }
  return createZone({ apex: PLATFORM_ZONE, nameServer: NAME_SERVER, serial: options.serial, records });
}
