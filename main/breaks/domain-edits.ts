import { CNAME_TARGET } from '../base/config.ts';
import { isWildcard } from '../contract/wildcards.ts';
import { absoluteText, isAtOrBelow, parentOf, type DomainName } from '../model/dns-name.ts';

/** The state of a custom domain before a break. */
export interface DomainFacts {
  hostname: string;
  kind: 'apex' | 'subdomain';
  /** The apex of its zone. */
  zone: DomainName;
  supportsAlias: boolean;
  verifiedBefore: boolean;
  /** The current records at a name, in zone-file notation with absolute names. */
  at: (name: DomainName) => readonly ZoneRecord[];
  parameters: Readonly<Record<string, string | number>>;
}

export interface ZoneRecord {
  type: string;
  ttlSeconds: number;
  value: string;
}

/** The changes at one name: types to remove, and records to add. */
export interface NameEdit {
  name: DomainName;
  drop: readonly string[];
  add: readonly ZoneRecord[];
  /** When added records become visible; immediately if omitted. */
  afterMs?: number;
}

/** The edits, or a sentence that explains why this domain cannot be broken that way. */
export type DomainEdits = readonly NameEdit[] | string;

/** Types that determine where a hostname points. */
const LEADING = ['A', 'AAAA', 'CNAME', 'ALIAS', 'ANAME'];

/** Addresses where nothing answers: documentation addresses, and a loopback address without a server. */
const ELSEWHERE = '192.0.2.1';
const MOVED_TO = '192.0.2.80';
const UNSERVED = '127.0.0.2';

/** The loopback address of a local proxy while `domain.proxied` runs. */
export const PROXY_ADDRESS = '127.0.0.3';

/** One CNAME more than Vivarium and most resolvers follow. */
const CHAIN_LENGTH = 11;

const TARGET = absoluteText(CNAME_TARGET);
const OTHER_CA = '0 issue "other-ca.example"';

