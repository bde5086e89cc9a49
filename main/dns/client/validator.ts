import { createPublicKey, verify } from 'node:crypto';
import type { EpochMs } from '../../base/clock.ts';
import { isAtOrBelow, parentOf, readWireName, ROOT, type DomainName } from '../../model/dns-name.ts';
import { canonicalRRset, labelCount, orderKey, wildcardBelow } from '../wire/canonical.ts';
import type { ResponseRecord } from '../wire/message-reader.ts';
import { codeOfType, DNSKEY, NSEC, QUESTION_TYPES, RRSIG, TYPE_CODES, typeName, type RRset } from '../wire/record.ts';
import { ALGORITHM, keyTag, type TrustAnchor } from '../zones/zone-signer.ts';

export interface Examined {
  name: DomainName;
  /** The wire code. */
  type: number;
  rcode: string;
  answers: readonly ResponseRecord[];
  authority: readonly ResponseRecord[];
}

export interface Trust {
  /** The trust anchor of the signed zone that contains a name; null outside. */
  anchorOf(name: DomainName): TrustAnchor | null;
  /** The answer to DNSKEY at an apex. */
  keysOf(apex: DomainName): readonly ResponseRecord[];
  nowMs: EpochMs;
}

/** What is wrong with an answer, as a sentence. */
class Bogus extends Error {}

/** The signed zones whose keys the validation of an answer needs. */
export function zonesOf({ name, type, answers }: Examined, anchorOf: Trust['anchorOf']): Set<DomainName> {
  const names = [
    type === TYPE_CODES.DS ? parentOf(name) : name,
    ...answers.flatMap(({ name: owner, data }) => [owner, targetOf(data) ?? owner]),
  ];
  return new Set(names.flatMap((each) => anchorOf(each)?.apex ?? []));
}

/**
 * Validates an answer as a resolver with these anchors does (RFC 4035 §5): each RRset of a signed zone, and the denial
 * of absent data. Returns the fault as a sentence; null for an answer that is valid, or in no signed zone.
 */
export function whyBogus(examined: Examined, trust: Trust): string | null {
  if (examined.rcode !== 'NOERROR' && examined.rcode !== 'NXDOMAIN') return null;
  // Signatures are not signed themselves.
  if (examined.type === QUESTION_TYPES.RRSIG) return null;
  try {
    new Validation(examined, trust).run();
    return null;
  } catch (error) {
    if (error instanceof Bogus) return error.message;
    throw error;
  }
}

interface Section {
  rrsets: readonly RRset[];
  signatures: readonly ResponseRecord[];
}

class Validation {
  readonly #examined: Examined;
  readonly #trust: Trust;
  readonly #authority: Section;
  readonly #keys = new Map<DomainName, readonly string[]>();

  constructor(examined: Examined, trust: Trust) {
    this.#examined = examined;
    this.#trust = trust;
    this.#authority = sectionOf(examined.authority);
  }

  run(): void {
    const { name, type, answers } = this.#examined;
    const answer = sectionOf(answers);
    for (const rrset of answer.rrsets) if (!isMade(rrset, answer.rrsets)) this.#checkAnswer(rrset, answer);
    let last = name;
    for (const rrset of answer.rrsets) if (rrset.type === 'CNAME') last = targetOf(rrset.data[0]) ?? last;
    const isWanted = (rrset: RRset) => type === QUESTION_TYPES.ANY || codeOfType(rrset.type) === type;
    const isFound = answer.rrsets.some((rrset) => rrset.name === last && isWanted(rrset));
    // A CNAME that leads on is followed by another query.
    const isOpen = answer.rrsets.some((rrset) => rrset.type === 'CNAME') && this.#examined.authority.length === 0;
    const anchor = this.#anchorOf(last);
    if (!isFound && !isOpen && anchor !== null) this.#checkDenial(anchor, last);
  }

  /** DS of a zone is in the zone above. */
  #anchorOf(name: DomainName): TrustAnchor | null {
    const anchor = this.#trust.anchorOf(name);
    if (this.#examined.type !== TYPE_CODES.DS || anchor?.apex !== name || name === ROOT) return anchor;
    return this.#trust.anchorOf(parentOf(name)) ?? anchor;
  }

