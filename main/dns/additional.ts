import { isAtOrBelow, type DomainName } from '../model/dns-name.ts';
import type { RecordData, RRset } from './record.ts';
import { rrsetOf, type ZoneIndex, type ZoneNode } from './zone-index.ts';
import { findZone, locate, type ZoneSet } from './zone-set.ts';

/** Names whose addresses are added to one answer unasked; more is a curiosity, and the client can ask. */
const ADDITIONAL_NAMES_MAX = 16;

/**
 * Addresses of the hosts that NS, MX and SRV records name (RFC 1035 §3.3.9, §3.3.11; RFC 2782). Data of ours only:
 * nothing is looked up elsewhere, and CNAMEs are not followed.
 */
export function hostAddresses(set: ZoneSet, rrset: RRset): RRset[] {
  return collect(rrset.data.slice(0, ADDITIONAL_NAMES_MAX), (host) => {
    const zone = findZone(set, host);
    const location = zone === null ? null : locate(zone, host);
    return location === null || !('node' in location) ? undefined : location.node;
  });
}

/**
 * Addresses of a delegation's name servers: what the delegating zone holds, below its cuts too, because there it is
 * glue (RFC 1034 §4.2.1); failing that, data of our other zones. All of them: who is referred can't ask for what is left
 * out (RFC 9471).
 */
export function glueAddresses(set: ZoneSet, zone: ZoneIndex, delegation: RRset): RRset[] {
  return collect(delegation.data, (host) => {
    const own = isAtOrBelow(host, zone.apex) ? zone.node(host) : undefined;
    if (own !== undefined) return own;
    const other = findZone(set, host);
    return other === null || other === zone ? undefined : other.node(host);
  });
}

function collect(hosts: readonly RecordData[], find: (host: DomainName) => ZoneNode | undefined): RRset[] {
  const found: RRset[] = [];
  for (const data of hosts) {
    const host = data.type === 'MX' ? data.exchange : 'target' in data ? data.target : null;
    const node = host === null ? undefined : find(host);
    if (host === null || node === undefined) continue;
    for (const type of ['A', 'AAAA'] as const) {
      const addresses = rrsetOf(node, type);
      if (addresses !== undefined) found.push(addresses.name === host ? addresses : { ...addresses, name: host });
    }
  }
  return found;
}
