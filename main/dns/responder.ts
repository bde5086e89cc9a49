import { absoluteText, parentOf, type DomainName, isAtOrBelow } from '../model/dns-name.ts';
import { flatten } from './alias.ts';
import { DETAIL_CODES, emptyAnswer, type DnsAnswer, type Question } from './answer.ts';
import { CLASS_IN, QUESTION_TYPES, TYPE_CODES, type RecordType, type RRset, type RecordData } from './record.ts';
import { aliasOf, rrsetOf, type ZoneIndex, type ZoneNode } from './zone-index.ts';
import { findZone, locate, type Location, type ZoneSet } from './zone-set.ts';

/** CNAMEs that one answer follows. Real resolvers stop between 8 and 16; the client can ask on from the last target. */
export const CNAME_HOPS_MAX = 10;

/** RFC 8482 §4.2: long enough that whoever asks for ANY does not ask again soon. */
const ANY_TTL_SECONDS = 3600;

const NAME_BY_CODE = new Map<number, RecordType>(
  (Object.entries(TYPE_CODES) as [RecordType, number][]).map(([name, code]) => [code, name]),
);

/**
 * The answer of an authoritative server that has these zones and nothing else (RFC 1034 §4.3.2 without recursion).
 * Pure: the same set and question give the same answer. Names in it are in lower case, whatever the question's case.
 *
 * Where records stand together that should not (a CNAME beside an A), the type that was asked for wins, so that a
 * question for each of them shows it.
 */
export function answer(set: ZoneSet, question: Question): DnsAnswer {
  if (question.class !== CLASS_IN) {
    return emptyAnswer('REFUSED', false, { code: DETAIL_CODES.notSupported, text: 'Only class IN is served' });
  }
  switch (question.type) {
    case QUESTION_TYPES.AXFR:
    case QUESTION_TYPES.IXFR:
      return emptyAnswer('REFUSED', false, { code: DETAIL_CODES.notSupported, text: 'Zones are not transferred' });
    case QUESTION_TYPES.OPT:
      return emptyAnswer('FORMERR', false);
    default:
      // RFC 6895 §3.1: the other types from 128 to 255 are questions about messages and transactions, not data.
      if (question.type >= 128 && question.type < QUESTION_TYPES.ANY) return emptyAnswer('NOTIMP', false);
      return new Resolution(set, question.type).run(question.name.toLowerCase());
  }
}

/** One walk from the question's name along its CNAMEs. */
class Resolution {
  readonly #set: ZoneSet;
  readonly #code: number;
  /** Null for a type that no zone here can hold; its CNAMEs are followed all the same. */
  readonly #type: RecordType | null;
  readonly #chain: RRset[] = [];

  constructor(set: ZoneSet, code: number) {
    this.#set = set;
    this.#code = code;
    this.#type = NAME_BY_CODE.get(code) ?? null;
  }

