import type { EpochMs } from '../base/clock.ts';
import { DAY_MS, MINUTE_MS } from '../base/duration.ts';
import type { CertificateState, CheckCode } from '../contract/domains.ts';

/** As ACME clients retry a validation that may mend itself. */
export const ATTEMPT_INTERVAL_MS = 5 * MINUTE_MS;

/** A first certificate that could not be had for so long is given up, until someone asks again. */
export const ATTEMPTS_GIVEN_UP_AFTER_MS = 30 * MINUTE_MS;

/** A renewal that has failed for those 30 minutes is tried once a day: there are 30 of them. */
export const RENEWAL_RETRY_MS = DAY_MS;

/** Where the certificate of a hostname stands. */
export interface CertificateStanding {
  readonly state: CertificateState;
  /** Why there is none, or why it could not be renewed. */
  readonly refusal: { readonly code: CheckCode; readonly message: string } | null;
  /** When the attempts of this series began, or begin when there is an issuance delay; null between series. */
  readonly seriesAtMs: EpochMs | null;
  /** When the next attempt is due, be it the first, a retry or a renewal; null when none is. */
  readonly nextAttemptAtMs: EpochMs | null;
  /** When renewal of the leaf that is held falls due; null without one. */
  readonly renewAtMs: EpochMs | null;
  /** When the leaf that is held expires, on the app's clock; null without one. */
  readonly notAfterMs: EpochMs | null;
}

/** All but the last have `atMs`, the app's time at which they happened. */
export type CertificateEvent =
  | { readonly type: 'hostname_verified'; readonly atMs: EpochMs; /** The issuance delay. */ readonly delayMs: number }
  | { readonly type: 'reverified'; readonly atMs: EpochMs; readonly delayMs: number }
  | { readonly type: 'attempt_due'; readonly atMs: EpochMs }
  | { readonly type: 'renewal_due'; readonly atMs: EpochMs }
  | { readonly type: 'issued'; readonly atMs: EpochMs; readonly renewAtMs: EpochMs; readonly notAfterMs: EpochMs }
  | { readonly type: 'refused'; readonly atMs: EpochMs; readonly code: CheckCode; readonly message: string }
  | { readonly type: 'not_after_passed' }
  | { readonly type: 'suspended' }
  | { readonly type: 'returned' };

export interface CertificateStep {
  readonly state: CertificateStanding;
  /** Whether the caller has to try to issue now. */
  readonly attempts: boolean;
}

export const NO_CERTIFICATE: CertificateStanding = {
  state: 'none',
  refusal: null,
  seriesAtMs: null,
  nextAttemptAtMs: null,
  renewAtMs: null,
  notAfterMs: null,
};

const step = (state: CertificateStanding, attempts = false): CertificateStep => ({ state, attempts });

/** The transitions of a certificate: total and pure. Events that come too late for the state leave it as it is. */
export function nextCertificate(standing: CertificateStanding, event: CertificateEvent): CertificateStep {
  switch (standing.state) {
    case 'none':
      return fromNone(standing, event);
    case 'pending':
      return fromPending(standing, event);
    case 'issued':
      return fromIssued(standing, event);
    case 'failed':
      return fromFailed(standing, event);
    case 'expired':
      return fromExpired(standing, event);
  }
}

type Refused = Extract<CertificateEvent, { type: 'refused' }>;

/** A new series of attempts: at once, or when the issuance delay is over. */
function begin(standing: CertificateStanding, atMs: EpochMs, delayMs: number): CertificateStep {
  const state: CertificateStanding = {
    ...standing,
    state: 'pending',
    refusal: null,
    seriesAtMs: atMs + delayMs,
    nextAttemptAtMs: atMs + delayMs,
  };
  return step(state, delayMs <= 0);
}

const hold = ({ renewAtMs, notAfterMs }: Extract<CertificateEvent, { type: 'issued' }>): CertificateStep =>
  step({ state: 'issued', refusal: null, seriesAtMs: null, nextAttemptAtMs: renewAtMs, renewAtMs, notAfterMs });

const refusalOf = ({ code, message }: Refused) => ({ code, message });

function fromNone(standing: CertificateStanding, event: CertificateEvent): CertificateStep {
  switch (event.type) {
    case 'hostname_verified':
    case 'reverified':
      return begin(standing, event.atMs, event.delayMs);
    default:
      return step(standing);
  }
}

function fromPending(standing: CertificateStanding, event: CertificateEvent): CertificateStep {
  switch (event.type) {
    case 'reverified':
      // Asking again neither lengthens the 30 minutes nor jumps an issuance delay that is still in force.
      return step(standing, event.delayMs === 0 || isBegun(standing, event.atMs));
    case 'attempt_due':
      return step(standing, true);
    case 'issued':
      return hold(event);
    case 'refused':
      return refusePending(standing, event);
    case 'suspended':
      return step({ ...standing, ...NO_SERIES, state: 'none' });
    default:
      return step(standing);
  }
}

const NO_SERIES = { refusal: null, seriesAtMs: null, nextAttemptAtMs: null } as const;

const isBegun = ({ seriesAtMs }: CertificateStanding, atMs: EpochMs): boolean =>
  seriesAtMs === null || seriesAtMs <= atMs;

