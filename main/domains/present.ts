import type { EpochMs } from '../base/clock.ts';
import type { Check, Domain } from '../contract/domains.ts';
import type { AttachedDomain } from './domain-set.ts';
import { isServed } from './hostname-machine.ts';
import { instructionsFor, type ZoneFacts } from './instructions.ts';

export interface DomainPlace {
  cnameTarget: string;
  /** The zone that the hostname is in, where it is one of ours. */
  zone: ZoneFacts | null;
  /** Whether base addresses of its project are shown with it. */
  primary: boolean;
}

/** A domain as it is shown. */
export function presentDomain(domain: AttachedDomain, { cnameTarget, zone, primary }: DomainPlace): Domain {
  const { hostname, kind, certificate } = domain;
  const { state, notAfterMs, renewAtMs, nextAttemptAtMs, refusal } = certificate;
  const reason = refusal?.code ?? (state === 'pending' ? 'issuance_pending' : null);
  const http = isServed(domain);
  // Renewal of a healthy certificate is not an attempt that anybody waits for.
  const awaited = state === 'issued' && refusal === null ? null : nextAttemptAtMs;
  return {
    hostname,
    projectId: domain.projectId,
    kind,
    state: domain.state,
    certificate: {
      state,
      ...(reason !== null && { reason }),
      ...((state === 'issued' || state === 'expired') && stamp('notAfter', notAfterMs)),
      // After a refusal, the next attempt is the renewal; without one, as when it is suspended, none is to come.
      ...(state === 'issued' && refusal === null && stamp('renewAt', nextAttemptAtMs === null ? null : renewAtMs)),
      ...stamp('nextAttemptAt', awaited),
    },
    instructions: instructionsFor(hostname, kind, cnameTarget, zone),
    checks: [...suspensionChecks(domain), ...domain.checks, ...domain.certificateChecks, ...issuanceChecks(domain)],
    serving: { http, https: http && state === 'issued' },
    primary,
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
      found: 'the plan Free',
      message: `${hostname} is attached and not served: its project fell back to the plan Free.`,
      fix: 'Change the project’s plan to Pro, Business or Enterprise, and it is served again.',
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
        fix: 'Mend what the other checks say, then re-verify: the attempts begin anew.',
      },
    ];
  }
  if (state !== 'pending') return [];
  const at = nextAttemptAtMs === null ? null : new Date(nextAttemptAtMs).toISOString();
  return [
    {
      code: 'issuance_pending',
      outcome: 'warning',
      message:
        at === null
          ? 'The certificate is not issued yet.'
          : `The certificate is not issued yet; the next attempt is at ${at}.`,
      fix:
        refusal === null
          ? 'Wait, or advance the clock.'
          : 'Mend what the other checks say, then re-verify, or wait for the next attempt.',
    },
  ];
}
