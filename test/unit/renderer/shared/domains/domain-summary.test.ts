import { describe, expect, it } from 'vitest';
import type { CheckCode } from '../../../../../main/contract/check-codes.ts';
import type { Check, Domain } from '../../../../../main/contract/domains.ts';
import { nextCheckOf, summaryOf, underBreaks } from '../../../../../renderer/shared/domains/domain-summary.ts';
import { makeDomain } from '../../../../support/page/page-domains.ts';

const failed = (code: CheckCode, rest: Partial<Check> = {}): Check => ({
  ...{ code, outcome: 'failed', message: `About ${code}.` },
  ...rest,
});
const unknown = failed('lookup_failed', { outcome: 'unknown' });
const AT = '2026-11-20T10:00:00.000Z';
/** A certificate that is awaited for a reason. */
const pending = (reason: CheckCode): Domain['certificate'] => ({ state: 'pending', reason, nextAttemptAt: AT });
/** A domain in this state, without a certificate. */
const without = (state: Domain['state'], ...checks: Check[]) =>
  ({ state, checks, certificate: { state: 'none' } }) as const;
const fix = 'Extend the root: `ca.extend {"suffix":"acme.com"}`, and trust it.';

/** Tone, title, what is pending, and what to do. */
const CASES: [fact: string, domain: Partial<Domain>, summary: string][] = [
  ['healthy', {}, 'moss | Served over HTTP and HTTPS'],
  ['a warning', { checks: [failed('wildcard_risk', { outcome: 'warning' })] }, 'moss | Served over HTTP and HTTPS'],
  [
    'attached and not checked',
    { ...without('pending'), verifiedAt: undefined, lastCheckedAt: undefined },
    'amber | Waiting for the record | verify',
  ],
  ['no record', without('pending', failed('no_record')), 'amber | No record yet | verify'],
  [
    'pending',
    without('pending', failed('not_propagated', { until: AT })),
    `water | Not visible yet | Visible in ${AT} | clock`,
  ],
  ['a question without an answer', without('pending', unknown), 'amber | The DNS did not answer | verify'],
  ['wrong', without('misconfigured', failed('wrong_target')), 'brick | The CNAME leads elsewhere | verify'],
  [
    'moved away',
    { state: 'misconfigured', checks: [failed('wrong_target'), failed('moved')] },
    'brick | The CNAME leads elsewhere | verify',
  ],
  [
    'a pending certificate',
    { certificate: pending('issuance_pending') },
    `water | The certificate is being issued | Issued in ${AT} | clock`,
  ],
  [
    'refused',
    { certificate: pending('caa_forbids'), checks: [failed('caa_forbids')] },
    `brick | CAA forbids the certificate | Next attempt in ${AT} | verify`,
  ],
  [
    'given up',
    { certificate: { state: 'failed', reason: 'timed_out' }, checks: [failed('caa_forbids'), failed('timed_out')] },
    'brick | CAA forbids the certificate | verify',
  ],
  [
    'expired',
    { certificate: { state: 'expired', nextAttemptAt: AT }, checks: [failed('caa_forbids')] },
    `brick | The certificate has expired | Next attempt in ${AT} | verify`,
  ],
  [
    'a renewal that will be refused',
    { certificate: { state: 'issued', renewAt: AT }, checks: [failed('caa_forbids')] },
    `amber | Renewal: CAA forbids the certificate | Renewal in ${AT} | verify`,
  ],
  [
    'a renewal that was refused',
    { certificate: { state: 'issued', nextAttemptAt: AT }, checks: [failed('suffix_not_permitted')] },
    `amber | Renewal: the root may not sign for it | Next attempt in ${AT} | verify`,
  ],
  [
    'a name that the root may not sign for',
    { certificate: pending('suffix_not_permitted'), checks: [failed('suffix_not_permitted', { fix })] },
    `brick | The root may not sign for it | Next attempt in ${AT} | root acme.com`,
  ],
  [
    'verified, and not known now',
    { checks: [unknown] },
    'amber | The DNS did not answer | Renewal in 2027-01-19T09:00:00.000Z | verify',
  ],
  [
    'suspended, whatever else is wrong',
    { state: 'suspended', checks: [failed('caa_forbids')] },
    'amber | Suspended by the plan | plan',
  ],
];

describe('the overall state of a domain', () => {
  it.each(CASES)('%s', (_fact, rest, expected) => {
    const { tone, title, due, action, suffix } = summaryOf(makeDomain('www.acme.test', rest));
    const way = suffix === undefined ? action : `${action ?? ''} ${suffix}`;
    const parts = [tone, title, due === undefined ? undefined : `${due.what} ${due.at}`, way];
    expect(parts.filter((part) => part !== undefined).join(' | ')).toBe(expected);
  });

  it('mentions that a domain verified before is still served', () => {
    const moved = makeDomain('www.acme.test', { state: 'misconfigured', checks: [failed('wrong_target')] });
    expect(summaryOf(moved).text).toContain('is still served');
    expect(summaryOf({ ...moved, verifiedAt: undefined })).toMatchObject({ reason: 'About wrong_target.', text: '' });
  });

  it('is not healthy while a break strikes; what is wrong anyway stays', () => {
    const [healthy, wrong] = [{}, without('pending', failed('no_record'))].map((rest) =>
      summaryOf(makeDomain('www.acme.test', rest)),
    );
    expect([healthy, wrong].map((each) => each && underBreaks(each, [{ entry: 'http.status' }]).title)).toEqual([
      'Served, but broken on purpose',
      'No record yet',
    ]);
    const others = ['drill', 'ca.rate-limit', 'machine.port'].map((entry) => ({ entry }));
    expect(healthy && underBreaks(healthy, others)).toBe(healthy);
  });

  it('tells the time of the next check: as soon as a pending record is visible, before the daily check', () => {
    const domain = makeDomain('www.acme.test', { nextCheckAt: '2026-11-21T09:00:00.000Z' });
    expect(nextCheckOf(domain)).toBe('2026-11-21T09:00:00.000Z');
    const onItsWay = failed('not_propagated', { until: '2026-11-20T10:30:00.000Z' });
    expect(nextCheckOf({ ...domain, checks: [failed('no_record'), onItsWay] })).toBe(onItsWay.until);
    expect(nextCheckOf({ checks: [failed('no_record')] })).toBeUndefined();
  });
});
