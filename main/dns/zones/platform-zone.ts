import { createHash } from 'node:crypto';
import { BREAK_ZONE, CNAME_TARGET, LOOPBACK_ADDRESSES, PLATFORM_ZONE } from '../../base/config.ts';
import { canonicalAddress } from '../../model/address.ts';
import type { DomainName } from '../../model/dns-name.ts';
import type { ResourceRecord } from '../wire/record.ts';
import type { ZoneSet } from './zone-set.ts';
import { createZone, DEFAULT_TTL_SECONDS, type Zone } from './zone.ts';

/** The name server's own name, in every zone's SOA and NS. */
export const NAME_SERVER: DomainName = `ns.${PLATFORM_ZONE}`;

const OWN_NAMES: ReadonlySet<DomainName> = new Set([PLATFORM_ZONE, NAME_SERVER, CNAME_TARGET, `*.${BREAK_ZONE}`]);

/**
 * The platform's own zone: SOA, NS, and the loopback addresses of its apex, the name server, the target of custom
 * domains' CNAMEs, the hostnames with permanent faults, and each given platform hostname (in normal form, below the
 * zone).
 */
export function platformZone(options: { hostnames?: Iterable<string>; serial?: number } = {}): Zone {
  const names = new Set<DomainName>([...OWN_NAMES, ...(options.hostnames ?? [])]);
  const records = [...names].flatMap(loopbackRecords);
  return createZone({ apex: PLATFORM_ZONE, nameServer: NAME_SERVER, serial: options.serial, records });
}

const ADDRESSES = LOOPBACK_ADDRESSES.map(canonicalAddress);

const loopbackRecords = (name: DomainName): ResourceRecord[] =>
  ADDRESSES.map((address) => {
    const type = address.includes(':') ? 'AAAA' : 'A';
    return { name, ttlSeconds: DEFAULT_TTL_SECONDS, data: { type, address } };
  });

/** Adds the platform's zone to the served zones. `serialOf` maps a digest of its contents to a serial. */
export function publishPlatformZone(
  zones: ZoneSet,
  hostnames: Iterable<string>,
  serialOf: (contentsDigest: string) => number,
) {
  let shown = hostnameSet(hostnames);
  const index = zones.put(platformZone({ hostnames: shown, serial: serialOf(digestOf(shown)) }));
  return {
    index,
    /** Replaces the platform hostnames; served when it returns. */
    publish(next: Iterable<string>): void {
      const wanted = hostnameSet(next);
      const added = without(wanted, shown);
      const removed = without(shown, wanted);
      if (added.length + removed.length === 0) return;
      shown = wanted;
      const apex = platformZone({ serial: serialOf(digestOf(wanted)) }).records;
      index.replace(
        PLATFORM_ZONE,
        apex.filter(({ name }) => name === PLATFORM_ZONE),
      );
      for (const name of removed) index.replace(name, []);
      for (const name of added) index.replace(name, loopbackRecords(name));
    },
  };
}

/** The given hostnames, without the platform's fixed names, which are in every version. */
const hostnameSet = (hostnames: Iterable<string>): Set<DomainName> => new Set(without(hostnames, OWN_NAMES));

const without = (names: Iterable<DomainName>, others: ReadonlySet<DomainName>): DomainName[] =>
  [...names].filter((name) => !others.has(name));

const digestOf = (hostnames: ReadonlySet<string>): string =>
  createHash('sha256')
    .update([...hostnames].sort().join('\n'))
    .digest('hex');
