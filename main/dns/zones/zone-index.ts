import { invalidRequest } from '../../contract/errors.ts';
import { CanonicalOrder } from '../wire/canonical.ts';
import { absoluteText, isAtOrBelow, parentOf, ROOT, type DomainName } from '../../model/dns-name.ts';
import { formatZoneValue } from '../wire/record-text.ts';
import { isAlias, type RecordData, type RecordType, type ResourceRecord, type RRset } from '../wire/record.ts';
import { negativeSoa, type Zone } from './zone.ts';
import type { ZoneSigner } from './zone-signer.ts';

/** A name of a zone: one with records, or an empty non-terminal (RFC 4592 §2.2.2). */
export interface ZoneNode {
  readonly name: DomainName;
  /** The node one label above; null at the apex. */
  readonly parent: ZoneNode | null;
  readonly rrsets: readonly RRset[];
  /** Its NS delegate it and everything below to another zone (RFC 1034 §4.2.1). */
  readonly delegates: boolean;
}

interface OwnNode extends ZoneNode {
  readonly parent: OwnNode | null;
  rrsets: readonly RRset[];
  delegates: boolean;
  /** Nodes one label below. */
  children: number;
}

/**
 * A zone indexed by name. An update costs as much as its names, whatever the zone's size, because it blocks queries.
 */
export class ZoneIndex {
  readonly apex: DomainName;
  readonly supportsAlias: boolean;
  readonly #nodes = new Map<DomainName, OwnNode>();
  /** Delegating nodes. */
  #cuts = 0;
  /** Nodes with a DNAME. */
  #renames = 0;
  #negative: RRset;
  /** All names in order, after the first denial that needed them. */
  #order: CanonicalOrder<ZoneNode> | null = null;
  #signer: ZoneSigner | null = null;
  readonly #onChange: () => void;

  /**
   * Merges equal records and gives the records of an RRset their lowest TTL (RFC 2181 §5). @throws VivariumError
   * `invalid_request` for a zone without exactly one SOA, or a record outside the zone.
   */
  constructor({ apex, supportsAlias, records }: Zone, onChange: () => void = () => undefined) {
    this.#onChange = onChange;
    this.apex = apex;
    this.supportsAlias = supportsAlias;
    this.#nodes.set(apex, { name: apex, parent: null, rrsets: [], delegates: false, children: 0 });
    const byName = Map.groupBy(records, ({ name }) => name);
    this.#negative = this.#negativeOf(rrsetsOf(byName.get(apex) ?? []));
    for (const [name, here] of byName) this.replace(name, here);
  }

  /** The SOA for the authority section of negative answers. */
  get negative(): RRset {
    return this.#negative;
  }

  /** Signs the zone's answers; null for a zone without DNSSEC. */
  get signer(): ZoneSigner | null {
    return this.#signer;
  }

  set signer(signer: ZoneSigner | null) {
    this.#signer = signer;
    if (signer === null) this.#order = null;
    this.#onChange();
  }

  /** The zone's nodes in canonical order. The first call sorts them. */
  get order(): CanonicalOrder<ZoneNode> {
    return (this.#order ??= new CanonicalOrder(this.#nodes));
  }

  /**
   * Replaces all records of a name; an empty list leaves at most an empty non-terminal. @throws VivariumError as the
   * constructor, without a change.
   */
  replace(name: DomainName, records: readonly ResourceRecord[]): void {
    if (!isAtOrBelow(name, this.apex)) {
      throw invalidRequest(`"${absoluteText(name)}" is not in the zone "${absoluteText(this.apex)}".`);
    }
    const rrsets = rrsetsOf(records);
    if (name === this.apex) this.#negative = this.#negativeOf(rrsets);
    const known = this.#nodes.get(name);
    if (known === undefined && rrsets.length === 0) return;
    this.#set(known ?? this.#add(name), rrsets);
  }

  /**
   * Adds records of one name; in small RRsets, those already present are skipped. Costs as much as the new records, and
   * copies references to the existing ones of the same types.
   */
  add(name: DomainName, records: readonly ResourceRecord[]): void {
    const node = this.#nodes.get(name) ?? this.#add(name);
    const added = rrsetsOf(records);
    const joined = node.rrsets.map((rrset) =>
      joinRRsets(
        rrset,
        added.find(({ type }) => type === rrset.type),
      ),
    );
    const fresh = added.filter(({ type }) => !node.rrsets.some((rrset) => rrset.type === type));
    this.#set(node, [...joined, ...fresh]);
  }

  /**
   * Removes records of one RRset by their values, as `formatZoneValue` writes them. `lowestTtl` is that of the
   * remaining records, given the current one.
   */
  remove(
    name: DomainName,
    type: string,
    values: ReadonlySet<string>,
    lowestTtl: (present: number) => number | undefined,
  ): void {
    const node = this.#nodes.get(name);
    if (node === undefined) return;
    const rrsets = node.rrsets.flatMap((rrset) => {
      if (rrset.type !== type) return [rrset];
      const data = rrset.data.filter((each) => !values.has(formatZoneValue(each)));
      return data.length === 0 ? [] : [{ ...rrset, data, ttlSeconds: lowestTtl(rrset.ttlSeconds) ?? rrset.ttlSeconds }];
    });
    this.#set(node, rrsets);
  }

  setSerial(serial: number): void {
    const node = this.#nodes.get(this.apex);
    if (node === undefined) return;
    const counted = (data: RecordData): RecordData => (data.type === 'SOA' ? { ...data, serial } : data);
    const rrsets = node.rrsets.map((rrset) =>
      rrset.type === 'SOA' ? { ...rrset, data: rrset.data.map(counted) } : rrset,
    );
    this.#negative = this.#negativeOf(rrsets);
    this.#set(node, rrsets);
  }

  #set(node: OwnNode, rrsets: readonly RRset[]): void {
    const delegates = node.parent !== null && rrsets.some(({ type }) => type === 'NS');
    this.#cuts += Number(delegates) - Number(node.delegates);
    this.#renames += Number(renames(rrsets)) - Number(renames(node.rrsets));
    node.rrsets = rrsets;
    node.delegates = delegates;
    this.#prune(node);
    this.#onChange();
  }

