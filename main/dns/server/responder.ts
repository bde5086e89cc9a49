import { spokenName, isAtOrBelow, NAME_OCTETS_MAX, wireLength, type DomainName } from '../../model/dns-name.ts';
import { flatten, findZone, locate, zoneAsked, type Location, type ZoneSet } from '../zones/zone-set.ts';
import { DETAIL_CODES, emptyAnswer, CLASS_IN, QUESTION_TYPES, recordTypeOf, TYPE_CODES } from '../wire/record.ts';
import type { DnsAnswer, Question, RecordType, RRset, RecordData } from '../wire/record.ts';
import { aliasOf, rrsetOf, type ZoneIndex, type ZoneNode } from '../zones/zone-index.ts';
import { hostOf } from '../zones/zone.ts';

/** CNAMEs per answer. Real resolvers stop between 8 and 16; the client can query the last target. */
export const CNAME_HOPS_MAX = 10;

/** RFC 8482 §4.2: long enough to keep ANY clients from asking again soon. */
const ANY_TTL_SECONDS = 3600;

/**
 * The answer of an authoritative server for these zones, without recursion (RFC 1034 §4.3.2). Pure: depends on the set
 * and the question only. Its names are in lower case.
 *
 * For records that must not share a name (a CNAME beside an A), the queried type wins: queries can then show each of
 * them.
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
      // RFC 6895 §3.1: the other types from 128 to 255 are meta-types, not data.
      if (question.type >= 128 && question.type < QUESTION_TYPES.ANY) return emptyAnswer('NOTIMP', false);
      return new Resolution(set, question.type).run(question.name.toLowerCase());
  }
}

/** Hostnames come and go with domains and projects, and browsers keep the answer for as long. */
const SERVICE_TTL_SECONDS = 5;

/** One walk from the question's name along its CNAMEs. */
class Resolution {
  readonly #set: ZoneSet;
  readonly #code: number;
  readonly #type: RecordType;
  readonly #chain: RRset[] = [];
  #asked: DomainName = '';

  constructor(set: ZoneSet, code: number) {
    this.#set = set;
    this.#code = code;
    this.#type = recordTypeOf(code);
  }

