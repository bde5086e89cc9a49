import type { DomainName } from '../../model/dns-name.ts';
import { emptyAnswer, CLASS_IN, QUESTION_TYPES, RRSIG, TYPE_CODES, codeOfType, NSEC } from '../wire/record.ts';
import type { DnsAnswer, Question, RRset } from '../wire/record.ts';
import { isUndelegated } from '../server/responder.ts';
import { rrsetOf, type ZoneIndex, type ZoneNode, aliasOf } from './zone-index.ts';
import { locate, zoneAsked, type ZoneSet, flatten } from './zone-set.ts';
import type { ZoneSigner } from './zone-signer.ts';
import { octetsOf, wildcardBelow, typeBitmap } from '../wire/canonical.ts';

/** Types that the server generates in a signed zone; stored records of these types are not served there. */
const OWN_TYPES: ReadonlySet<number> = new Set([QUESTION_TYPES.RRSIG, QUESTION_TYPES.NSEC, QUESTION_TYPES.DNSKEY]);

/** The NSEC record of a node in the zone's chain (RFC 4034 §4). */
const nsecAt = (set: ZoneSet, zone: ZoneIndex, node: ZoneNode): RRset =>
  nsec(zone, node.name, nodeAfter(zone, node).name, typesAt(set, zone, node));

/** The NSEC record that covers a name without records, or that of the name itself. */
const nsecOver = (set: ZoneSet, zone: ZoneIndex, name: DomainName): RRset => nsecAt(set, zone, nodeBefore(zone, name));

/**
 * Denies only DS at a child zone that the parent does not delegate, which makes the child insecure.
 * RFC 4470 §3 defines the next name.
 */
const nsecOfChild = (zone: ZoneIndex, child: DomainName): RRset =>
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
const wildcardFor = (zone: ZoneIndex, name: DomainName): DomainName => wildcardBelow(zone.closest(name).name);

/**
 * Completes an answer if some of the zones are signed (RFC 4035 §3.1): answers questions for types that only signed
 * zones have, and adds signatures and denials for clients that ask for DNSSEC.
 */
export function signedAnswer(set: ZoneSet, question: Question, plain: DnsAnswer, dnssecOk: boolean): DnsAnswer {
  if (question.class !== CLASS_IN) return plain;
  const answer = ofOwnType(set, question) ?? plain;
  return dnssecOk ? new SignedAnswer(set, question).of(answer) : answer;
}

/** The answer for DNSKEY, NSEC or RRSIG in a signed zone; null for other questions, and if the walk decides. */
function ofOwnType(set: ZoneSet, { name, type }: Question): DnsAnswer | null {
  if (type !== QUESTION_TYPES.DNSKEY && type !== QUESTION_TYPES.NSEC && type !== QUESTION_TYPES.RRSIG) return null;
  const owner = name.toLowerCase();
  const zone = zoneAsked(set, owner, type);
  const signer = zone?.signer ?? null;
  if (zone === null || signer === null) return null;
  const location = locate(zone, owner);
  if (location.kind !== 'node' && location.kind !== 'wildcard') return null;
  const { node } = location;
  const found = type === QUESTION_TYPES.DNSKEY ? null : ownRecords(set, { zone, signer, node, owner }, type);
  if (found !== null) return { ...emptyAnswer('NOERROR', true), answer: found };
  if (type === QUESTION_TYPES.DNSKEY && rrsetOf(node, 'CNAME') !== undefined) return null;
  if (type === QUESTION_TYPES.DNSKEY && owner === zone.apex) {
    return { ...emptyAnswer('NOERROR', true), answer: [signer.dnskeys] };
  }
  return { ...emptyAnswer('NOERROR', true), authority: [zone.negative] };
}

/** The NSEC of a name, or the signatures of all its records; null if it has neither. */
function ownRecords(
  set: ZoneSet,
  { zone, signer, node, owner }: { zone: ZoneIndex; signer: ZoneSigner; node: ZoneNode; owner: DomainName },
  type: number,
): RRset[] | null {
  if (node.rrsets.length === 0) return null;
  const nsec = nsecAt(set, zone, node);
  if (type === QUESTION_TYPES.NSEC) return [{ ...nsec, name: owner }];
  const own = node.parent === null ? [signer.dnskeys] : [];
  const signatures = [...node.rrsets.filter(({ type: each }) => each !== 'ALIAS' && each !== 'ANAME'), ...own, nsec]
    .map((rrset) => signer.sign(rrset))
    .filter((rrset) => rrset !== null);
  const [first] = signatures;
  if (first === undefined) return null;
  // The signatures are one RRset, with one TTL (RFC 2181 §5.2).
  const ttlSeconds = Math.min(...signatures.map((rrset) => rrset.ttlSeconds));
  return [{ ...first, name: owner, ttlSeconds, data: signatures.flatMap(({ data }) => data) }];
}