function refusePending(standing: CertificateStanding, event: Refused): CertificateStep {
  const seriesAtMs = Math.min(standing.seriesAtMs ?? event.atMs, event.atMs);
  if (event.atMs - seriesAtMs >= ATTEMPTS_GIVEN_UP_AFTER_MS) {
    return step({ ...standing, ...NO_SERIES, state: 'failed', refusal: timedOut(event) });
  }
  const nextAttemptAtMs = Math.min(event.atMs + ATTEMPT_INTERVAL_MS, seriesAtMs + ATTEMPTS_GIVEN_UP_AFTER_MS);
  return step({ ...standing, refusal: refusalOf(event), seriesAtMs, nextAttemptAtMs });
}

const timedOut = ({ message }: Refused) => ({
  code: 'timed_out' as const,
  message: `No certificate could be issued within ${ATTEMPTS_GIVEN_UP_AFTER_MS / MINUTE_MS} minutes. The last attempt: ${message}`,
});

function fromIssued(standing: CertificateStanding, event: CertificateEvent): CertificateStep {
  switch (event.type) {
    case 'reverified':
      return step(standing, standing.refusal !== null);
    case 'attempt_due':
    case 'renewal_due':
      return step({ ...standing, seriesAtMs: standing.seriesAtMs ?? event.atMs }, true);
    case 'issued':
      return hold(event);
    case 'refused':
      return refuseRenewal(standing, event);
    case 'not_after_passed':
      return step({ ...standing, state: 'expired', seriesAtMs: null });
    case 'suspended':
      return step({ ...standing, ...NO_SERIES });
    case 'returned':
      return step({ ...standing, nextAttemptAtMs: standing.renewAtMs });
    default:
      return step(standing);
  }
}

function refuseRenewal(standing: CertificateStanding, event: Refused): CertificateStep {
  const seriesAtMs = Math.min(standing.seriesAtMs ?? event.atMs, event.atMs);
  const often = event.atMs - seriesAtMs < ATTEMPTS_GIVEN_UP_AFTER_MS;
  const nextAttemptAtMs = event.atMs + (often ? ATTEMPT_INTERVAL_MS : RENEWAL_RETRY_MS);
  return step({ ...standing, refusal: refusalOf(event), seriesAtMs, nextAttemptAtMs });
}

function fromFailed(standing: CertificateStanding, event: CertificateEvent): CertificateStep {
  switch (event.type) {
    case 'hostname_verified':
    case 'reverified':
      return begin(standing, event.atMs, event.delayMs);
    case 'issued':
      return hold(event);
    default:
      return step(standing);
  }
}

function fromExpired(standing: CertificateStanding, event: CertificateEvent): CertificateStep {
  switch (event.type) {
    case 'hostname_verified':
    case 'reverified':
      return begin(standing, event.atMs, event.delayMs);
    case 'attempt_due':
    case 'renewal_due':
      return step(standing, true);
    case 'issued':
      return hold(event);
    case 'refused':
      return step({ ...standing, refusal: refusalOf(event), nextAttemptAtMs: event.atMs + RENEWAL_RETRY_MS });
    case 'suspended':
      return step({ ...standing, nextAttemptAtMs: null });
    case 'returned':
      return step({ ...standing, nextAttemptAtMs: standing.renewAtMs });
    default:
      return step(standing);
  }
}

/** The next moment at which something becomes of the certificate by itself. */
export function certificateDueMs({ state, nextAttemptAtMs, notAfterMs }: CertificateStanding): EpochMs | null {
  if (state !== 'issued' || notAfterMs === null) return nextAttemptAtMs;
  return nextAttemptAtMs === null ? notAfterMs : Math.min(nextAttemptAtMs, notAfterMs);
}

/**
 * The same in two kinds. `repeatingMs` belongs to a row that goes on by itself for as long as nothing changes: renewals of
 * a healthy certificate, daily retries. When the clock jumps over many of them, the last one is enough.
 */
export function certificateTimes(standing: CertificateStanding): {
  repeatingMs: EpochMs | null;
  onceMs: EpochMs | null;
} {
  const { state, refusal, seriesAtMs, nextAttemptAtMs, notAfterMs } = standing;
  const isHealthy = state === 'issued' && refusal === null && seriesAtMs === null;
  if (nextAttemptAtMs !== null && (isHealthy || state === 'expired')) {
    return { repeatingMs: nextAttemptAtMs, onceMs: null };
  }
  const isRetriedDaily =
    state === 'issued' && (nextAttemptAtMs ?? 0) - (seriesAtMs ?? Infinity) > ATTEMPTS_GIVEN_UP_AFTER_MS;
  if (isRetriedDaily) return { repeatingMs: nextAttemptAtMs, onceMs: notAfterMs };
  return { repeatingMs: null, onceMs: certificateDueMs(standing) };
}

/** What has become due by `atMs`, or null. */
export function certificateEventDue(standing: CertificateStanding, atMs: EpochMs): CertificateEvent | null {
  const { state, seriesAtMs, nextAttemptAtMs, notAfterMs } = standing;
  // An attempt comes before the end, so that a jump over both renews instead of expiring.
  if (nextAttemptAtMs !== null && nextAttemptAtMs <= atMs) {
    if (state === 'issued' && seriesAtMs === null) return { type: 'renewal_due', atMs };
    if (state !== 'issued' || notAfterMs === null || atMs < notAfterMs) return { type: 'attempt_due', atMs };
  }
  return state === 'issued' && notAfterMs !== null && notAfterMs <= atMs ? { type: 'not_after_passed' } : null;
}
