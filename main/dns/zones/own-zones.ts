import type { Clock } from '../../base/clock.ts';
import { isWithin } from '../../base/text/hostname.ts';
import { LruMap } from '../../base/lru.ts';
import { isWildcard, wildcardOver } from '../../contract/hostnames.ts';
import { ipv4Octets, ipv6Groups, canonicalAddress } from '../../model/address.ts';
import { parentOf, type DomainName } from '../../model/dns-name.ts';
import type { RecordData, ResourceRecord } from '../wire/record.ts';
import { ZoneSet } from './zone-set.ts';
import { createZone, DEFAULT_TTL_SECONDS, type Zone } from './zone.ts';
import { createHash } from 'node:crypto';
import { BREAK_ZONE, CNAME_TARGET, LOOPBACK_ADDRESSES, PLATFORM_ZONE } from '../../base/config.ts';

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

/** A short TTL, because hostnames and the machine's addresses change. */
const TTL_SECONDS = 5;

export type DeviceZones = ReturnType<typeof createDeviceZones>;

/** Whether devices can be served the name: names under `localhost` mean the device itself (RFC 6761 §6.3). */
export const isForDevices = (hostname: string): boolean => !isWithin(hostname, 'localhost');

/**
 * The DNS answers for other devices, without stored zones: a zone for each hostname with only its address and HTTPS record: TXT and other records stay private, and no
 * answer is much larger than its question.
 * @param nameServer this machine's name for the devices; it gets the address too
 * @param service the HTTPS record of each hostname; null for none
 */
export function createDeviceZones(options: {
  address: string;
  nameServer: DomainName;
  service: () => RecordData | null;
}) {
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

  function publish(hostnames: Iterable<string>): void {
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
  }

  publish([]);
  return {
    zones,
    /** Replaces the hostnames, in normal form; in force when it returns. */
    publish,
  };
}

/** Datagrams per second from one network, and the burst allowed: more than the devices of a home or an office send. */
export const SENDER_RATE = 200;
export const SENDER_BURST = 400;

/** Networks remembered; with more, the counts of the least recently seen are dropped. */
const NETWORKS_MAX = 1_024;

/**
 * Limits the answers to one sender, by its network: a datagram's sender can be forged, and answers must not flood the
 * victim. Networks are those of response rate limiting in BIND and NSD: /24 and /56.
 */
export function createSenderLimit(clock: Pick<Clock, 'monotonic'>): (address: string) => boolean {
  const known = new LruMap<{ left: number; atMs: number }>(NETWORKS_MAX);
  return (address) => {
    const nowMs = clock.monotonic();
    const bucket = known.use(networkOf(address), () => ({ left: SENDER_BURST, atMs: nowMs }));
    bucket.left = Math.min(SENDER_BURST, bucket.left + ((nowMs - bucket.atMs) * SENDER_RATE) / 1_000);
    bucket.atMs = nowMs;
    if (bucket.left < 1) return false;
    bucket.left -= 1;
    return true;
  };
}

function networkOf(address: string): string {
  if (!address.includes(':')) return ipv4Octets(address).slice(0, 3).join('.');
  const [a = 0, b = 0, c = 0, d = 0] = ipv6Groups(address.split('%', 1)[0] ?? '');
  return [a, b, c, d & 0xff00].join(':');
}