/** Adds the proofs to one answer. */
class SignedAnswer {
  readonly #set: ZoneSet;
  readonly #question: Question;
  readonly #atCut: boolean;
  /** NSEC records by their owners. */
  readonly #proofs = new Map<DomainName, { nsec: RRset; signer: ZoneSigner }>();

  constructor(set: ZoneSet, question: Question) {
    this.#set = set;
    this.#question = question;
    this.#atCut = question.type === TYPE_CODES.DS;
  }

  of(plain: DnsAnswer): DnsAnswer {
    const answer = plain.answer.flatMap((rrset) => this.#signed(rrset));
    const authority = this.#authority(plain);
    const proofs = [...this.#proofs.values()].flatMap(({ nsec, signer }) => withSignature(nsec, signer.sign(nsec)));
    const additional = plain.additional.flatMap((rrset) => this.#signedAddress(rrset));
    return { ...plain, answer, authority: [...authority, ...proofs], additional };
  }

  /** A name answered by a wildcard needs a proof that it does not exist itself (RFC 4035 §3.1.3.3). */
  #signed(rrset: RRset): RRset[] {
    const zone = zoneAsked(this.#set, rrset.name, this.#question.type);
    const signer = zone?.signer ?? null;
    if (zone === null || signer === null || rrset.type === RRSIG) return [rrset];
    const location = locate(zone, rrset.name, this.#atCut);
    if (location.kind === 'node') return withSignature(rrset, signer.sign(rrset));
    // A CNAME synthesised from a DNAME has no signature.
    if (location.kind !== 'wildcard') return [rrset];
    this.#cover(zone, signer, rrset.name);
    return withSignature(rrset, signer.sign(rrset, location.node.name));
  }

  #authority({ rcode, answer, authority }: DnsAnswer): RRset[] {
    const [first] = authority;
    if (first === undefined) return [];
    const last = lastName(this.#question, answer);
    const zone = zoneAsked(this.#set, last, this.#question.type);
    const signer = zone?.signer ?? null;
    if (zone === null || signer === null) return [...authority];
    if (first.type === 'NS') return this.#referral(zone, signer, authority);
    this.#deny(zone, signer, last, rcode === 'NXDOMAIN');
    // The SOA of a negative answer has a lower TTL than the signed one in the zone.
    const apex = zone.node(zone.apex);
    const soa = apex === undefined ? undefined : rrsetOf(apex, 'SOA');
    return withSignature(first, signer.sign(first, first.name, soa?.ttlSeconds));
  }

  /** The delegation is secure by its DS, or is proved to have none (RFC 4035 §3.1.4); the NS belong to the child. */
  #referral(zone: ZoneIndex, signer: ZoneSigner, authority: readonly RRset[]): RRset[] {
    const cut = zone.node(authority[0]?.name ?? '');
    const ds = cut === undefined ? undefined : rrsetOf(cut, 'DS');
    if (ds !== undefined) return [...authority, ...withSignature(ds, signer.sign(ds))];
    if (cut !== undefined) this.#prove(nsecAt(this.#set, zone, cut), signer);
    return [...authority];
  }

  /** RFC 4035 §3.1.3. */
  #deny(zone: ZoneIndex, signer: ZoneSigner, name: DomainName, isNameError: boolean): void {
    const location = locate(zone, name, this.#atCut);
    if (isUndelegated(this.#set, zone, name, this.#question.type, location)) {
      this.#prove(nsecOfChild(zone, name), signer);
    } else if (location.kind === 'wildcard') {
      this.#cover(zone, signer, name);
      this.#cover(zone, signer, location.node.name);
    } else {
      this.#cover(zone, signer, name);
      if (isNameError) this.#cover(zone, signer, wildcardFor(zone, name));
    }
  }

  #cover(zone: ZoneIndex, signer: ZoneSigner, name: DomainName): void {
    this.#prove(nsecOver(this.#set, zone, name), signer);
  }

  #prove(nsec: RRset, signer: ZoneSigner): void {
    this.#proofs.set(nsec.name, { nsec, signer });
  }

  /** Glue does not belong to the parent, and has no signature (RFC 4035 §2.2). */
  #signedAddress(rrset: RRset): RRset[] {
    const zone = zoneAsked(this.#set, rrset.name, 0);
    const signer = zone?.signer ?? null;
    const location = zone === null || signer === null ? null : locate(zone, rrset.name);
    if (location?.kind !== 'node' && location?.kind !== 'wildcard') return [rrset];
    return withSignature(rrset, signer?.sign(rrset, location.node.name) ?? null);
  }
}

const withSignature = (rrset: RRset, signature: RRset | null): RRset[] =>
  signature === null ? [rrset] : [rrset, signature];

/** The name that a negative answer or a referral is about: the target of the last CNAME. */
function lastName({ name }: Question, answer: readonly RRset[]): DomainName {
  const [data] = answer.findLast(({ type }) => type === 'CNAME')?.data ?? [];
  return data?.type === 'CNAME' ? data.target : name.toLowerCase();
}
