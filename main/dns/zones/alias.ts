import { absoluteText, type DomainName } from '../../model/dns-name.ts';
import type { RRset } from '../wire/record.ts';
import { aliasOf, rrsetOf } from './zone-index.ts';
import { findZone, locate, type ZoneSet } from './zone-set.ts';

/** How many names an ALIAS's resolution may pass; the same limit as for CNAMEs. */
export const ALIAS_HOPS_MAX = 10;

export type Flattened =
  | { kind: 'addresses'; rrset: RRset }
  /** The target does not exist or has no such addresses; neither does the owner. */
  | { kind: 'none' }
  | { kind: 'failed'; reason: string };

/**
 * Resolves an ALIAS or ANAME at `owner` to its target's addresses, through CNAMEs and further ALIASes in Vivarium's
 * zones. Their TTL is the lowest of the chain, as a resolver would compute it. (No RFC: the practice of providers,
 * draft-ietf-dnsop-aname-04 §3.)
 */
export function flatten(set: ZoneSet, owner: DomainName, alias: RRset, type: 'A' | 'AAAA'): Flattened {
  let step: RRset = alias;
  let ttlSeconds = alias.ttlSeconds;
  const seen = new Set<DomainName>([owner]);
  for (let hops = 1; hops <= ALIAS_HOPS_MAX; hops++) {
    const [data] = step.data;
    if (data === undefined || !('target' in data)) return { kind: 'none' };
    const { target } = data;
    if (seen.has(target)) return failed(owner, `leads back to ${absoluteText(target)}`);
    seen.add(target);
    const zone = findZone(set, target);
    if (zone === null) return failed(owner, `leads to ${absoluteText(target)}, which is in no zone here`);
    const location = locate(zone, target);
    if (location.kind === 'delegated') {
      return failed(owner, `leads to ${absoluteText(target)}, which is delegated to another server`);
    }
    if (location.kind === 'absent' || location.kind === 'renamed') return { kind: 'none' };
    const addresses = rrsetOf(location.node, type);
    if (addresses !== undefined) {
      const lowest = Math.min(ttlSeconds, addresses.ttlSeconds);
      return { kind: 'addresses', rrset: { name: owner, type, ttlSeconds: lowest, data: addresses.data } };
    }
    const next = rrsetOf(location.node, 'CNAME') ?? (zone.supportsAlias ? aliasOf(location.node) : undefined);
    if (next === undefined) return { kind: 'none' };
    ttlSeconds = Math.min(ttlSeconds, next.ttlSeconds);
    step = next;
  }
  return failed(owner, `continues after ${ALIAS_HOPS_MAX} names`);
}

const failed = (owner: DomainName, what: string): Flattened => ({
  kind: 'failed',
  reason: `ALIAS at ${absoluteText(owner)} ${what}`,
});