  #checkAnswer(rrset: RRset, section: Section): void {
    const anchor = this.#anchorOf(rrset.name);
    if (anchor === null) return;
    const { isExpanded } = this.#check(anchor, rrset, section);
    if (!isExpanded || this.#chain(anchor).some((nsec) => nsec.covers(rrset.name))) return;
    throw new Bogus(`The answer has ${rrset.name} from a wildcard, without a proof that the name does not exist.`);
  }

  #checkDenial(anchor: TrustAnchor, name: DomainName): void {
    const { rcode, type } = this.#examined;
    const chain = this.#chain(anchor);
    const { rrsets } = this.#authority;
    for (const rrset of rrsets) if (rrset.type === 'SOA') this.#check(anchor, rrset, this.#authority);
    const cut = rrsets.find((rrset) => rrset.type === 'NS' && isAtOrBelow(name, rrset.name));
    if (cut !== undefined && !rrsets.some((rrset) => rrset.type === 'SOA')) return this.#checkCut(anchor, cut, chain);
    const wanted = typeName(type);
    if (rcode === 'NXDOMAIN' ? lacksName(chain, name) : lacksType(chain, name, type)) return;
    const what = rcode === 'NXDOMAIN' ? `${name} does not exist` : `${name} has no ${wanted}`;
    throw new Bogus(`The answer says that ${what}, without a proof (NSEC).`);
  }

  /** A referral shows the child's DS, or that it has none (RFC 4035 §5.2). */
  #checkCut(anchor: TrustAnchor, { name }: RRset, chain: readonly Nsec[]): void {
    const ds = this.#authority.rrsets.find((rrset) => rrset.type === 'DS' && rrset.name === name);
    if (ds !== undefined) return void this.#check(anchor, ds, this.#authority);
    if (chain.some((nsec) => nsec.owner === name && nsec.has(TYPE_CODES.NS) && !nsec.has(TYPE_CODES.DS))) return;
    throw new Bogus(`The answer refers to other servers for ${name}, without proof of a DS or of its absence.`);
  }

  /** The NSEC records in the authority section with a valid signature of the zone. */
  #chain(anchor: TrustAnchor): Nsec[] {
    const isSigned = ({ name, type }: RRset): boolean =>
      type === NSEC &&
      isAtOrBelow(name, anchor.apex) &&
      this.#authority.signatures.some(
        (record) => record.name === name && readSignature(record)?.signer === anchor.apex,
      );
    return this.#authority.rrsets.flatMap((rrset) => {
      if (!isSigned(rrset)) return [];
      this.#check(anchor, rrset, this.#authority);
      const nsec = readNsec(anchor.apex, rrset);
      return nsec === null ? [] : [nsec];
    });
  }

  /** RFC 4035 §5.3. @throws Bogus */
  #check({ apex, dnskeys }: TrustAnchor, rrset: RRset, section: Section): { isExpanded: boolean } {
    const keys = this.#keys.get(apex) ?? this.#trustedKeys(apex, dnskeys);
    this.#keys.set(apex, keys);
    return checkSignatures(apex, rrset, section, keys, this.#trust.nowMs);
  }

  /** The zone's keys, if one of the anchor's keys has signed their RRset. */
  #trustedKeys(apex: DomainName, dnskeys: readonly string[]): readonly string[] {
    const section = sectionOf(this.#trust.keysOf(apex));
    const rrset = section.rrsets.find(({ name, type }) => name === apex && type === DNSKEY);
    if (rrset === undefined) throw new Bogus(`${apex} has a trust anchor, but no DNSKEY.`);
    const published = rrset.data.flatMap((data) => ('octets' in data ? [data.octets] : []));
    const entry = published.filter((key) => dnskeys.includes(key));
    if (entry.length === 0) {
      const [tags, anchors] = [published, dnskeys].map((all) => all.map(keyTag).join(', '));
      throw new Bogus(`The zone ${apex} is signed with key ${tags}, which is not its trust anchor (${anchors}).`);
    }
    checkSignatures(apex, rrset, section, entry, this.#trust.nowMs);
    return published;
  }
}

