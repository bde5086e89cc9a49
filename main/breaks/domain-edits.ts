import { CNAME_TARGET } from '../base/config.ts';
import { absoluteText, type DomainName } from '../model/dns-name.ts';

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
export const LEADING = ['A', 'AAAA', 'CNAME', 'ALIAS', 'ANAME'];

/** The loopback address of a local proxy while `domain.proxied` runs. */
export const PROXY_ADDRESS = '127.0.0.3';

export const TARGET = absoluteText(CNAME_TARGET);

export function ofSubdomain({ hostname, kind, zone }: DomainFacts, edits: () => DomainEdits): DomainEdits {
  if (kind === 'subdomain' && hostname !== zone) return edits();
  return `it is the apex of its zone, which cannot have a CNAME; choose a subdomain.`;
}

export function ofApex({ kind }: DomainFacts, edits: () => DomainEdits): DomainEdits {
  return kind === 'apex' ? edits() : 'it is a subdomain, which has a CNAME; choose an apex.';
}

/** Replaces the records that determine where the hostname points. */
export const leading = ({ hostname }: DomainFacts, ...add: ZoneRecord[]): NameEdit => ({
  name: hostname,
  drop: LEADING,
  add,
});

/** The records from the domain's instructions. */
export function rightRecords(facts: DomainFacts): ZoneRecord[] {
  if (facts.kind === 'subdomain' && facts.hostname !== facts.zone) return [record(facts, 'CNAME', TARGET)];
  if (facts.supportsAlias) return [record(facts, 'ALIAS', TARGET)];
  return [record(facts, 'A', '127.0.0.1'), record(facts, 'AAAA', '::1')];
}

/** A CNAME chain from the hostname through the names. */
export function chain(facts: DomainFacts, names: readonly DomainName[]): NameEdit[] {
  return names.map((target, index) => {
    const cname = record(facts, 'CNAME', absoluteText(target));
    const before = names[index - 1];
    return before === undefined ? leading(facts, cname) : { name: before, drop: LEADING, add: [cname] };
  });
}

/** A record with the TTL of the existing ones. */
export function record({ hostname, at }: DomainFacts, type: string, value: string): ZoneRecord {
  const present = at(hostname).find((each) => LEADING.includes(each.type));
  return { type, ttlSeconds: present?.ttlSeconds ?? 300, value };
}
