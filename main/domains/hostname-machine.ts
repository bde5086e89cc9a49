import { DAY_MS } from '../base/duration.ts';
import type { EpochMs } from '../base/clock.ts';
import type { DomainState } from '../contract/domains.ts';
import type { VerificationVerdict } from './checks.ts';

/** How often an attached domain is looked at again. */
export const RECHECK_INTERVAL_MS = DAY_MS;

/** Where a hostname stands, apart from its certificate. */
export interface HostnameStanding {
  readonly state: DomainState;
  /** What the hostname returns to when its plan does; null unless it is suspended. */
  readonly stateBefore: Exclude<DomainState, 'suspended'> | null;
  /** When it last became verified; null when it never was since it was attached. */
  readonly verifiedAtMs: EpochMs | null;
}

export type HostnameEvent =
  | {
      readonly type: 'checked';
      readonly atMs: EpochMs;
      readonly verdict: VerificationVerdict;
      /** Nothing wrong was seen, only nothing yet. */
      readonly hasFoundNothing: boolean;
    }
  | { readonly type: 'plan_lost' | 'plan_returned' };

export const ATTACHED: HostnameStanding = { state: 'pending', stateBefore: null, verifiedAtMs: null };

/** Whoever was verified once is served for as long as it is attached and its plan allows it: visitors may still arrive. */
export const isServed = ({ state, verifiedAtMs }: HostnameStanding): boolean =>
  state !== 'suspended' && verifiedAtMs !== null;

/** The transitions of a hostname: total, and pure. Returns `standing` itself where the event changes nothing. */
export function nextHostname(standing: HostnameStanding, event: HostnameEvent): HostnameStanding {
  const { state, stateBefore } = standing;
  switch (event.type) {
    case 'checked':
      return state === 'suspended' ? standing : afterCheck(standing, event);
    case 'plan_lost':
      return state === 'suspended' ? standing : { ...standing, state: 'suspended', stateBefore: state };
    case 'plan_returned':
      // It is served again at once, as it was; what has become of its DNS meanwhile, the next check finds out.
      return state === 'suspended' ? { ...standing, state: stateBefore ?? 'pending', stateBefore: null } : standing;
  }
}

function afterCheck(
  standing: HostnameStanding,
  { verdict, hasFoundNothing, atMs }: Extract<HostnameEvent, { type: 'checked' }>,
): HostnameStanding {
  switch (verdict) {
    case 'ok':
      return standing.state === 'verified' ? standing : { state: 'verified', stateBefore: null, verifiedAtMs: atMs };
    case 'failed': {
      // A record that was there and is gone is a wrong one: only a hostname that never was verified is waited for.
      const state = hasFoundNothing && standing.verifiedAtMs === null ? 'pending' : 'misconfigured';
      return state === standing.state ? standing : { ...standing, state };
    }
    case 'unknown':
      return standing;
  }
}

/**
 * Why nothing is served at a hostname although it is attached, and what to do, for the answer to a request there; null
 * when it is served.
 */
export function whyUnserved(domain: HostnameStanding & { hostname: string }, projectName: string): string | null {
  if (isServed(domain)) return null;
  const attached = `${domain.hostname} is attached to the project "${projectName}"`;
  return domain.state === 'suspended'
    ? `${attached} and suspended: the project’s plan has no custom domains. Change it to Pro, Business or Enterprise.`
    : `${attached}, and its DNS was not yet seen to lead here. Verify the domain: its checks say what is missing.`;
}