function sectionOf(records: readonly ResponseRecord[]): Section {
  const signatures = records.filter(({ data }) => data.type === RRSIG);
  const rrsets: (RRset & { data: ResponseRecord['data'][] })[] = [];
  for (const { name, ttlSeconds, data } of records) {
    if (data.type === RRSIG) continue;
    const present = rrsets.find((rrset) => rrset.name === name && rrset.type === data.type);
    if (present === undefined) rrsets.push({ name, type: data.type, ttlSeconds, data: [data] });
    else present.data.push(data);
  }
  return { rrsets, signatures };
}

const targetOf = (data: ResponseRecord['data'] | undefined): DomainName | null =>
  data?.type === 'CNAME' ? data.target : null;

/** Whether a CNAME is the one synthesised from the DNAME beside it (RFC 6672 §5.3.1). */
function isMade({ name, type, data }: RRset, rrsets: readonly RRset[]): boolean {
  if (type !== 'CNAME') return false;
  return rrsets.some(({ name: above, type: other, data: [renamed] }) => {
    if (other !== 'DNAME' || renamed?.type !== 'DNAME' || name === above || !isAtOrBelow(name, above)) return false;
    const prefix = above === ROOT ? name : name.slice(0, -above.length - 1);
    return targetOf(data[0]) === (renamed.target === ROOT ? prefix : `${prefix}.${renamed.target}`);
  });
}

/** The fields of an RRSIG (RFC 4034 §3.1); null where it is malformed. */
function readSignature(record: ResponseRecord) {
  const { data } = record;
  if (!('octets' in data)) return null;
  const octets = Buffer.from(data.octets, 'latin1');
  const signer = octets.length < 18 ? null : readWireName(octets, 18);
  if (signer === null) return null;
  return {
    owner: record.name,
    covered: octets.readUInt16BE(0),
    algorithm: octets[2],
    labels: octets.readUInt8(3),
    ttlSeconds: octets.readUInt32BE(4),
    until: octets.readUInt32BE(8),
    from: octets.readUInt32BE(12),
    tag: octets.readUInt16BE(16),
    signer: signer.name,
    start: data.octets.slice(0, signer.end),
    signature: octets.subarray(signer.end),
  };
}

type Signature = NonNullable<ReturnType<typeof readSignature>>;

/** Whether it was made from a wildcard. @throws Bogus when no signature is valid */
function checkSignatures(
  apex: DomainName,
  rrset: RRset,
  section: Section,
  keys: readonly string[],
  nowMs: EpochMs,
): { isExpanded: boolean } {
  const code = codeOfType(rrset.type);
  const what = `${typeName(code)} of ${rrset.name}`;
  const own = section.signatures
    .map(readSignature)
    .filter((each) => each !== null && each.owner === rrset.name && each.covered === code && each.signer === apex)
    .filter((each) => each !== null);
  if (own.length === 0) throw new Bogus(`${what} has no signature (RRSIG), but the zone ${apex} is signed.`);
  const current = own.filter(({ from, until }) => !isAfter(from, nowMs) && isAfter(until, nowMs));
  const [first] = own;
  if (current.length === 0 && first !== undefined) {
    const isOver = !isAfter(first.until, nowMs);
    const at = dateOf(isOver ? first.until : first.from, nowMs);
    throw new Bogus(`The signature of ${what} ${isOver ? 'expired at' : 'is not valid before'} ${at}.`);
  }
  const valid = current.find((each) => keys.some((key) => isValid(each, key, rrset)));
  if (valid === undefined) throw new Bogus(`The signature of ${what} was not made with a key of the zone ${apex}.`);
  return { isExpanded: valid.labels < labelCount(rrset.name) };
}

/** RFC 4034 §3.1.5: times are compared as serials. */
const isAfter = (seconds: number, nowMs: EpochMs): boolean => ((seconds - Math.floor(nowMs / 1000)) | 0) > 0;

/** The moment near now that 32 bits stand for. */
const dateOf = (seconds: number, nowMs: EpochMs): string => {
  const now = Math.floor(nowMs / 1000);
  return new Date((now + ((seconds - now) | 0)) * 1000).toISOString();
};

