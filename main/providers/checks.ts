import type { Check } from '../contract/domains.ts';

/** Checks that say nothing about where the records lead. */
const BESIDE: ReadonlySet<Check['code']> = new Set([
  'wildcard_risk',
  'proxied',
  'txt_missing',
  'claimed_elsewhere',
  'issuance_pending',
  'caa_forbids',
  'caa_on_target',
  'caa_lookup_failed',
  'timed_out',
  'suffix_not_permitted',
]);

/** Whether the records lead here, by which a certificate is validated over HTTP. */
export const leadsHere = (checks: readonly Check[]): boolean =>
  checks.length > 0 && checks.every(({ code, outcome }) => BESIDE.has(code) || outcome === 'ok');

export const failedOf = (checks: readonly Check[]): Check[] =>
  checks.filter(({ outcome }) => outcome === 'failed' || outcome === 'unknown');

export const isAboutCaa = (code: Check['code']): boolean => code.startsWith('caa_');
