import type { Clock, ClockAdjustment, EpochMs } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { DAY_MS } from '../contract/duration.ts';
import { factsOf, type Plan } from '../contract/plans.ts';
import { LEAF_LIFETIME_MS, RENEWAL_LEFT_MS, type Leaf } from '../model/leaf.ts';
import {
  ATTEMPT_INTERVAL_MS,
  nextCertificate,
  type IssuanceState,
  nextHostname,
  RECHECK_INTERVAL_MS,
  NO_CERTIFICATE,
} from './hostname-machine.ts';
import type { AttachedDomain, DomainSet } from './domain-set.ts';
import { isGivenUp } from './personas/provider.ts';
import { nextTurn } from '../base/turns.ts';
import type { CheckCode } from '../contract/check-codes.ts';
import { VivariumError } from '../contract/errors.ts';
import type { Verifier, VerifierOptions } from './checks/verify.ts';
import { type CertificateIssuer, gateChecks } from './issue.ts';
import type { DomainWork } from './schedule.ts';

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
function underPlan(domain: AttachedDomain, plan: Plan, nowMs: EpochMs): AttachedDomain {
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

/** Verifies domains again when something that refused them has changed. */
export function createReverification(
  options: Pick<VerifierOptions, 'dns' | 'issuer' | 'settings'> & {
    clock: Pick<Clock, 'now'>;
    log: Pick<Log, 'error'>;
  },
  parts: { domains: DomainSet; verifier: Verifier; inTurn: DomainWork['inTurn']; isStarted: () => boolean },
) {
  const { clock, log, dns, issuer, settings } = options;
  const { domains, verifier, inTurn, isStarted } = parts;
  let recordsAt: 'rest' | 'looking' | 'changed' = 'rest';

  async function verifyAgain({ hostname }: AttachedDomain, isDue = (_: AttachedDomain) => Promise.resolve(true)) {
    try {
      await inTurn(hostname, async (domain) => {
        if (await isDue(domain)) await verifier.verify(domain, true);
      });
    } catch (error) {
      log.error('A domain could not be verified again; re-verify it', { hostname, error });
    }
  }

  async function isPermitted(domain: AttachedDomain): Promise<boolean> {
    if (!waitsForCaa(domain)) return false;
    const [gate] = await gateChecks(dns, domain.hostname, settings().identity);
    return gate.outcome === 'ok';
  }

  async function recordsChanged(): Promise<void> {
    const isLooking = recordsAt !== 'rest';
    recordsAt = 'changed';
    if (isLooking) return;
    while (isStarted() && recordsAt === 'changed') {
      recordsAt = 'looking';
      await Promise.all(
        domains
          .list()
          .filter(waitsForCaa)
          .map((domain) => verifyAgain(domain, isPermitted)),
      );
    }
    recordsAt = 'rest';
  }

  return {
    /** Call after the root was extended; domains waiting for that have their certificates when this resolves. */
    async issuerExtended(): Promise<void> {
      const waiting = domains.list().filter(waitsForIssuer);
      await Promise.all(
        waiting.filter(({ hostname }) => issuer.permits(hostname)).map((domain) => verifyAgain(domain)),
      );
    },
    /** Call when answers of the local DNS may have changed; verifies domains again that CAA refused and now permits. */
    recordsChanged,
    /** Call after the resolver or the CA's identity changed; verifies domains without an answer or refused by CAA. */
    async lookupsChanged(): Promise<void> {
      const unknown = domains.list().filter(isUnknown);
      await Promise.all([...unknown.map((domain) => verifyAgain(domain)), recordsChanged()]);
    },
    /**
     * Issues leaves for domains whose certificates have none, because another root signed those: with the same dates on
     * the app's clock if the root permits the name, otherwise as for a new domain.
     */
    async issueMissing(): Promise<void> {
      const isMissing = (domain: AttachedDomain) =>
        domain.certificate.state === 'issued' &&
        (domains.leaf(domain.hostname) === null || !issuer.permits(domain.hostname));
      const refused: AttachedDomain[] = [];
      for (const domain of domains.list().filter(isMissing)) {
        const leaf = issueAgain(domain, issuer);
        if (leaf === null) refused.push(domain);
        const [seriesAtMs, nextAttemptAtMs] = [clock.now(), clock.now()];
        const pending = { ...NO_CERTIFICATE, state: 'pending', seriesAtMs, nextAttemptAtMs } as const;
        domains.put({ ...domain, ...(leaf === null && { certificate: pending }) }, leaf);
        await nextTurn();
      }
      await domains.commit();
      await Promise.all(refused.map((domain) => verifyAgain(domain)));
    },
  };
}

/** Whether the root's constraints refused the domain at its last attempt, given up or not. */
const waitsForIssuer = ({ state, certificateChecks }: AttachedDomain): boolean =>
  state === 'verified' && certificateChecks.some(({ code }) => code === 'suffix_not_permitted');

/** Whether the last check of the hostname got no answer. */
const isUnknown = ({ checks }: AttachedDomain): boolean => checks.some(({ outcome }) => outcome === 'unknown');

/** A leaf with the dates of the domain's certificate; null if the root cannot sign it. */
function issueAgain({ hostname, certificate }: AttachedDomain, issuer: CertificateIssuer): Leaf | null {
  const { notAfterMs } = certificate;
  if (notAfterMs === null || !issuer.permits(hostname)) return null;
  try {
    return { ...issuer.issue(hostname), notBeforeMs: notAfterMs - LEAF_LIFETIME_MS, notAfterMs };
  } catch (error) {
    if (error instanceof VivariumError) return null;
    throw error;
  }
}

const OF_CAA: ReadonlySet<CheckCode> = new Set(['caa_forbids', 'caa_on_target', 'caa_lookup_failed']);

/** Whether CAA refused the domain at its last attempt, or would refuse its renewal. */
const waitsForCaa = ({ state, certificateChecks }: AttachedDomain): boolean =>
  state === 'verified' &&
  certificateChecks.some(({ code, outcome }) => OF_CAA.has(code) && (outcome === 'failed' || outcome === 'unknown'));
