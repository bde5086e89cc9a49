import { DAY_MS, HOUR_MS, MINUTE_MS } from '../contract/duration.ts';
import type { EpochMs } from '../base/clock.ts';
import type { DomainState, CertificateState } from '../contract/domains.ts';
import { DOMAIN_PLANS } from '../contract/plans.ts';
import type { VerificationVerdict } from './checks/checks.ts';
import type { CheckCode } from '../contract/check-codes.ts';
import { ISSUANCE_RHYTHM, lengthOf, nextTry, type Rhythm } from './personas/personas.ts';

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

/** Why an attached hostname is not served, and the fix, for the answer to a request; null when it is served. */
export function whyUnserved(domain: HostnameState & { hostname: string }, projectName: string): string | null {
  if (isServed(domain)) return null;
  const attached = `${domain.hostname} is attached to the project "${projectName}"`;
  return domain.state === 'suspended'
    ? `${attached} and suspended: the project’s plan has no custom domains. Change it to ${DOMAIN_PLANS.titles}.`
    : `${attached}, but its DNS does not point here yet. Verify the domain: its checks name what is missing.`;
}

/** A failed renewal is first retried at these intervals. */
export const ATTEMPT_INTERVAL_MS = 5 * MINUTE_MS;

/** The duration of those retries; after it, daily for the 30 days that remain. */
const RETRIED_OFTEN_MS = 30 * MINUTE_MS;

const RENEWAL_RETRY_MS = DAY_MS;

export interface IssuanceState {
  readonly state: CertificateState;
  /** Why there is no certificate, or why its renewal failed. */
  readonly refusal: { readonly code: CheckCode; readonly message: string } | null;
  /** When this series of attempts began, or will begin after an issuance delay; null between series. */
  readonly seriesAtMs: EpochMs | null;
  /** When the next attempt (first, retry or renewal) is due; null when none is. */
  readonly nextAttemptAtMs: EpochMs | null;
  /** When the current leaf must be renewed; null without a leaf. */
  readonly renewAtMs: EpochMs | null;
  /** When the current leaf expires, on the app's clock; null without a leaf. */
  readonly notAfterMs: EpochMs | null;
}

/** All except the last carry `atMs`, the time of the event on the app's clock. */
export type CertificateEvent =
  | { readonly type: 'hostname_verified'; readonly atMs: EpochMs; /** The issuance delay. */ readonly delayMs: number }
  | { readonly type: 'reverified'; readonly atMs: EpochMs; readonly delayMs: number }
  | { readonly type: 'attempt_due'; readonly atMs: EpochMs }
  | { readonly type: 'renewal_due'; readonly atMs: EpochMs }
  | { readonly type: 'issued'; readonly atMs: EpochMs; readonly renewAtMs: EpochMs; readonly notAfterMs: EpochMs }
  | {
      readonly type: 'refused';
      readonly atMs: EpochMs;
      readonly code: CheckCode;
      readonly message: string;
      /** When a first issuance is retried; then it is given up until the user asks for it. */
      readonly rhythm?: Rhythm;
    }
  | { readonly type: 'not_after_passed' }
  | { readonly type: 'suspended' }
  | { readonly type: 'returned' };

interface CertificateStep {
  readonly state: IssuanceState;
  /** Whether the caller must attempt issuance now. */
  readonly attempts: boolean;
}

export const NO_CERTIFICATE: IssuanceState = {
  state: 'none',
  refusal: null,
  seriesAtMs: null,
  nextAttemptAtMs: null,
  renewAtMs: null,
  notAfterMs: null,
};

const step = (state: IssuanceState, attempts = false): CertificateStep => ({ state, attempts });

/** The transitions of a certificate: total and pure. Events that no longer apply leave the state unchanged. */
export function nextCertificate(current: IssuanceState, event: CertificateEvent): CertificateStep {
  const { state } = current;
  const hasNone = state === 'none' || state === 'failed';
  const isHeld = state === 'issued' || state === 'expired';
  switch (event.type) {
    case 'hostname_verified':
      return hasNone || state === 'expired' ? begin(current, event) : step(current);
    case 'reverified':
      if (state === 'issued') return step(current, current.refusal !== null);
      // Asking again neither extends the 30 minutes nor skips a pending issuance delay.
      if (state === 'pending') return step(current, event.delayMs === 0 || isBegun(current, event.atMs));
      return begin(current, event);
    case 'attempt_due':
    case 'renewal_due':
      if (state === 'issued') return step({ ...current, seriesAtMs: current.seriesAtMs ?? event.atMs }, true);
      return step(current, state === 'expired' || (state === 'pending' && event.type === 'attempt_due'));
    case 'issued':
      return state === 'none' ? step(current) : hold(event);
    case 'refused':
      return hasNone ? step(current) : refused(current, event);
    case 'not_after_passed':
      return state === 'issued' ? step({ ...current, state: 'expired', seriesAtMs: null }) : step(current);
    case 'suspended':
      if (state === 'pending') return step({ ...current, ...NO_SERIES, state: 'none' });
      if (state === 'issued') return step({ ...current, ...NO_SERIES });
      return isHeld ? step({ ...current, nextAttemptAtMs: null }) : step(current);
    case 'returned':
      return isHeld ? step({ ...current, nextAttemptAtMs: current.renewAtMs }) : step(current);
  }
}

