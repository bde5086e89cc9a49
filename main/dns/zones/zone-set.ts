import { parentOf, ROOT, type DomainName } from '../../model/dns-name.ts';
import { TYPE_CODES, type RecordData } from '../wire/record.ts';
import type { TrustAnchor } from './zone-signer.ts';
import type { Zone } from './zone.ts';
import { ZoneIndex, type ZoneNode } from './zone-index.ts';

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
  const wildcard = zone.node(encloser.name === ROOT ? '*' : `*.${encloser.name}`);
  return wildcard === undefined ? ABSENT : { kind: 'wildcard', node: wildcard };
}