  run(name: DomainName): DnsAnswer {
    this.#asked = name;
    for (let owner = name; ;) {
      const zone = zoneAsked(this.#set, owner, this.#code);
      if (zone === null) return this.#outside(owner);
      const location = locate(zone, owner, this.#code === TYPE_CODES.DS);
      if (location.kind === 'delegated') return this.#refer(zone, location.cut);
      if (location.kind === 'renamed') {
        const next = this.#rename(location.node, owner);
        if (typeof next !== 'string') return next;
        owner = next;
        continue;
      }
      if (isUndelegated(this.#set, zone, owner, this.#code, location)) return this.#negative(zone, 'NOERROR');
      if (location.kind === 'absent') return this.#negative(zone, 'NXDOMAIN');
      const rrset = this.#pick(location.node, owner);
      if (rrset !== undefined) return this.#positive(rrset);
      const cname = rrsetOf(location.node, 'CNAME');
      const [target] = cname?.data ?? [];
      // RFC 2181 §10.1: these may be beside a CNAME, so its target says nothing about them.
      const isBeside = this.#code === QUESTION_TYPES.RRSIG || this.#code === QUESTION_TYPES.NSEC;
      if (cname === undefined || target?.type !== 'CNAME' || isBeside)
        return this.#withoutData(zone, location.node, owner);
      // A loop or an endless chain returns the records found, which let the client detect it (RFC 1034 §3.6.2).
      if (this.#chain.length === CNAME_HOPS_MAX) return this.#close('NOERROR');
      this.#chain.push({ ...owned(cname, owner), data: [target] });
      if (this.#chain.some((link) => link.name === target.target)) return this.#close('NOERROR');
      owner = target.target;
    }
  }

  /** Follows a DNAME by synthesising its CNAME (RFC 6672 §3.2); returns the next name, or the end of the walk. */
  #rename(node: ZoneNode, owner: DomainName): DomainName | DnsAnswer {
    const rrset = rrsetOf(node, 'DNAME');
    const [data] = rrset?.data ?? [];
    if (rrset === undefined || data?.type !== 'DNAME' || this.#chain.length >= CNAME_HOPS_MAX)
      return this.#close('NOERROR');
    if (!this.#chain.includes(rrset)) this.#chain.push(rrset);
    const prefix = node.name === '' ? owner : owner.slice(0, -node.name.length - 1);
    const target = data.target === '' ? prefix : `${prefix}.${data.target}`;
    if (wireLength(target) > NAME_OCTETS_MAX) return this.#close('YXDOMAIN');
    const cname = { type: 'CNAME' as const, target };
    this.#chain.push({ name: owner, type: 'CNAME', ttlSeconds: rrset.ttlSeconds, data: [cname] });
    const isOver = this.#code === TYPE_CODES.CNAME || this.#code === QUESTION_TYPES.ANY;
    return isOver || this.#chain.some(({ name, type }) => type === 'CNAME' && name === target)
      ? this.#close('NOERROR')
      : target;
  }

  #pick(node: ZoneNode, owner: DomainName): RRset | undefined {
    if (this.#code === QUESTION_TYPES.ANY) return anyRRset(node, owner);
    const rrset = rrsetOf(node, this.#type);
    return rrset === undefined ? undefined : owned(rrset, owner);
  }

  #positive(rrset: RRset): DnsAnswer {
    this.#chain.push(rrset);
    return this.#close('NOERROR', [], WITH_HOSTS.has(rrset.type) ? hostAddresses(this.#set, rrset) : []);
  }

  #withoutData(zone: ZoneIndex, node: ZoneNode, owner: DomainName): DnsAnswer {
    const service = this.#code === TYPE_CODES.HTTPS ? this.#set.serviceOf(this.#asked) : null;
    if (service !== null) {
      return this.#positive({ name: owner, type: 'HTTPS', ttlSeconds: SERVICE_TTL_SECONDS, data: [service] });
    }
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

  /** NXDOMAIN or nodata for the last name of the chain (RFC 6604 §3); the SOA limits its caching. */
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
    const text = `${spokenName(name)} is in no zone here`.slice(0, 200);
    return emptyAnswer('REFUSED', false, { code: DETAIL_CODES.notAuthoritative, text });
  }

  /** AA refers to the question's own name (RFC 1035 §4.1.1); a referral has it only after one of our CNAMEs. */
  #close(rcode: 'NOERROR' | 'NXDOMAIN' | 'YXDOMAIN', authority: RRset[] = [], additional: RRset[] = []): DnsAnswer {
    const referral = this.#chain.length === 0 && authority[0]?.type === 'NS';
    return { rcode, authoritative: !referral, answer: this.#chain, authority, additional, additionalRequired: false };
  }
}

/**
 * Whether a question for DS is about a child zone served here that its parent does not delegate: NXDOMAIN for its DS
 * would hide the whole child from resolvers that follow RFC 8020.
 */
export function isUndelegated(
  set: ZoneSet,
  parent: ZoneIndex,
  name: DomainName,
  code: number,
  { kind }: Location,
): boolean {
  return kind !== 'node' && code === TYPE_CODES.DS && parent.apex !== name && set.has(name);
}

/** An RRset with its owner replaced: a wildcard's records are answered under the queried name (RFC 4592 §3.3). */
const owned = (rrset: RRset, owner: DomainName): RRset => (rrset.name === owner ? rrset : { ...rrset, name: owner });

/**
 * The minimal answer to ANY (RFC 8482 §4.2): a synthetic HINFO, which shows that the name has data. A CNAME is returned
 * instead, because no other type shares its name.
 */
function anyRRset(node: ZoneNode, owner: DomainName): RRset | undefined {
  if (node.rrsets.length === 0) return undefined;
  const cname = rrsetOf(node, 'CNAME');
  if (cname !== undefined) return owned(cname, owner);
  return { name: owner, type: 'HINFO', ttlSeconds: ANY_TTL_SECONDS, data: [{ type: 'HINFO', cpu: 'RFC8482', os: '' }] };
}

/** RFC 1035 §3.3.9 and §3.3.11, RFC 2782, RFC 9460 §4.1. */
const WITH_HOSTS: ReadonlySet<RecordType> = new Set(['MX', 'NS', 'SRV', 'SVCB', 'HTTPS']);

/** Names per answer whose addresses are added without a question; the client can query the others. */
const ADDITIONAL_NAMES_MAX = 16;

/**
 * Addresses of the hosts in these records, from Vivarium's zones only and without following CNAMEs. */
export function hostAddresses(set: ZoneSet, rrset: RRset): RRset[] {
  return collect(rrset.data.slice(0, ADDITIONAL_NAMES_MAX), (host) => {
    const zone = findZone(set, host);
    const location = zone === null ? null : locate(zone, host);
    return location === null || !('node' in location) ? undefined : location.node;
  });
}

/**
 * Addresses of a delegation's name servers: the delegating zone's data, glue below its cuts included (RFC 1034 §4.2.1),
 * else data of other zones here. Never partial: the client cannot query missing glue (RFC 9471).
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
    const host = hostOf(data);
    const node = host === null ? undefined : find(host);
    if (host === null || node === undefined) continue;
    for (const type of ['A', 'AAAA'] as const) {
      const addresses = rrsetOf(node, type);
      if (addresses !== undefined) found.push(addresses.name === host ? addresses : { ...addresses, name: host });
    }
  }
  return found;
}
