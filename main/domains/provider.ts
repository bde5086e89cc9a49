import type { EpochMs } from '../base/clock.ts';
import type { ZoneFacts } from './instructions.ts';
import { canonicalAddress } from '../model/address.ts';
import { dnsName } from '../model/dns-name.ts';
import type { DomainKind } from './public-suffix.ts';

/**
 * What the hostname's DNS provider has stored, which here is Vivarium itself. It never makes a check pass: it only
 * explains one that failed.
 */
export interface ProviderFacts extends ZoneFacts {
  /** What is stored for the hostname, by its wildcard where it has no records of its own, visible or not. */
  records: readonly ProviderRecord[];
  /** When the last change to these records, a removal included, will be visible; null when all of them are. */
  visibleAtMs: EpochMs | null;
}

/** What verification knows beside what it saw in the DNS. */
export interface VerificationFacts {
  kind: DomainKind;
  /** The platform's name that custom domains point at. */
  cnameTarget: string;
  /** Whether the domain has been verified at any time since it was attached. */
  verifiedBefore: boolean;
  /** Null where the hostname is in no zone of ours, or another resolver than our own was asked. */
  provider: ProviderFacts | null;
}

export interface ProviderRecord {
  type: string;
  /** The address of an A or AAAA, the target of a CNAME, ALIAS or ANAME. */
  value: string;
}

const isAlias = ({ type }: ProviderRecord): boolean => type === 'ALIAS' || type === 'ANAME';
const isAddress = ({ type }: ProviderRecord): boolean => type === 'A' || type === 'AAAA';

/** An ALIAS or ANAME that the provider stores and never answers with. */
export const unansweredAlias = (provider: ProviderFacts | null): ProviderRecord | undefined =>
  provider !== null && !provider.supportsAlias ? provider.records.find(isAlias) : undefined;

/** Whether what is stored is what the instructions ask for, and nothing contradicts it. */
export function isStoredRight(
  { records, supportsAlias }: ProviderFacts,
  kind: DomainKind,
  cnameTarget: string,
  targetAddresses: readonly string[],
): boolean {
  const cnames = records.filter(({ type }) => type === 'CNAME');
  const aliases = records.filter(isAlias);
  const addresses = records.filter(isAddress);
  const leadsThere = ({ value }: ProviderRecord): boolean => dnsName(value) === cnameTarget;
  if (kind === 'subdomain') {
    return cnames.length === 1 && cnames.every(leadsThere) && aliases.length === 0 && addresses.length === 0;
  }
  const own = addresses.every(({ value }) => targetAddresses.includes(canonicalAddress(value)));
  if (cnames.length > 0 || !own) return false;
  return aliases.length === 0 ? addresses.length > 0 : supportsAlias && aliases.every(leadsThere);
}
