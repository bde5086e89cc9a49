import type { EpochMs } from '../base/clock.ts';
import type { Check } from '../contract/domains.ts';
import type { CertificateStanding } from './certificate-machine.ts';
import type { HostnameStanding } from './hostname-machine.ts';
import type { DomainKind } from './public-suffix.ts';

/** A hostname that is attached to a project: a value, replaced as a whole at every change. */
export interface AttachedDomain extends HostnameStanding {
  /** Never given twice, unlike a hostname, which can be attached again. */
  readonly id: string;
  /** In normal form. */
  readonly hostname: string;
  readonly projectId: string;
  readonly kind: DomainKind;
  readonly attachedAtMs: EpochMs;
  readonly lastCheckedAtMs: EpochMs | null;
  readonly nextCheckAtMs: EpochMs | null;
  /** Of the DNS, as they were when it was last looked at. */
  readonly checks: readonly Check[];
  /** Of what stands between the hostname and its certificate. */
  readonly certificateChecks: readonly Check[];
  readonly certificate: CertificateStanding;
}
