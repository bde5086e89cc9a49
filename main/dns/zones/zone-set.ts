import { parentOf, ROOT, type DomainName, spokenName } from '../../model/dns-name.ts';
import { TYPE_CODES, type RecordData, type RRset } from '../wire/record.ts';
import type { TrustAnchor } from './zone-signer.ts';
import type { Zone } from './zone.ts';
import { ZoneIndex, type ZoneNode, aliasOf, rrsetOf } from './zone-index.ts';
import { wildcardBelow } from '../wire/canonical.ts';

/** All served zones. They change only between queries. */
export class ZoneSet {
  readonly #zones = new Map<DomainName, ZoneIndex>();
  #changes = 0;
  /** Whether any zone was signed at that count of changes. */
  #signs: { changes: number; signs: boolean } | null = null;
  #services: (name: DomainName) => RecordData | null = () => null;

  /** A counter that increases with every change to any zone. */
  get changes(): number {
    return this.#changes;
  }

  get signs(): boolean {
    if (this.#signs?.changes !== this.#changes) {
      const signs = this.#zones.values().some(({ signer }) => signer !== null);
      this.#signs = { changes: this.#changes, signs };
    }
    return this.#signs.signs;
  }

  get(apex: DomainName): ZoneIndex | undefined {
    return this.#zones.get(apex);
  }

  has(apex: DomainName): boolean {
    return this.#zones.has(apex);
  }

  /** Indexes and serves a zone, replacing one of the same name. @throws VivariumError as `ZoneIndex`. */
  put(zone: Zone): ZoneIndex {
    const index = new ZoneIndex(zone, () => this.#changes++);
    this.#zones.set(zone.apex, index);
    this.#changes++;
    return index;
  }

  /** Sets the names that have an HTTPS record unless their zone has one. */
  setServices(services: (name: DomainName) => RecordData | null): void {
    this.#services = services;
    this.#changes++;
  }

  /** The HTTPS record of a hostname served here; null for any other name. */
  serviceOf(name: DomainName): RecordData | null {
    return this.#services(name);
  }

  /** The trust anchor of the signed zone that contains a name; null outside. */
  anchorOf(name: DomainName): TrustAnchor | null {
    const zone = findZone(this, name);
    const signer = zone?.signer ?? null;
    return zone === null || signer === null ? null : { apex: zone.apex, dnskeys: signer.trusted };
  }

  remove(apex: DomainName): void {
    this.#zones.delete(apex);
    this.#changes++;
  }
}

/** The zone of a name: the one with the deepest apex. At most one look-up per label. */
export function findZone(set: ZoneSet, name: DomainName): ZoneIndex | null {
  for (let at = name; ; at = parentOf(at)) {
    const zone = set.get(at);
    if (zone !== undefined) return zone;
    if (at === ROOT) return null;
  }
}

/**
 * The zone that answers a question: DS is above the cut, in the parent zone if it is served here (RFC 4035 §3.1.4.1).
 */
export function zoneAsked(set: ZoneSet, name: DomainName, code: number): ZoneIndex | null {
  const zone = findZone(set, name);
  if (code !== TYPE_CODES.DS || zone?.apex !== name || name === ROOT) return zone;
  return findZone(set, parentOf(name)) ?? zone;
}

/** A name's location within its zone (RFC 1034 §4.3.2 step 3, RFC 4592 §3.3). */
export type Location =
  | { kind: 'node'; node: ZoneNode }
  | { kind: 'wildcard'; node: ZoneNode }
  | { kind: 'delegated'; cut: ZoneNode }
  | { kind: 'renamed'; node: ZoneNode }
  | { kind: 'absent' };

const ABSENT: Location = { kind: 'absent' };

/**
 * Locates a name at or below the zone's apex. `atCut` views a delegation's own node from the parent's side, as queries
 * for DS require (RFC 4035 §3.1.4.1).
 */
export function locate(zone: ZoneIndex, name: DomainName, atCut = false): Location {
  const encloser = zone.closest(name);
  const cut = zone.cutAbove(encloser);
  const renamed = zone.renameAbove(encloser, name);
  // The higher of the two hides the lower one.
  if (renamed !== null && (cut === null || renamed.name.length < cut.name.length))
    return { kind: 'renamed', node: renamed };
  if (cut !== null && !(atCut && cut.name === name)) return { kind: 'delegated', cut };
  if (encloser.name === name) return { kind: 'node', node: encloser };
  const wildcard = zone.node(wildcardBelow(encloser.name));
  return wildcard === undefined ? ABSENT : { kind: 'wildcard', node: wildcard };
}

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
    if (seen.has(target)) return failed(owner, `leads back to ${spokenName(target)}`);
    seen.add(target);
    const zone = findZone(set, target);
    if (zone === null) return failed(owner, `leads to ${spokenName(target)}, which is in no zone here`);
    const location = locate(zone, target);
    if (location.kind === 'delegated') {
      return failed(owner, `leads to ${spokenName(target)}, which is delegated to another server`);
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
  reason: `ALIAS at ${spokenName(owner)} ${what}`,
});
