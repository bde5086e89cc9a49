import { octetsOf } from '../wire/canonical.ts';
import { ROOT, type DomainName } from '../../model/dns-name.ts';
import { flatten } from './alias.ts';
import { codeOfType, NSEC, QUESTION_TYPES, TYPE_CODES, type RRset } from '../wire/record.ts';
import { aliasOf, rrsetOf, type ZoneIndex, type ZoneNode } from './zone-index.ts';
import type { ZoneSet } from './zone-set.ts';

/** Types that the server generates in a signed zone; stored records of these types are not served there. */
const OWN_TYPES: ReadonlySet<number> = new Set([QUESTION_TYPES.RRSIG, QUESTION_TYPES.NSEC, QUESTION_TYPES.DNSKEY]);

/** The NSEC record of a node in the zone's chain (RFC 4034 §4). */
export function nsecAt(set: ZoneSet, zone: ZoneIndex, node: ZoneNode): RRset {
  return nsec(zone, node.name, nodeAfter(zone, node).name, typesAt(set, zone, node));
}

/** The NSEC record that covers a name without records, or that of the name itself. */
export const nsecOver = (set: ZoneSet, zone: ZoneIndex, name: DomainName): RRset =>
  nsecAt(set, zone, nodeBefore(zone, name));

/**
 * Denies only DS at a child zone that the parent does not delegate, which makes the child insecure.
 * RFC 4470 §3 defines the next name.
 */
export const nsecOfChild = (zone: ZoneIndex, child: DomainName): RRset =>
  nsec(zone, child, `\\000.${child}`, [TYPE_CODES.NS, QUESTION_TYPES.RRSIG, QUESTION_TYPES.NSEC]);

const nsec = (zone: ZoneIndex, name: DomainName, next: DomainName, types: readonly number[]): RRset => ({
  name,
  type: NSEC,
  // RFC 9077: the same TTL as the negative answer.
  ttlSeconds: zone.negative.ttlSeconds,
  data: [
    {
      type: NSEC,
      octets: octetsOf((to) => {
        to.name(next);
        to.text(typeBitmap(types));
      }),
    },
  ],
});

/** RFC 4034 §4.1.2. */
export function typeBitmap(types: readonly number[]): string {
  const windows = Map.groupBy(
    [...types].sort((one, other) => one - other),
    (type) => type >>> 8,
  );
  return [...windows].map(([window, inIt]) => bitmapOf(window, inIt)).join('');
}

function bitmapOf(window: number, types: readonly number[]): string {
  const octets = new Uint8Array(((types.at(-1) ?? 0) & 0xff) / 8 + 1);
  for (const type of types) {
    const bit = type & 0xff;
    octets[bit >>> 3] = (octets[bit >>> 3] ?? 0) | (0x80 >>> (bit & 7));
  }
  return String.fromCharCode(window, octets.length, ...octets);
}

/** The types of a node; at a zone cut, only those of the parent (RFC 4035 §2.3). */
function typesAt(set: ZoneSet, zone: ZoneIndex, node: ZoneNode): number[] {
  const { RRSIG, NSEC: own, DNSKEY } = QUESTION_TYPES;
  const codes = node.rrsets.map(({ type }) => codeOfType(type)).filter((code) => code > 0 && !OWN_TYPES.has(code));
  if (node.delegates) return [...codes.filter((code) => code === TYPE_CODES.NS || code === TYPE_CODES.DS), RRSIG, own];
  const alias = zone.supportsAlias ? aliasOf(node) : undefined;
  if (alias !== undefined) {
    for (const type of ['A', 'AAAA'] as const) {
      const isAnswered = () => flatten(set, node.name, alias, type).kind !== 'none';
      if (!codes.includes(TYPE_CODES[type]) && isAnswered()) codes.push(TYPE_CODES[type]);
    }
  }
  const isService = rrsetOf(node, 'HTTPS') === undefined && rrsetOf(node, 'CNAME') === undefined;
  if (isService && node.rrsets.length > 0 && set.serviceOf(node.name) !== null) codes.push(TYPE_CODES.HTTPS);
  return [...codes, RRSIG, own, ...(node.parent === null ? [DNSKEY] : [])];
}

/** The last node of the chain at or before a name. */
function nodeBefore(zone: ZoneIndex, name: DomainName): ZoneNode {
  const { order } = zone;
  for (let index = order.floor(name); ;) {
    const node = order.at(index);
    if (node === undefined) throw new RangeError(`"${name}" is before the zone "${zone.apex}".`);
    const hiding = hidingNode(zone, node);
    if (hiding !== null) index = order.indexOf(hiding.name);
    else if (node.rrsets.length === 0) index--;
    else return node;
  }
}

/** The next node of the chain; after the last one the apex. */
function nodeAfter(zone: ZoneIndex, node: ZoneNode): ZoneNode {
  const { order } = zone;
  for (let index = order.indexOf(node.name) + 1; ;) {
    const next = order.at(index) ?? order.at(0);
    if (next === undefined || next.parent === null) return next ?? node;
    const hiding = hidingNode(zone, next);
    if (hiding !== null) index = order.endOf(hiding.name);
    else if (next.rrsets.length === 0) index++;
    else return next;
  }
}

/** The delegation or DNAME above a node that hides it. */
function hidingNode(zone: ZoneIndex, node: ZoneNode): ZoneNode | null {
  const cut = zone.cutAbove(node);
  const renamed = zone.renameAbove(node, node.name);
  const hiding = cut === node ? null : cut;
  if (hiding === null || renamed === null) return hiding ?? renamed;
  return renamed.name.length < hiding.name.length ? renamed : hiding;
}

/** The wildcard that could have matched a name without a node. */
export const wildcardFor = (zone: ZoneIndex, name: DomainName): DomainName => {
  const encloser = zone.closest(name).name;
  return encloser === ROOT ? '*' : `*.${encloser}`;
};
