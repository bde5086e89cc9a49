import type { EpochMs } from '../base/clock.ts';
import type { ZoneFacts } from './instructions.ts';
import { canonicalAddress } from '../model/address.ts';
import { dnsName } from '../model/dns-name.ts';
import type { DomainKind } from './public-suffix.ts';

/**
 * The records that the DNS provider (here Vivarium) has stored for a hostname. They only explain failed checks and
 * never make a check pass.
 */
export interface ProviderFacts extends ZoneFacts {
  /** The records stored for the hostname, or for its wildcard if it has none, visible or not. */
  records: readonly ProviderRecord[];
  /** When the last pending change to these records, removals included, becomes visible; null when none is pending. */
  visibleAtMs: EpochMs | null;
}

/** What verification knows besides its DNS observations. */
export interface VerificationFacts {
  kind: DomainKind;
  /** The platform's name that custom domains point at. */
  cnameTarget: string;
  /** Whether the domain has ever been verified since it was attached. */
  verifiedBefore: boolean;
  /** Null for a hostname outside Vivarium's zones, or with another resolver. */
  provider: ProviderFacts | null;
  /** Null without a claim. */
  claim: Claim | null;
}

/** Another project's domain above the hostname. */
export interface Claim {
  domain: string;
  /** The project's name. */
  project: string;
  /** The TXT record that proves that the domain's owner permits the hostname. */
  proof: { name: string; value: string };
}

export interface ProviderRecord {
  type: string;
  /** The address of an A or AAAA, the target of a CNAME, ALIAS or ANAME. */
  value: string;
}

const isAlias = ({ type }: ProviderRecord): boolean => type === 'ALIAS' || type === 'ANAME';
const isAddress = ({ type }: ProviderRecord): boolean => type === 'A' || type === 'AAAA';

/** An ALIAS or ANAME that the provider stores but does not serve. */
export const unansweredAlias = (provider: ProviderFacts | null): ProviderRecord | undefined =>
  provider !== null && !provider.supportsAlias ? provider.records.find(isAlias) : undefined;

/** Whether the stored records match the instructions, without a contradiction. */
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