type Refused = Extract<CertificateEvent, { type: 'refused' }>;

const NO_SERIES = { refusal: null, seriesAtMs: null, nextAttemptAtMs: null } as const;

/** Begins a series of attempts, now or after the issuance delay. */
function begin(current: IssuanceState, { atMs, delayMs }: { atMs: EpochMs; delayMs: number }): CertificateStep {
  const beginsAtMs = atMs + delayMs;
  const series = { refusal: null, seriesAtMs: beginsAtMs, nextAttemptAtMs: beginsAtMs };
  return step({ ...current, ...series, state: 'pending' }, delayMs <= 0);
}

const hold = ({ renewAtMs, notAfterMs }: Extract<CertificateEvent, { type: 'issued' }>): CertificateStep =>
  step({ state: 'issued', refusal: null, seriesAtMs: null, nextAttemptAtMs: renewAtMs, renewAtMs, notAfterMs });

const isBegun = ({ seriesAtMs }: IssuanceState, atMs: EpochMs): boolean => seriesAtMs === null || seriesAtMs <= atMs;

function refused(current: IssuanceState, event: Refused): CertificateStep {
  const { code, message, atMs, rhythm = ISSUANCE_RHYTHM } = event;
  const refusal = { code, message };
  if (current.state === 'expired') return step({ ...current, refusal, nextAttemptAtMs: atMs + RENEWAL_RETRY_MS });
  const seriesAtMs = Math.min(current.seriesAtMs ?? atMs, atMs);
  if (current.state === 'issued') {
    const often = atMs - seriesAtMs < RETRIED_OFTEN_MS;
    const nextAttemptAtMs = atMs + (often ? ATTEMPT_INTERVAL_MS : RENEWAL_RETRY_MS);
    return step({ ...current, refusal, seriesAtMs, nextAttemptAtMs });
  }
  const nextAttemptAtMs = nextTry(rhythm, seriesAtMs, atMs);
  return nextAttemptAtMs === null
    ? step({ ...current, ...NO_SERIES, state: 'failed', refusal: timedOut(event, lengthOf(rhythm)) })
    : step({ ...current, refusal, seriesAtMs, nextAttemptAtMs });
}

const timedOut = ({ message }: Refused, lengthMs: number) => ({
  code: 'timed_out' as const,
  message: `No certificate could be issued within ${spanOf(lengthMs)}. The last attempt: ${message}`,
});

const spanOf = (lengthMs: number): string =>
  lengthMs < HOUR_MS ? `${lengthMs / MINUTE_MS} minutes` : `${Math.round(lengthMs / HOUR_MS)} hours`;

/** When the certificate's state next changes without an event. */
export function certificateDueMs({ state, nextAttemptAtMs, notAfterMs }: IssuanceState): EpochMs | null {
  if (state !== 'issued' || notAfterMs === null) return nextAttemptAtMs;
  return nextAttemptAtMs === null ? notAfterMs : Math.min(nextAttemptAtMs, notAfterMs);
}

/**
 * The same moment by kind. `repeatingMs` belongs to a repeating schedule (renewals of a healthy certificate, daily
 * retries), of which a clock jump needs to run only the last.
 */
export function certificateTimes(current: IssuanceState): { repeatingMs: EpochMs | null; onceMs: EpochMs | null } {
  const { state, refusal, seriesAtMs, nextAttemptAtMs, notAfterMs } = current;
  const isHealthy = state === 'issued' && refusal === null && seriesAtMs === null;
  if (nextAttemptAtMs !== null && (isHealthy || state === 'expired')) {
    return { repeatingMs: nextAttemptAtMs, onceMs: null };
  }
  const isRetriedDaily = state === 'issued' && (nextAttemptAtMs ?? 0) - (seriesAtMs ?? Infinity) > RETRIED_OFTEN_MS;
  if (isRetriedDaily) return { repeatingMs: nextAttemptAtMs, onceMs: notAfterMs };
  return { repeatingMs: null, onceMs: certificateDueMs(current) };
}

export function certificateEventDue(current: IssuanceState, atMs: EpochMs): CertificateEvent | null {
  const { state, seriesAtMs, nextAttemptAtMs, notAfterMs } = current;
  // Attempts come before expiry: a jump over both renews the certificate.
  if (nextAttemptAtMs !== null && nextAttemptAtMs <= atMs) {
    if (state === 'issued' && seriesAtMs === null) return { type: 'renewal_due', atMs };
    if (state !== 'issued' || notAfterMs === null || atMs < notAfterMs) return { type: 'attempt_due', atMs };
  }
  return state === 'issued' && notAfterMs !== null && notAfterMs <= atMs ? { type: 'not_after_passed' } : null;
}
