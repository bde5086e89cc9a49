import type { ProviderFacts } from './provider.ts';
import type { DomainKind } from './public-suffix.ts';

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
