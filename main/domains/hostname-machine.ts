import { DAY_MS } from '../contract/duration.ts';
import type { EpochMs } from '../base/clock.ts';
import type { DomainState } from '../contract/domains.ts';
import { DOMAIN_PLANS } from '../contract/plans.ts';
import type { VerificationVerdict } from './checks/checks.ts';

/** How often an attached domain is re-verified. */
export const RECHECK_INTERVAL_MS = DAY_MS;

/** The state of a hostname, apart from its certificate. */
export interface HostnameState {
  readonly state: DomainState;
  /** The state to restore after a suspension; null unless suspended. */
  readonly stateBefore: Exclude<DomainState, 'suspended'> | null;
  /** When it last became verified; null if never since it was attached. */
  readonly verifiedAtMs: EpochMs | null;
}

export type HostnameEvent =
  | {
      readonly type: 'checked';
      readonly atMs: EpochMs;
      readonly verdict: VerificationVerdict;
      /** Records are missing, but none is wrong. */
      readonly hasFoundNothing: boolean;
    }
  | { readonly type: 'plan_lost' | 'plan_returned' };

export const ATTACHED: HostnameState = { state: 'pending', stateBefore: null, verifiedAtMs: null };

/** A hostname verified once is served until it is removed or suspended: clients may have cached its DNS. */
export const isServed = ({ state, verifiedAtMs }: HostnameState): boolean =>
  state !== 'suspended' && verifiedAtMs !== null;

/** The transitions of a hostname: total and pure. Returns `current` itself when the event changes nothing. */
export function nextHostname(current: HostnameState, event: HostnameEvent): HostnameState {
  const { state, stateBefore } = current;
  switch (event.type) {
    case 'checked':
      return state === 'suspended' ? current : afterCheck(current, event);
    case 'plan_lost':
      return state === 'suspended' ? current : { ...current, state: 'suspended', stateBefore: state };
    case 'plan_returned':
      // Serves it again at once in its previous state; the next check updates that state.
      return state === 'suspended' ? { ...current, state: stateBefore ?? 'pending', stateBefore: null } : current;
  }
}

function afterCheck(
  current: HostnameState,
  { verdict, hasFoundNothing, atMs }: Extract<HostnameEvent, { type: 'checked' }>,
): HostnameState {
  switch (verdict) {
    case 'ok':
      return current.state === 'verified' ? current : { state: 'verified', stateBefore: null, verifiedAtMs: atMs };
    case 'failed': {
      // A record that disappeared counts as wrong; `pending` is only for hostnames that were never verified.
      const state = hasFoundNothing && current.verifiedAtMs === null ? 'pending' : 'misconfigured';
      return state === current.state ? current : { ...current, state };
    }
    case 'unknown':
      return current;
  }
}

/**
 * Why an attached hostname is not served, and the fix, for the answer to a request; null when it is served.
 */
export function whyUnserved(domain: HostnameState & { hostname: string }, projectName: string): string | null {
  if (isServed(domain)) return null;
  const attached = `${domain.hostname} is attached to the project "${projectName}"`;
  return domain.state === 'suspended'
    ? `${attached} and suspended: the project’s plan has no custom domains. Change it to ${DOMAIN_PLANS.titles}.`
    : `${attached}, but its DNS does not point here yet. Verify the domain: its checks name what is missing.`;
}
