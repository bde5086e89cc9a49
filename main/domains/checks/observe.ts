import { HOSTNAME_LENGTH_MAX } from '../../base/text/hostname.ts';
import { isWildcard } from '../../contract/hostnames.ts';
import { canonicalAddress } from '../../model/address.ts';
import type { DnsLookup } from '../../model/dns-lookup.ts';
import { parentOf } from '../../model/dns-name.ts';
import { apexOf, type DomainKind } from '../public-suffix.ts';
import { isAbsent, resolve, type Resolution } from './resolution.ts';

/** All DNS observations of a verification: a plain value, which makes its evaluation testable without DNS. */
export interface Observation {
  hostname: string;
  /** The CNAMEs from the hostname on, one query each, to detect loops that a resolver would hide. */
  alias: Resolution;
  addresses: AddressPair;
  /** The resolution of the platform's target, queried the same way. */
  target: AddressPair;
  /** Records of other types at a subdomain, which a CNAME there excludes. */
  others: readonly Resolution[];
  /** A random sibling of the hostname, to detect wildcards; null when the name would be too long, or for a wildcard. */
  sibling: ({ name: string } & AddressPair) | null;
  /** The hostname with its zone appended once more; null unless the hostname itself has no record. */
  doubled: Resolution | null;
  /** The TXT records at the queried names that can prove a claim. */
  proofs: readonly Resolution[];
}

/** The types of `others`: SOA shows a zone of the hostname's own. */
const OTHER_TYPES = ['SOA', 'TXT', 'MX', 'CAA'] as const;

export interface AddressPair {
  a: Resolution;
  aaaa: Resolution;
}

export interface ObserveOptions {
  /** In normal form. */
  hostname: string;
  kind: DomainKind;
  /** The platform's name that custom domains point at. */
  cnameTarget: string;
  /** A random label: long, of letters and digits, without a record of its own. */
  randomLabel: () => string;
  /** The hostname's zone; by default its registered domain. */
  zone?: string;
  /** The names of TXT records that can prove a claim. */
  proofNames?: readonly string[];
}

/**
 * Queries a hostname's CNAMEs, addresses and, for a subdomain, other records; the platform target's addresses, and a
 * random sibling's. A healthy subdomain takes eleven queries, an apex seven; the worst 11 × 11 by the cap on CNAMEs.
 * Only chains run in sequence, and the doubled name is queried if the hostname has no record.
 */
export async function observe(dns: DnsLookup, options: ObserveOptions): Promise<Observation> {
  const { hostname, kind, cnameTarget, proofNames = [] } = options;
  const siblingName = nameOfSibling(options);
  const [alias, addresses, target, others, sibling, proofs] = await Promise.all([
    resolve(dns, hostname, 'CNAME', cnameTarget),
    addressesOf(dns, hostname),
    addressesOf(dns, cnameTarget),
    Promise.all(kind === 'apex' ? [] : OTHER_TYPES.map((type) => resolve(dns, hostname, type, cnameTarget))),
    siblingName === null ? null : addressesOf(dns, siblingName),
    Promise.all([...new Set(proofNames)].map((name) => resolve(dns, name, 'TXT'))),
  ]);
  const absent = [alias, addresses.a, addresses.aaaa].every(isAbsent) && alias.chain.length === 0;
  return {
    hostname,
    alias,
    addresses,
    target,
    others,
    sibling: siblingName === null || sibling === null ? null : { name: siblingName, ...sibling },
    doubled: absent ? await doubledName(dns, options) : null,
    proofs,
  };
}

async function doubledName(dns: DnsLookup, options: ObserveOptions): Promise<Resolution | null> {
  const { hostname, kind, cnameTarget } = options;
  const name = `${hostname}.${options.zone ?? apexOf(hostname)}`;
  if (name.length > HOSTNAME_LENGTH_MAX) return null;
  return kind === 'apex' ? resolve(dns, name, 'A') : resolve(dns, name, 'CNAME', cnameTarget);
}

async function addressesOf(dns: DnsLookup, name: string): Promise<AddressPair> {
  const [a, aaaa] = await Promise.all([resolve(dns, name, 'A'), resolve(dns, name, 'AAAA')]);
  return { a, aaaa };
}

/**
 * Under the same parent for a subdomain; below an apex, where the apex's own wildcard would match. None for a wildcard,
 * which is supposed to match.
 */
function nameOfSibling({ hostname, kind, randomLabel }: ObserveOptions): string | null {
  if (isWildcard(hostname)) return null;
  const name = `${randomLabel()}.${kind === 'apex' ? hostname : parentOf(hostname)}`;
  return name.length > HOSTNAME_LENGTH_MAX ? null : name;
}

/** The addresses at the end of a resolution, in canonical form, sorted, without duplicates. */
export function addressesIn({ end }: Resolution): string[] {
  if (end.kind !== 'records') return [];
  const found = end.records.flatMap(({ data }) => (data.address === undefined ? [] : [canonicalAddress(data.address)]));
  return [...new Set(found)].sort();
}

/** IPv4 first, then IPv6. */
export const allAddresses = ({ a, aaaa }: AddressPair): string[] => [...addressesIn(a), ...addressesIn(aaaa)];

/** Whether the records belong to the name itself, not to a CNAME's target. */
export const isDirect = ({ chain, end }: Resolution): boolean => chain.length === 0 && end.kind === 'records';

export const directAddresses = ({ a, aaaa }: AddressPair): string[] => [a, aaaa].filter(isDirect).flatMap(addressesIn);

/** `A 192.0.2.1, AAAA 2001:db8::1`. */
export const addressText = (addresses: readonly string[]): string =>
  addresses.map((address) => `${address.includes(':') ? 'AAAA' : 'A'} ${address}`).join(', ');
