import type { Clock, ClockAdjustment, EpochMs } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { DAY_MS } from '../contract/duration.ts';
import { factsOf, type Plan } from '../contract/plans.ts';
import { LEAF_LIFETIME_MS, RENEWAL_LEFT_MS } from '../model/leaf.ts';
import { ATTEMPT_INTERVAL_MS, nextCertificate, type IssuanceState } from './certificate-machine.ts';
import type { AttachedDomain, DomainSet } from './domain-set.ts';
import { isGivenUp } from './personas/persona-words.ts';
import { nextHostname, RECHECK_INTERVAL_MS } from './hostname-machine.ts';

/** Changes of all domains at once, in force and published when they return. */
export function createAdjustments(options: {
  clock: Pick<Clock, 'now'>;
  log: Pick<Log, 'error'>;
  domains: Pick<DomainSet, 'list' | 'put' | 'commitNow'>;
  project: (projectId: string) => { plan: Plan } | null;
  settings: () => { issuanceDelayMs: number };
}) {
  const { clock, log, domains, project } = options;

  function putAll(change: (domain: AttachedDomain) => AttachedDomain): void {
    for (const domain of domains.list()) {
      const changed = change(domain);
      if (changed !== domain) domains.put(changed);
    }
    domains.commitNow();
  }

  function applyPlans(applies: (domain: AttachedDomain) => boolean): void {
    putAll((domain) => {
      const plan = applies(domain) ? project(domain.projectId)?.plan : undefined;
      return plan === undefined ? domain : underPlan(domain, plan, clock.now());
    });
  }

  return {
    /** Call at the start. Suspends nothing: providers' APIs attach under any plan. */
    resume: (): void => applyPlans(({ state }) => state === 'suspended'),
    /** Call after a project's plan has changed. */
    planChanged: (projectId: string): void => applyPlans((domain) => domain.projectId === projectId),
    /**
     * Call after a project's persona has changed: checks its domains immediately by the new one, and starts its rhythm
     * for those that are not verified.
     */
    personaChanged(projectId: string): void {
      const atMs = clock.now();
      putAll((domain) =>
        domain.projectId !== projectId || domain.state === 'suspended'
          ? domain
          : { ...domain, nextCheckAtMs: atMs, seriesAtMs: domain.state === 'verified' ? null : atMs },
      );
    },
    clockAdjusted({ backward, isReset }: Pick<ClockAdjustment, 'backward' | 'isReset'>): void {
      // When the clock returns from the past, attempts may have been given up although they were in time.
      if (!backward && !isReset) return;
      const { issuanceDelayMs } = options.settings();
      try {
        putAll((domain) => afterClockWentBack(domain, clock.now(), issuanceDelayMs));
      } catch (error) {
        log.error('Domains could not be adjusted to the clock', { error });
      }
    },
  };
}

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
