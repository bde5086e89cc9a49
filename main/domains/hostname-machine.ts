import { DAY_MS } from '../base/duration.ts';
import type { EpochMs } from '../base/clock.ts';
import type { DomainState } from '../contract/domains.ts';
import type { VerificationVerdict } from './check-order.ts';

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
  | { readonly type: 'plan_lost' | 'plan_returned' | 'reverify_requested' };

/**
 * What the shell has to do: look at the DNS again; begin or cease to serve; let the certificate machine know. In the
 * order in which it has to be done.
 */
export type HostnameEffect =
  'check' | 'begin_serving' | 'cease_serving' | 'certify' | 'suspend_certificate' | 'return_certificate';

export interface HostnameStep {
  readonly state: HostnameStanding;
  readonly effects: readonly HostnameEffect[];
}

export const ATTACHED: HostnameStanding = { state: 'pending', stateBefore: null, verifiedAtMs: null };

/** Whoever was verified once is served for as long as it is attached and its plan allows it: visitors may still arrive. */
export const isServed = ({ state, verifiedAtMs }: HostnameStanding): boolean =>
  state !== 'suspended' && verifiedAtMs !== null;

const stay = (state: HostnameStanding, effects: readonly HostnameEffect[] = []): HostnameStep => ({ state, effects });

/** The transitions of a hostname: total, pure, and the same event twice does no more than once. */
export function nextHostname(standing: HostnameStanding, event: HostnameEvent): HostnameStep {
  switch (event.type) {
    case 'checked':
      return standing.state === 'suspended' ? stay(standing) : afterCheck(standing, event);
    case 'plan_lost':
      return standing.state === 'suspended' ? stay(standing) : suspend(standing, standing.state);
    case 'plan_returned':
      return standing.state === 'suspended' ? restore(standing) : stay(standing);
    case 'reverify_requested':
      return stay(standing, ['check']);
  }
}

function afterCheck(
  standing: HostnameStanding,
  { verdict, hasFoundNothing, atMs }: Extract<HostnameEvent, { type: 'checked' }>,
): HostnameStep {
  switch (verdict) {
    case 'ok':
      if (standing.state === 'verified') return stay(standing);
      return {
        state: { state: 'verified', stateBefore: null, verifiedAtMs: atMs },
        effects: standing.verifiedAtMs === null ? ['begin_serving', 'certify'] : ['certify'],
      };
    case 'failed': {
      // A record that was there and is gone is a wrong one: only a hostname that never was verified is waited for.
      const state = hasFoundNothing && standing.verifiedAtMs === null ? 'pending' : 'misconfigured';
      return stay(state === standing.state ? standing : { ...standing, state });
    }
    case 'unknown':
      return stay(standing);
  }
}

function suspend(standing: HostnameStanding, stateBefore: Exclude<DomainState, 'suspended'>): HostnameStep {
  return {
    state: { ...standing, state: 'suspended', stateBefore },
    effects: isServed(standing) ? ['cease_serving', 'suspend_certificate'] : ['suspend_certificate'],
  };
}

/** It is served again at once, as it was; what has become of its DNS meanwhile, the check finds out. */
function restore(standing: HostnameStanding): HostnameStep {
  const state: HostnameStanding = { ...standing, state: standing.stateBefore ?? 'pending', stateBefore: null };
  return {
    state,
    effects: isServed(state) ? ['begin_serving', 'return_certificate', 'check'] : ['return_certificate', 'check'],
  };
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
