import type { EpochMs } from '../../base/clock.ts';
import type { ZoneFacts } from '../checks/instructions.ts';
import { canonicalAddress } from '../../model/address.ts';
import { dnsName, isAtOrBelow, parentOf } from '../../model/dns-name.ts';
import type { DomainRules } from './claims.ts';
import type { DomainKind } from '../public-suffix.ts';

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

/** The facts that verification uses besides its DNS observations. */
export interface VerificationFacts extends DomainRules {
  kind: DomainKind;
  /** Whether the domain has ever been verified since it was attached. */
  verifiedBefore: boolean;
  /** Null for a hostname outside Vivarium's zones, or with another resolver. */
  provider: ProviderFacts | null;
}

/** Whether a name of the platform is a valid CNAME target. */
export const isTarget = (
  name: string,
  { persona, cnameTarget }: Pick<DomainRules, 'persona' | 'cnameTarget'>,
): boolean => name === cnameTarget || (persona.takesAnyTarget && isAtOrBelow(name, parentOf(cnameTarget)));

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
  rules: Pick<VerificationFacts, 'kind' | 'persona' | 'cnameTarget'>,
  targetAddresses: readonly string[],
): boolean {
  const cnames = records.filter(({ type }) => type === 'CNAME');
  const aliases = records.filter(isAlias);
  const addresses = records.filter(isAddress);
  const leadsThere = ({ value }: ProviderRecord): boolean => isTarget(dnsName(value), rules);
  const own = addresses.every(({ value }) => targetAddresses.includes(canonicalAddress(value)));
  if (rules.kind === 'subdomain') {
    if (rules.persona.takesAddresses && own && addresses.length > 0) return cnames.length + aliases.length === 0;
    return cnames.length === 1 && cnames.every(leadsThere) && aliases.length === 0 && addresses.length === 0;
  }
  if (cnames.length > 0 || !own) return false;
  return aliases.length === 0 ? addresses.length > 0 : supportsAlias && aliases.every(leadsThere);
}
