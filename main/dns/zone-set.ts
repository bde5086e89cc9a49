import { VivariumError } from '../contract/errors.ts';
import { absoluteText, isAtOrBelow, parentOf, ROOT, type DomainName } from './name.ts';
import { formatZoneValue } from './record-format.ts';
import { isAlias, type RecordData, type RecordType, type ResourceRecord, type RRset } from './record.ts';
import { negativeSoa, type Zone } from './zone.ts';

/** A name of a zone: one that has records, or an empty non-terminal, which only lies on the way to one (RFC 4592 §2.2.2). */
export interface ZoneNode {
  readonly name: DomainName;
  readonly rrsets: readonly RRset[];
  /** The highest delegation at or above this node; what is there belongs to another zone's server. */
  readonly cut: ZoneNode | null;
}

/** A zone, indexed by name. */
export interface ZoneIndex {
  readonly apex: DomainName;
  readonly supportsAlias: boolean;
  readonly nodes: ReadonlyMap<DomainName, ZoneNode>;
  /** The SOA for the authority section of negative answers. */
  readonly negative: RRset;
}

/** All zones that are answered from. Immutable; a change makes another one. */
export interface ZoneSet {
  readonly zones: ReadonlyMap<DomainName, ZoneIndex>;
  /** Records as given, over all zones. */
  readonly recordCount: number;
}

/** An index belongs to its zone value, so that publishing a change costs only the zones that changed. */
const indexes = new WeakMap<Zone, ZoneIndex>();

/**
 * Indexes the zones for answering. Zone values that were given before are not indexed again. Equal records count once,
 * and the records of an RRset get their lowest TTL (RFC 2181 §5).
 * @throws VivariumError `invalid_request` for two zones of one name, a zone without exactly one SOA, or a record
 * outside its zone.
 */
export function buildZoneSet(zones: readonly Zone[]): ZoneSet {
  const built = new Map<DomainName, ZoneIndex>();
  let recordCount = 0;
  for (const zone of zones) {
    if (built.has(zone.apex)) {
      throw new VivariumError(
        'invalid_request',
        `The zone "${absoluteText(zone.apex)}" is there twice; keep one of them.`,
      );
    }
    let index = indexes.get(zone);
    if (index === undefined) indexes.set(zone, (index = buildIndex(zone)));
    built.set(zone.apex, index);
    recordCount += zone.records.length;
  }
  return { zones: built, recordCount };
}

interface MutableNode {
  name: DomainName;
  rrsets: MutableRRset[];
  cut: ZoneNode | null;
}

interface MutableRRset {
  name: DomainName;
  type: RecordType;
  ttlSeconds: number;
  data: RecordData[];
}

function buildIndex(zone: Zone): ZoneIndex {
  const nodes = new Map<DomainName, MutableNode>();
  nodeAt(nodes, zone.apex, zone.apex);
  for (const record of zone.records) {
    if (!isAtOrBelow(record.name, zone.apex)) {
      throw new VivariumError(
        'invalid_request',
        `"${absoluteText(record.name)}" is not in the zone "${absoluteText(zone.apex)}".`,
      );
    }
    addRecord(nodeAt(nodes, record.name, zone.apex), record);
  }
  for (const node of nodes.values()) for (const rrset of node.rrsets) removeRepeats(rrset);
  markCuts(nodes, zone.apex);
  const soa = nodes.get(zone.apex)?.rrsets.find(({ type }) => type === 'SOA');
  if (soa?.data.length !== 1) {
    throw new VivariumError('invalid_request', `The zone "${absoluteText(zone.apex)}" needs exactly one SOA record.`);
  }
  return { apex: zone.apex, supportsAlias: zone.supportsAlias, nodes, negative: negativeSoa(soa) };
}

