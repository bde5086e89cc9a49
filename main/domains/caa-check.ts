import type { CaaVerdict } from '../contract/caa.ts';
import type { Check } from '../contract/domains.ts';

/** The verdict of a CAA walk as a check of the domain: what stands between it and its certificate. */
export function caaCheck(verdict: CaaVerdict, issuer: string): Check {
  const expected = `${issuer} may issue`;
  const found = verdict.decisive.join('; ');
  switch (verdict.verdict) {
    case 'allowed':
      return {
        code: 'caa_forbids',
        outcome: 'ok',
        expected,
        found: found || 'no restriction',
        message: verdict.message,
      };
    case 'forbidden':
      return { code: 'caa_forbids', outcome: 'failed', expected, found, message: verdict.message, fix: verdict.change };
    case 'lookup_failed':
      return {
        code: 'caa_lookup_failed',
        outcome: 'unknown',
        expected,
        found: verdict.trace.at(-1)?.name,
        message: verdict.message,
        fix: verdict.change,
      };
  }
}
