import type { Check, CheckCode } from '../contract/domains.ts';

/** What a check of the hostname, before its certificate, can find, in the order in which it is told. */
export const VERIFICATION_CODES = [
  'no_record',
  'lookup_failed',
  'wrong_target',
  'a_conflict',
  'cname_at_apex',
  'alias_mismatch',
  'alias_unsupported',
  'chain_loop',
  'chain_too_long',
  'not_propagated',
  'moved',
  'wildcard_risk',
] as const satisfies readonly CheckCode[];

export type VerificationCode = (typeof VERIFICATION_CODES)[number];

/** A check of verification; `code` names what was looked at, `outcome` what came of it. */
export type VerificationCheck = Check & { code: VerificationCode };

export const inOrder = (checks: readonly VerificationCheck[]): VerificationCheck[] =>
  VERIFICATION_CODES.flatMap((code) => checks.filter((check) => check.code === code));

/** `unknown`: a question was not answered, and nothing else speaks against the domain. */
export type VerificationVerdict = 'ok' | 'failed' | 'unknown';

/** What the lifecycle goes by. No checks at all are no knowledge. */
export function verdictOf(checks: readonly Check[]): VerificationVerdict {
  if (checks.some(({ outcome }) => outcome === 'failed')) return 'failed';
  return checks.length === 0 || checks.some(({ outcome }) => outcome === 'unknown') ? 'unknown' : 'ok';
}

/** Whether nothing wrong was seen, only nothing yet: such a domain is `pending`, not `misconfigured`. */
export const hasFoundNothing = (checks: readonly Check[]): boolean =>
  verdictOf(checks) !== 'ok' &&
  checks.every(({ code, outcome }) => outcome !== 'failed' || code === 'no_record' || code === 'not_propagated');