  run(name: DomainName): DnsAnswer {
    for (let owner = name; ;) {
      const zone = this.#zoneOf(owner);
      if (zone === null) return this.#outside(owner);
      const location = locate(zone, owner, this.#code === QUESTION_TYPES.DS);
      if (location.kind === 'delegated') return this.#refer(zone, location.cut);
      if (this.#isUndelegated(zone, owner, location)) return this.#negative(zone, 'NOERROR');
      if (location.kind === 'absent') return this.#negative(zone, 'NXDOMAIN');
      const rrset = this.#pick(location.node, owner);
      if (rrset !== undefined) return this.#positive(rrset);
      const cname = rrsetOf(location.node, 'CNAME');
      const [target] = cname?.data ?? [];
      if (cname === undefined || target?.type !== 'CNAME') return this.#withoutData(zone, location.node, owner);
      // A loop, or a chain without an end, is answered with what was found: its reader can tell (RFC 1034 §3.6.2).
      if (this.#chain.length === CNAME_HOPS_MAX) return this.#close('NOERROR');
      this.#chain.push({ ...owned(cname, owner), data: [target] });
      if (this.#chain.some((link) => link.name === target.target)) return this.#close('NOERROR');
      owner = target.target;
    }
  }

  /** DS is kept by the parent zone, above the cut (RFC 4035 §3.1.4.1), where that one is ours too. */
  #zoneOf(name: DomainName): ZoneIndex | null {
    const zone = findZone(this.#set, name);
    if (this.#code !== QUESTION_TYPES.DS || zone?.apex !== name || name === '') return zone;
    return findZone(this.#set, parentOf(name)) ?? zone;
  }

  /**
   * A zone of ours that its parent, ours too, knows nothing of: asked for its DS, the parent must not deny the name, or
   * the zone would be gone for whoever takes NXDOMAIN at its word (RFC 8020).
   */
  #isUndelegated(parent: ZoneIndex, name: DomainName, { kind }: Location): boolean {
    return kind !== 'node' && this.#code === QUESTION_TYPES.DS && parent.apex !== name && this.#set.has(name);
  }

  #pick(node: ZoneNode, owner: DomainName): RRset | undefined {
    if (this.#code === QUESTION_TYPES.ANY) return anyRRset(node, owner);
    const rrset = this.#type === null ? undefined : rrsetOf(node, this.#type);
    return rrset === undefined ? undefined : owned(rrset, owner);
  }

  #positive(rrset: RRset): DnsAnswer {
    const hosts = rrset.type === 'MX' || rrset.type === 'NS' || rrset.type === 'SRV';
    this.#chain.push(rrset);
    return this.#close('NOERROR', [], hosts ? hostAddresses(this.#set, rrset) : []);
  }

  #withoutData(zone: ZoneIndex, node: ZoneNode, owner: DomainName): DnsAnswer {
    const alias = aliasOf(node);
    if (alias === undefined || !zone.supportsAlias || (this.#type !== 'A' && this.#type !== 'AAAA')) {
      return this.#negative(zone, 'NOERROR');
    }
    const flattened = flatten(this.#set, owner, alias, this.#type);
    switch (flattened.kind) {
      case 'addresses':
        return this.#positive(flattened.rrset);
      case 'none':
        return this.#negative(zone, 'NOERROR');
      case 'failed':
        return emptyAnswer('SERVFAIL', false, { code: DETAIL_CODES.other, text: flattened.reason.slice(0, 200) });
    }
  }

  /** NXDOMAIN, or NOERROR without data, of the last name on the way (RFC 6604 §3); the SOA says how long it may be kept. */
  #negative(zone: ZoneIndex, rcode: 'NXDOMAIN' | 'NOERROR'): DnsAnswer {
    return this.#close(rcode, [zone.negative]);
  }

  #refer(zone: ZoneIndex, cut: ZoneNode): DnsAnswer {
    const delegation = rrsetOf(cut, 'NS');
    if (delegation === undefined) return this.#negative(zone, 'NOERROR');
    const referral = this.#close('NOERROR', [delegation], glueAddresses(this.#set, zone, delegation));
    return { ...referral, additionalRequired: true };
  }

  #outside(name: DomainName): DnsAnswer {
    if (this.#chain.length > 0) return this.#close('NOERROR');
    const text = `${absoluteText(name)} is in no zone here`.slice(0, 200);
    return emptyAnswer('REFUSED', false, { code: DETAIL_CODES.notAuthoritative, text });
  }

  /** AA speaks of the question's own name (RFC 1035 §4.1.1), so a referral has it only after a CNAME of ours. */
  #close(rcode: 'NOERROR' | 'NXDOMAIN', authority: RRset[] = [], additional: RRset[] = []): DnsAnswer {
    const referral = this.#chain.length === 0 && authority[0]?.type === 'NS';
    return {
      rcode,
      authoritative: !referral,
      answer: this.#chain,
      authority,
      additional,
      additionalRequired: false,
    };
  }
}

/** An RRset as its owner's: a wildcard's records are answered under the name that was asked for (RFC 4592 §3.3). */
const owned = (rrset: RRset, owner: DomainName): RRset => (rrset.name === owner ? rrset : { ...rrset, name: owner });

/**
 * The refusal to list everything (RFC 8482 §4.2): a made-up HINFO, which says that the name exists and has data. A
 * CNAME is the whole truth of its name, so it is given instead.
 */
function anyRRset(node: ZoneNode, owner: DomainName): RRset | undefined {
  if (node.rrsets.length === 0) return undefined;
  const cname = rrsetOf(node, 'CNAME');
  if (cname !== undefined) return owned(cname, owner);
  return { name: owner, type: 'HINFO', ttlSeconds: ANY_TTL_SECONDS, data: [{ type: 'HINFO', cpu: 'RFC8482', os: '' }] };
}

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