function isValid({ algorithm, labels, tag, ttlSeconds, start, signature }: Signature, key: string, rrset: RRset) {
  const count = labelCount(rrset.name);
  if (algorithm !== ALGORITHM || tag !== keyTag(key) || labels > count) return false;
  const owner = labels < count ? ['*', ...rrset.name.split('.').slice(count - labels)].join('.') : rrset.name;
  const data = Buffer.from(start + canonicalRRset(rrset, owner, ttlSeconds), 'latin1');
  const numbers = Buffer.from(key.slice(4), 'latin1');
  if (numbers.length !== 64) return false;
  const [x, y] = [numbers.subarray(0, 32), numbers.subarray(32)].map((number) => number.toString('base64url'));
  const publicKey = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' });
  return verify('sha256', data, { key: publicKey, dsaEncoding: 'ieee-p1363' }, signature);
}

/** One NSEC record of a zone's chain. */
interface Nsec {
  owner: DomainName;
  /** The closest ancestor of a name that exists according to this record. */
  encloser(name: DomainName): DomainName;
  has(type: number): boolean;
  /** Whether it proves that a name does not exist, or is an empty non-terminal. */
  covers(name: DomainName): boolean;
  /** Whether it proves that a name exists, but is an empty non-terminal. */
  empties(name: DomainName): boolean;
}

function readNsec(apex: DomainName, { name: owner, data: [data] }: RRset): Nsec | null {
  if (data === undefined || !('octets' in data)) return null;
  const octets = Buffer.from(data.octets, 'latin1');
  const next = readWireName(octets, 0);
  if (next === null) return null;
  const has = (type: number) => hasType(octets.subarray(next.end), type);
  // An NSEC at a cut or a DNAME says nothing about the names below it (RFC 6840 §4.1).
  const isCut = has(TYPE_CODES.DNAME) || (has(TYPE_CODES.NS) && !has(TYPE_CODES.SOA));
  const covers = (name: DomainName) =>
    orderKey(owner) < orderKey(name) &&
    (next.name === apex || orderKey(name) < orderKey(next.name)) &&
    !(isCut && isAtOrBelow(name, owner));
  return {
    owner,
    has,
    covers,
    empties: (name) => covers(name) && isAtOrBelow(next.name, name),
    encloser(name) {
      let above = parentOf(name);
      while (!isAtOrBelow(owner, above) && !isAtOrBelow(next.name, above)) above = parentOf(above);
      return above;
    },
  };
}

/** RFC 4034 §4.1.2. */
function hasType(bitmap: Buffer, type: number): boolean {
  for (let at = 0; at + 2 <= bitmap.length; at += 2 + (bitmap[at + 1] ?? 0)) {
    if (bitmap[at] !== type >>> 8) continue;
    const octet = (type & 0xff) >>> 3;
    return octet < (bitmap[at + 1] ?? 0) && ((bitmap[at + 2 + octet] ?? 0) & (0x80 >>> (type & 7))) !== 0;
  }
  return false;
}

/** RFC 4035 §5.4: neither the name nor a wildcard for it exists. */
function lacksName(chain: readonly Nsec[], name: DomainName): boolean {
  const covering = chain.find((nsec) => nsec.covers(name) && !nsec.empties(name));
  if (covering === undefined) return false;
  const wildcard = wildcardBelow(covering.encloser(name));
  return chain.some((nsec) => nsec.covers(wildcard) && !nsec.empties(wildcard));
}

/** The name exists without the type, or a wildcard without the type matches it. */
function lacksType(chain: readonly Nsec[], name: DomainName, type: number): boolean {
  const isEmpty = (at: DomainName): boolean =>
    chain.some((nsec) => nsec.empties(at) || (nsec.owner === at && !nsec.has(type) && !nsec.has(TYPE_CODES.CNAME)));
  if (isEmpty(name)) return true;
  const covering = chain.find((nsec) => nsec.covers(name));
  return covering !== undefined && isEmpty(wildcardBelow(covering.encloser(name)));
}
