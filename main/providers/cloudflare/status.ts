import type { Check, Domain } from '../../contract/domains.ts';
import { DAY_MS } from '../../contract/duration.ts';
import { failedOf, isAboutCaa } from '../domains.ts';
import type { HeldDomain } from '../facts.ts';

/** After this long as *moved*, a hostname is *deleted* (`hostname-validation/validation-status`). */
const DELETED_AFTER_MS = 7 * DAY_MS;

/** An attached hostname, at a moment. */
export interface Facts {
  domain: Domain;
  held: HeldDomain;
  nowMs: number;
  /** When the API was last asked to validate it again. */
  refreshedAtMs: number;
  /** The reason why the zone's fallback origin is not active; null when it is. */
  origin: string | null;
}

/** The states that follow from DNS and the clock; the others that the API lists are never answered. */
export function hostnameStatus({ domain, held, nowMs, refreshedAtMs, origin }: Facts) {
  const { state, verifiedAt, lastCheckedAt } = domain;
  if (state === 'suspended') return 'blocked';
  if (state === 'verified') return origin === null ? 'active' : 'pending';
  const sinceMs = held.seriesAtMs ?? nowMs;
  const hasMoved = verifiedAt !== undefined && refreshedAtMs <= sinceMs;
  if (!hasMoved && domain.persona?.givenUp !== true) return 'pending';
  const movedAtMs = hasMoved || lastCheckedAt === undefined ? sinceMs : Date.parse(lastCheckedAt);
  return nowMs - movedAtMs < DELETED_AFTER_MS ? 'moved' : 'deleted';
}

/** Why it is not active, in the provider's words; a missing proof is none beside a record that leads elsewhere. */
export function verificationErrors(checks: readonly Check[]): string[] {
  const wrong = failedOf(checks).filter(({ code }) => !isAboutCaa(code));
  const leading = wrong.filter(({ code }) => code !== 'txt_missing');
  return [...new Set((leading.length > 0 ? leading : wrong).map(({ words, message }) => words ?? message))];
}

const SERVFAIL = 'Certificate authority encountered a SERVFAIL during DNS lookup, please check your DNS reachability.';

/** Why there is no certificate, in the words of `hostname-validation/dcv-troubleshooting`. */
export const validationErrors = ({ hostname, checks }: Domain): string[] =>
  failedOf(checks).flatMap(({ code, message }) => {
    if (code === 'caa_lookup_failed' || code === 'lookup_failed') return [SERVFAIL];
    if (code === 'dnssec_bogus') return [`dns problem: looking up caa for ${hostname}: dnssec: bogus`];
    if (code === 'suffix_not_permitted') return [message];
    return isAboutCaa(code)
      ? ['CAA records block issuance. Please remove all CAA records or add records for this authority.']
      : [];
  });

/** `isValidated`: the records lead here, or the certificate's own TXT or CNAME is visible. */
export function certificateStatus(facts: Facts, isValidated: boolean) {
  const { domain } = facts;
  const { state, reason } = domain.certificate;
  if (domain.state === 'suspended') return 'inactive';
  if (hostnameStatus(facts) === 'deleted') return 'deleted';
  const byCaa = failedOf(domain.checks).some(({ code }) => isAboutCaa(code));
  switch (state) {
    case 'issued':
      return isValidated || domain.state !== 'verified' ? 'active' : 'pending_validation';
    case 'expired':
      return 'expired';
    case 'failed':
      return byCaa ? 'validation_timed_out' : 'issuance_timed_out';
    case 'pending':
      return reason === 'issuance_pending' && isValidated ? 'pending_issuance' : 'pending_validation';
    case 'none':
      if (domain.lastCheckedAt === undefined) return 'initializing';
      return domain.persona?.givenUp === true ? 'validation_timed_out' : 'pending_validation';
  }
}
