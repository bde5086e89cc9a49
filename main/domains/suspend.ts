import type { EpochMs } from '../base/clock.ts';
import { DAY_MS } from '../contract/duration.ts';
import { factsOf, type Plan } from '../contract/plans.ts';
import { LEAF_LIFETIME_MS, RENEWAL_LEFT_MS } from '../model/leaf.ts';
import { ATTEMPT_INTERVAL_MS, nextCertificate, type IssuanceState } from './certificate-machine.ts';
import type { AttachedDomain } from './domain-set.ts';
import { isGivenUp } from './personas/persona-words.ts';
import { nextHostname, RECHECK_INTERVAL_MS } from './hostname-machine.ts';

/** A domain after its project's plan changed; the same value when that changes nothing. */
export function underPlan(domain: AttachedDomain, plan: Plan, nowMs: EpochMs): AttachedDomain {
  const isLost = !factsOf(plan).domains;
  const hostname = nextHostname(domain, { type: isLost ? 'plan_lost' : 'plan_returned' });
  if (hostname === domain) return domain;
  const { state, stateBefore, verifiedAtMs } = hostname;
  const certificate = nextCertificate(domain.certificate, { type: isLost ? 'suspended' : 'returned' }).state;
  return { ...domain, state, stateBefore, verifiedAtMs, certificate, nextCheckAtMs: isLost ? null : nowMs };
}

/**
 * The longest time from issuance to renewal, plus a day; a renewal further ahead comes from before the clock went back.
 */
const RENEWAL_AHEAD_MS_MAX = LEAF_LIFETIME_MS - RENEWAL_LEFT_MS + DAY_MS;

/**
 * A domain after the clock went back, or returned to real time: pending moments move to within their normal
 * interval, past moments move to now, a leaf from the future is replaced, and checks or a first issuance that were
 * given up begin again.
 */
export function afterClockWentBack(domain: AttachedDomain, nowMs: EpochMs, issuanceDelayMs: number): AttachedDomain {
  const { nextCheckAtMs, lastCheckedAtMs, verifiedAtMs, seriesAtMs, certificate } = domain;
  const begins = isGivenUp(domain);
  const past = (atMs: EpochMs | null): EpochMs | null => (atMs === null ? null : Math.min(atMs, nowMs));
  return {
    ...domain,
    lastCheckedAtMs: past(lastCheckedAtMs),
    verifiedAtMs: past(verifiedAtMs),
    nextCheckAtMs: begins
      ? nowMs
      : nextCheckAtMs === null
        ? null
        : Math.min(nextCheckAtMs, nowMs + RECHECK_INTERVAL_MS),
    seriesAtMs: begins ? nowMs : past(seriesAtMs),
    certificate:
      domain.state === 'verified' && certificate.state === 'failed'
        ? nextCertificate(certificate, { type: 'reverified', atMs: nowMs, delayMs: issuanceDelayMs }).state
        : limitMoments(certificate, nowMs, issuanceDelayMs),
  };
}

function limitMoments(current: IssuanceState, nowMs: EpochMs, issuanceDelayMs: number): IssuanceState {
  const { state, nextAttemptAtMs, seriesAtMs, renewAtMs } = current;
  if (nextAttemptAtMs === null) return current;
  if (state === 'issued' && renewAtMs !== null && seriesAtMs === null) {
    return renewAtMs - nowMs > RENEWAL_AHEAD_MS_MAX ? { ...current, nextAttemptAtMs: nowMs } : current;
  }
  const waitMs = state === 'pending' ? Math.max(ATTEMPT_INTERVAL_MS, issuanceDelayMs) : RECHECK_INTERVAL_MS;
  const next = Math.min(nextAttemptAtMs, nowMs + waitMs);
  return { ...current, nextAttemptAtMs: next, seriesAtMs: seriesAtMs === null ? null : Math.min(seriesAtMs, next) };
}