/** The node of a name, made with all nodes between it and the apex. */
function nodeAt(nodes: Map<DomainName, MutableNode>, name: DomainName, apex: DomainName): MutableNode {
  const found = nodes.get(name);
  if (found !== undefined) return found;
  const node: MutableNode = { name, rrsets: [], cut: null };
  nodes.set(name, node);
  for (let at = name; at !== apex;) {
    at = parentOf(at);
    if (nodes.has(at)) break;
    nodes.set(at, { name: at, rrsets: [], cut: null });
  }
  return node;
}

function addRecord(node: MutableNode, { name, ttlSeconds, data }: ResourceRecord): void {
  const rrset = node.rrsets.find(({ type }) => type === data.type);
  if (rrset === undefined) node.rrsets.push({ name, type: data.type, ttlSeconds, data: [data] });
  else {
    rrset.ttlSeconds = Math.min(rrset.ttlSeconds, ttlSeconds);
    rrset.data.push(data);
  }
}

function removeRepeats(rrset: MutableRRset): void {
  if (rrset.data.length < 2) return;
  const distinct = new Map(rrset.data.map((data) => [formatZoneValue(data), data]));
  if (distinct.size < rrset.data.length) rrset.data = [...distinct.values()];
}

/** NS below the apex hands a name, and everything below it, to another zone (RFC 1034 §4.2.1). */
function markCuts(nodes: Map<DomainName, MutableNode>, apex: DomainName): void {
  const delegates = (node: MutableNode) => node.name !== apex && node.rrsets.some(({ type }) => type === 'NS');
  if (![...nodes.values()].some(delegates)) return;
  // Parents before children: a shorter name can't be below a longer one.
  for (const node of [...nodes.values()].sort((a, b) => a.name.length - b.name.length)) {
    if (node.name === apex) continue;
    const above = nodes.get(parentOf(node.name))?.cut ?? null;
    node.cut = above ?? (delegates(node) ? node : null);
  }
}

/** The zone that a name belongs to: the one with the deepest apex. At most one look-up for each label of the name. */
export function findZone(set: ZoneSet, name: DomainName): ZoneIndex | null {
  for (let at = name; ; at = parentOf(at)) {
    const zone = set.zones.get(at);
    if (zone !== undefined) return zone;
    if (at === ROOT) return null;
  }
}

/** Where a name leads within its zone (RFC 1034 §4.3.2 step 3, RFC 4592 §3.3). */
export type Location =
  | { kind: 'node'; node: ZoneNode }
  | { kind: 'wildcard'; node: ZoneNode }
  | { kind: 'delegated'; cut: ZoneNode }
  | { kind: 'absent' };

const ABSENT: Location = { kind: 'absent' };

/**
 * Finds a name that is at or below the zone's apex. `atCut` looks at a delegation's own node from the parent's side, as
 * a question for DS does (RFC 4035 §3.1.4.1).
 */
export function locate(zone: ZoneIndex, name: DomainName, atCut = false): Location {
  const exact = zone.nodes.get(name);
  if (exact !== undefined) {
    if (exact.cut !== null && !(atCut && exact.cut === exact)) return { kind: 'delegated', cut: exact.cut };
    return { kind: 'node', node: exact };
  }
  let encloser: ZoneNode | undefined;
  for (let at = name; encloser === undefined && at !== zone.apex;) {
    at = parentOf(at);
    encloser = zone.nodes.get(at);
  }
  if (encloser === undefined) return ABSENT;
  if (encloser.cut !== null) return { kind: 'delegated', cut: encloser.cut };
  const wildcard = zone.nodes.get(encloser.name === ROOT ? '*' : `*.${encloser.name}`);
  return wildcard === undefined ? ABSENT : { kind: 'wildcard', node: wildcard };
}

/** The RRset of a type at a node. */
export const rrsetOf = (node: ZoneNode, type: RecordType): RRset | undefined =>
  node.rrsets.find((rrset) => rrset.type === type);

/** The ALIAS or ANAME at a node. */
export const aliasOf = (node: ZoneNode): RRset | undefined => node.rrsets.find(({ type }) => isAlias(type));
