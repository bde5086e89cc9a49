import type { EpochMs } from '../base/clock.ts';
import { DAY_MS } from '../base/duration.ts';
import type { Plan } from '../contract/projects.ts';
import { LEAF_LIFETIME_MS, RENEWAL_LEFT_MS } from '../model/leaf.ts';
import { ATTEMPT_INTERVAL_MS, nextCertificate, type CertificateStanding } from './certificate-machine.ts';
import type { AttachedDomain } from './domain-set.ts';
import { nextHostname, RECHECK_INTERVAL_MS } from './hostname-machine.ts';

/** A domain after its project has got a plan; the same value when that changes nothing. */
export function underPlan(domain: AttachedDomain, plan: Plan, nowMs: EpochMs): AttachedDomain {
  const isLost = plan === 'free';
  const hostname = nextHostname(domain, { type: isLost ? 'plan_lost' : 'plan_returned' });
  if (hostname === domain) return domain;
  const { state, stateBefore, verifiedAtMs } = hostname;
  const certificate = nextCertificate(domain.certificate, { type: isLost ? 'suspended' : 'returned' }).state;
  return { ...domain, state, stateBefore, verifiedAtMs, certificate, nextCheckAtMs: isLost ? null : nowMs };
}

/** A new leaf is this far from its renewal, with a day to spare; one that is further away is from the future. */
const RENEWAL_AHEAD_MS_MAX = LEAF_LIFETIME_MS - RENEWAL_LEFT_MS + DAY_MS;

/**
 * A domain after the clock went back: what was to be done at a moment that is far off now is done as soon as it would
 * be after such a wait, what happened in the future happened just now, and a leaf from there is replaced.
 */
export function afterClockWentBack(domain: AttachedDomain, nowMs: EpochMs, issuanceDelayMs: number): AttachedDomain {
  const { nextCheckAtMs, lastCheckedAtMs, verifiedAtMs, certificate } = domain;
  const past = (atMs: EpochMs | null): EpochMs | null => (atMs === null ? null : Math.min(atMs, nowMs));
  return {
    ...domain,
    lastCheckedAtMs: past(lastCheckedAtMs),
    verifiedAtMs: past(verifiedAtMs),
    nextCheckAtMs: nextCheckAtMs === null ? null : Math.min(nextCheckAtMs, nowMs + RECHECK_INTERVAL_MS),
    certificate: pulledBack(certificate, nowMs, issuanceDelayMs),
  };
}

function pulledBack(standing: CertificateStanding, nowMs: EpochMs, issuanceDelayMs: number): CertificateStanding {
  const { state, nextAttemptAtMs, seriesAtMs, renewAtMs } = standing;
  if (nextAttemptAtMs === null) return standing;
  if (state === 'issued' && renewAtMs !== null && seriesAtMs === null) {
    return renewAtMs - nowMs > RENEWAL_AHEAD_MS_MAX ? { ...standing, nextAttemptAtMs: nowMs } : standing;
  }
  const waitMs = state === 'pending' ? Math.max(ATTEMPT_INTERVAL_MS, issuanceDelayMs) : RECHECK_INTERVAL_MS;
  const next = Math.min(nextAttemptAtMs, nowMs + waitMs);
  return { ...standing, nextAttemptAtMs: next, seriesAtMs: seriesAtMs === null ? null : Math.min(seriesAtMs, next) };
}
