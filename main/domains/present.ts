import type { EpochMs } from '../base/clock.ts';
import type { Check, Domain } from '../contract/domains.ts';
import { DOMAIN_PLANS } from '../contract/plans.ts';
import { exampleOf, isWildcard } from '../contract/hostnames.ts';
import type { DomainRules } from './personas/claims.ts';
import type { AttachedDomain } from './domain-set.ts';
import { isServed } from './hostname-machine.ts';
import { instructionsFor, type ZoneFacts } from './checks/checks.ts';
import { personaOf, worded } from './personas/provider.ts';

export interface DomainContext {
  rules: DomainRules;
  /** The hostname's zone, if Vivarium serves it. */
  zone: ZoneFacts | null;
  /** Whether it is displayed in its project's base addresses. */
  primary: boolean;
  /** The running breaks that select it. */
  breaks: NonNullable<Domain['breaks']>;
  isAttached: (hostname: string) => boolean;
}

export function presentDomain(
  domain: AttachedDomain,
  { rules, zone, primary, breaks, isAttached }: DomainContext,
): Domain {
  const { hostname, kind, certificate } = domain;
  const { state, notAfterMs, renewAtMs, nextAttemptAtMs, refusal } = certificate;
  const reason = refusal?.code ?? (state === 'pending' ? 'issuance_pending' : null);
  const http = isServed(domain);
  const shown = personaOf(rules.persona, domain);
  // Views do not display the scheduled renewal of a healthy certificate as an attempt.
  const awaited = state === 'issued' && refusal === null ? null : nextAttemptAtMs;
  return {
    hostname,
    ...(isWildcard(hostname) && { example: exampleOf(hostname, isAttached) }),
    projectId: domain.projectId,
    kind,
    state: domain.state,
    certificate: {
      state,
      ...(reason !== null && { reason }),
      ...((state === 'issued' || state === 'expired') && stamp('notAfter', notAfterMs)),
      // After a refusal, the next attempt is the renewal; without one, for example when suspended, there is none.
      ...(state === 'issued' && refusal === null && stamp('renewAt', nextAttemptAtMs === null ? null : renewAtMs)),
      ...stamp('nextAttemptAt', awaited),
    },
    instructions: instructionsFor(hostname, kind, rules, zone),
    ...(shown !== undefined && { persona: shown }),
    checks: [...suspensionChecks(domain), ...domain.checks, ...domain.certificateChecks, ...issuanceChecks(domain)].map(
      (check) => worded(check, rules.persona, hostname),
    ),
    serving: { http, https: http && state === 'issued' },
    primary,
    ...(breaks.length > 0 && { breaks }),
    attachedAt: new Date(domain.attachedAtMs).toISOString(),
    ...stamp('verifiedAt', domain.verifiedAtMs),
    ...stamp('lastCheckedAt', domain.lastCheckedAtMs),
    ...stamp('nextCheckAt', domain.nextCheckAtMs),
  };
}

const stamp = <Name extends string>(name: Name, atMs: EpochMs | null): Partial<Record<Name, string>> =>
  atMs === null ? {} : ({ [name]: new Date(atMs).toISOString() } as Record<Name, string>);

function suspensionChecks({ state, hostname }: AttachedDomain): Check[] {
  if (state !== 'suspended') return [];
  return [
    {
      code: 'plan_required',
      outcome: 'failed',
      expected: 'a plan with custom domains',
      found: `the ${DOMAIN_PLANS.others} plan`,
      message: `${hostname} is attached but not served: its project is now on the ${DOMAIN_PLANS.others} plan.`,
      fix: `Change the project’s plan to ${DOMAIN_PLANS.titles} to serve it again.`,
    },
  ];
}

function issuanceChecks({ certificate: { state, refusal, nextAttemptAtMs } }: AttachedDomain): Check[] {
  if (state === 'failed' && refusal !== null) {
    return [
      {
        code: 'timed_out',
        outcome: 'failed',
        message: refusal.message,
        fix: 'Fix the other checks, then re-verify to start new attempts.',
      },
    ];
  }
  // Every other refusal comes from a check, which says it.
  if (state !== 'pending' || (refusal !== null && refusal.code !== 'issuance_pending')) return [];
  const at = nextAttemptAtMs === null ? null : new Date(nextAttemptAtMs).toISOString();
  return [
    {
      code: 'issuance_pending',
      outcome: 'warning',
      message: `The certificate has not been issued yet${at === null ? '' : `; the next attempt is at ${at}`}.${refusal === null ? '' : ` ${refusal.message}`}`,
      fix: 'Wait, or advance the clock.',
    },
  ];
}
