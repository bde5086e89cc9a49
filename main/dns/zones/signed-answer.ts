import type { DomainName } from '../../model/dns-name.ts';
import { emptyAnswer, type DnsAnswer, type Question } from './answer.ts';
import { nsecAt, nsecOfChild, nsecOver, wildcardFor } from './denial.ts';
import { CLASS_IN, QUESTION_TYPES, RRSIG, TYPE_CODES, type RRset } from '../wire/record.ts';
import { isUndelegated } from '../server/responder.ts';
import { rrsetOf, type ZoneIndex, type ZoneNode } from './zone-index.ts';
import { locate, zoneAsked, type ZoneSet } from './zone-set.ts';
import type { ZoneSigner } from './zone-signer.ts';

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