  /** All records, grouped by name. */
  *records(): Generator<ResourceRecord> {
    for (const { name, rrsets } of this.#nodes.values()) {
      for (const { ttlSeconds, data } of rrsets) yield* data.map((each) => ({ name, ttlSeconds, data: each }));
    }
  }

  /** The number of names, empty non-terminals included. */
  get size(): number {
    return this.#nodes.size;
  }

  node(name: DomainName): ZoneNode | undefined {
    return this.#nodes.get(name);
  }

  /** The node of a name at or below the apex, or its closest encloser (RFC 4592 §3.3.1). */
  closest(name: DomainName): ZoneNode {
    for (let at = name; ; at = parentOf(at)) {
      const node = this.#nodes.get(at);
      if (node !== undefined) return node;
      if (at === ROOT) throw new RangeError(`"${name}" is not in the zone "${this.apex}".`);
    }
  }

  /** The highest delegation at or above the node. */
  cutAbove(node: ZoneNode): ZoneNode | null {
    if (this.#cuts === 0) return null;
    let cut: ZoneNode | null = null;
    for (let at: ZoneNode | null = node; at !== null; at = at.parent) if (at.delegates) cut = at;
    return cut;
  }

  /** The highest DNAME above a name whose closest encloser is the node (RFC 6672 §2.3). */
  renameAbove(node: ZoneNode, name: DomainName): ZoneNode | null {
    if (this.#renames === 0) return null;
    let found: ZoneNode | null = null;
    for (let at: ZoneNode | null = node; at !== null; at = at.parent) {
      if (at.name !== name && renames(at.rrsets)) found = at;
    }
    return found;
  }

  /** A node, created with all nodes between it and the apex. */
  #add(name: DomainName): OwnNode {
    const above = parentOf(name);
    const parent = this.#nodes.get(above) ?? this.#add(above);
    parent.children++;
    const node: OwnNode = { name, parent, rrsets: [], delegates: false, children: 0 };
    this.#nodes.set(name, node);
    this.#order?.add(name, node);
    return node;
  }

  /** Removes the node and its ancestors while they have neither records nor children. */
  #prune(node: OwnNode): void {
    for (let at = node; at.rrsets.length === 0 && at.children === 0 && at.parent !== null; at = at.parent) {
      this.#nodes.delete(at.name);
      this.#order?.remove(at.name);
      at.parent.children--;
    }
  }

  #negativeOf(rrsets: readonly RRset[]): RRset {
    const soa = rrsets.find(({ type }) => type === 'SOA');
    if (soa?.data.length === 1) return negativeSoa(soa);
    throw invalidRequest(`The zone "${absoluteText(this.apex)}" needs exactly one SOA record.`);
  }
}

const renames = (rrsets: readonly RRset[]): boolean => rrsets.some(({ type }) => type === 'DNAME');

export function rrsetOf(node: ZoneNode, type: RecordType): RRset | undefined {
  for (const rrset of node.rrsets) if (rrset.type === type) return rrset;
  return undefined;
}

export const aliasOf = (node: ZoneNode): RRset | undefined => node.rrsets.find(({ type }) => isAlias(type));

interface GrowingRRset extends RRset {
  ttlSeconds: number;
  data: RecordData[];
}

function rrsetsOf(records: readonly ResourceRecord[]): RRset[] {
  const rrsets: GrowingRRset[] = [];
  for (const { name, ttlSeconds, data } of records) {
    const rrset = rrsets.find(({ type }) => type === data.type);
    if (rrset === undefined) rrsets.push({ name, type: data.type, ttlSeconds, data: [data] });
    else {
      rrset.ttlSeconds = Math.min(rrset.ttlSeconds, ttlSeconds);
      rrset.data.push(data);
    }
  }
  for (const rrset of rrsets) removeRepeats(rrset);
  return rrsets;
}

function joinRRsets(present: RRset, added: RRset | undefined): RRset {
  if (added === undefined) return present;
  const ttlSeconds = Math.min(present.ttlSeconds, added.ttlSeconds);
  const joined = { ...present, ttlSeconds, data: [...present.data, ...added.data] };
  if (present.data.length <= COMPARED_MAX) removeRepeats(joined);
  return joined;
}

/** The size up to which an RRset is compared with new records, in less than a millisecond. */
const COMPARED_MAX = 1_000;

function removeRepeats(rrset: GrowingRRset): void {
  if (rrset.data.length < 2) return;
  const distinct = new Map(rrset.data.map((data) => [formatZoneValue(data), data]));
  if (distinct.size < rrset.data.length) rrset.data = [...distinct.values()];
}