/** By entry of the family `domain`: the record edits after which verification reports the code of that name. */
export const DOMAIN_EDITS: Readonly<Record<string, (facts: DomainFacts) => DomainEdits>> = {
  'domain.no-record': (facts) => [leading(facts)],
  'domain.zone-doubled': (facts) => {
    const { hostname, zone } = facts;
    return [leading(facts), { name: `${hostname}.${zone}`, drop: [], add: rightRecords(facts) }];
  },
  'domain.ns-mismatch': (facts) =>
    ofSubdomain(facts, () => [{ name: facts.hostname, drop: [], add: [record(facts, 'NS', 'ns1.lame.invalid.')] }]),
  'domain.lookup-failed': (facts) =>
    facts.supportsAlias
      ? [leading(facts, record(facts, 'ALIAS', 'gone.invalid.'))]
      : `its zone ${facts.zone} has no ALIAS records, which this break needs.`,
  'domain.wrong-target': (facts) =>
    ofSubdomain(facts, () => [leading(facts, record(facts, 'CNAME', 'app.example.net.'))]),
  'domain.stale-target': (facts) =>
    ofSubdomain(facts, () => [leading(facts, record(facts, 'CNAME', `removed.${TARGET}`))]),
  'domain.cname-with-siblings': (facts) =>
    ofSubdomain(facts, () => [leading(facts, record(facts, 'CNAME', TARGET), record(facts, 'TXT', '"left over"'))]),
  'domain.a-conflict': (facts) =>
    ofSubdomain(facts, () => [leading(facts, record(facts, 'CNAME', TARGET), record(facts, 'A', ELSEWHERE))]),
  'domain.cname-at-apex': (facts) => ofApex(facts, () => [leading(facts, record(facts, 'CNAME', TARGET))]),
  'domain.alias-mismatch': (facts) => ofApex(facts, () => [leading(facts, record(facts, 'A', ELSEWHERE))]),
  'domain.chain-loop': (facts) => ofSubdomain(facts, () => chain(facts, [`loop.${facts.hostname}`, facts.hostname])),
  'domain.chain-too-long': (facts) =>
    ofSubdomain(facts, () => {
      const hops = Array.from({ length: CHAIN_LENGTH }, (_, index) => `hop${index + 1}.${facts.hostname}`);
      return chain(facts, [...hops, CNAME_TARGET]);
    }),
  'domain.not-propagated': (facts) => {
    const { delayMs } = facts.parameters;
    return [{ ...leading(facts, ...rightRecords(facts)), afterMs: typeof delayMs === 'number' ? delayMs : 0 }];
  },
  'domain.caa-forbids': (facts) => {
    const { hostname, zone } = facts;
    // A name with a CNAME cannot have CAA records; CAs then check the parent names.
    const name = hostname === zone ? hostname : parentOf(hostname);
    if (!isAtOrBelow(name, zone)) return `its zone begins at ${zone}, and the parent is not in a local zone.`;
    if (facts.at(name).some(({ type }) => type === 'CNAME')) return `${name} has a CNAME, so it can’t have CAA.`;
    return [{ name, drop: ['CAA'], add: [record(facts, 'CAA', OTHER_CA)] }];
  },
  'domain.caa-on-target': (facts) =>
    ofSubdomain(facts, () => {
      const edge = `edge.${facts.hostname}`;
      const [first, second] = chain(facts, [edge, CNAME_TARGET]);
      if (first === undefined || second === undefined) return [];
      return [first, { ...second, add: [...second.add, record(facts, 'CAA', OTHER_CA)] }];
    }),
  'domain.proxied': (facts) => [leading(facts, record(facts, 'A', PROXY_ADDRESS))],
  'domain.not-served': (facts) => [leading(facts, record(facts, 'A', UNSERVED))],
  'domain.wildcard-risk': (facts) => {
    const { hostname, kind, zone } = facts;
    if (isWildcard(hostname)) return 'it is a wildcard itself.';
    const above = kind === 'apex' || hostname === zone ? hostname : parentOf(hostname);
    return [{ name: `*.${above}`, drop: LEADING, add: [record(facts, 'CNAME', TARGET)] }];
  },
  'domain.moved': (facts) =>
    facts.verifiedBefore
      ? [leading(facts, record(facts, 'A', MOVED_TO))]
      : 'it has never been verified, so it can’t have moved; verify it first.',
};

function ofSubdomain({ hostname, kind, zone }: DomainFacts, edits: () => DomainEdits): DomainEdits {
  if (kind === 'subdomain' && hostname !== zone) return edits();
  return `it is the apex of its zone, which cannot have a CNAME; choose a subdomain.`;
}

function ofApex({ kind }: DomainFacts, edits: () => DomainEdits): DomainEdits {
  return kind === 'apex' ? edits() : 'it is a subdomain, which has a CNAME; choose an apex.';
}

/** Replaces the records that determine where the hostname points. */
const leading = ({ hostname }: DomainFacts, ...add: ZoneRecord[]): NameEdit => ({ name: hostname, drop: LEADING, add });

/** The records from the domain's instructions. */
function rightRecords(facts: DomainFacts): ZoneRecord[] {
  if (facts.kind === 'subdomain' && facts.hostname !== facts.zone) return [record(facts, 'CNAME', TARGET)];
  if (facts.supportsAlias) return [record(facts, 'ALIAS', TARGET)];
  return [record(facts, 'A', '127.0.0.1'), record(facts, 'AAAA', '::1')];
}

/** A CNAME chain from the hostname through the names. */
function chain(facts: DomainFacts, names: readonly DomainName[]): NameEdit[] {
  return names.map((target, index) => {
    const cname = record(facts, 'CNAME', absoluteText(target));
    const before = names[index - 1];
    return before === undefined ? leading(facts, cname) : { name: before, drop: LEADING, add: [cname] };
  });
}

/** A record with the TTL of the existing ones. */
function record({ hostname, at }: DomainFacts, type: string, value: string): ZoneRecord {
  const present = at(hostname).find((each) => LEADING.includes(each.type));
  return { type, ttlSeconds: present?.ttlSeconds ?? 300, value };
}
