import { describe, expect, it } from 'vitest';
import type { Check, Domain } from '../../../main/contract/domains.ts';
import { DAY_MS } from '../../../main/contract/duration.ts';
import { leadsHere } from '../../../main/providers/domains.ts';
import {
  certificateStatus,
  type Facts,
  hostnameStatus,
  validationErrors,
  verificationErrors,
} from '../../../main/providers/cloudflare/status.ts';

const NOW = Date.UTC(2026, 0, 31);
const at = (days: number): string => new Date(NOW - days * DAY_MS).toISOString();
const failed = (code: Check['code'], more: Partial<Check> = {}): Check => ({
  ...{ code, outcome: 'failed', message: `${code} is wrong.` },
  ...more,
});

interface Given extends Partial<Omit<Domain, 'certificate' | 'persona'>> {
  certificate?: Domain['certificate'];
  givenUp?: boolean;
  failingForDays?: number;
  refreshedDaysAgo?: number;
  origin?: string;
}

function facts({ givenUp = false, failingForDays, refreshedDaysAgo, origin = '', ...given }: Given): Facts {
  const domain: Domain = {
    ...{ hostname: 'www.acme.test', projectId: 'prj_1', kind: 'subdomain', state: 'pending' },
    ...{ checks: [], primary: false },
    ...{ certificate: { state: 'none' }, instructions: [], serving: { http: false, https: false }, attachedAt: at(30) },
    persona: { id: 'cloudflare', name: 'Cloudflare', givenUp },
    ...given,
  };
  const seriesAtMs = failingForDays === undefined ? null : NOW - failingForDays * DAY_MS;
  const held = { hostname: domain.hostname, projectId: 'prj_1', attachedAtMs: NOW - 30 * DAY_MS, seriesAtMs };
  const refreshedAtMs = refreshedDaysAgo === undefined ? 0 : NOW - refreshedDaysAgo * DAY_MS;
  return { domain, held, nowMs: NOW, refreshedAtMs, origin: origin === '' ? null : origin };
}

const moved = { state: 'misconfigured', verifiedAt: at(20) } as const;
const asked = { ...moved, failingForDays: 9, refreshedDaysAgo: 8 };

it.each<[status: string, when: string, given: Given]>([
  ['pending', 'nothing was checked', {}],
  ['pending', 'its record is wrong', { state: 'misconfigured', failingForDays: 6 }],
  ['active', 'it is verified', { state: 'verified' }],
  ['pending', 'the zone has no fallback origin', { state: 'verified', origin: 'Zone does not have one.' }],
  ['moved', 'it was verified and leads elsewhere', { ...moved, failingForDays: 6.9 }],
  ['deleted', 'that was a week ago', { ...moved, failingForDays: 7 }],
  ['pending', 'it was asked to be validated since', asked],
  ['moved', 'all tries are over', { givenUp: true, failingForDays: 13, lastCheckedAt: at(6) }],
  ['deleted', 'they were over a week ago', { givenUp: true, failingForDays: 14, lastCheckedAt: at(7) }],
  ['moved', 'they are over again after it was asked', { ...asked, givenUp: true, lastCheckedAt: at(1) }],
  ['blocked', 'it is suspended', { state: 'suspended', verifiedAt: at(20) }],
])('the status of a hostname is %s when %s', (status, _when, given) => {
  expect(hostnameStatus(facts(given))).toBe(status);
});

describe('the status of a certificate', () => {
  const checked = { lastCheckedAt: at(0) };
  const verified = (state: Domain['certificate']['state'], reason?: Check['code']): Given => ({
    ...{ state: 'verified', certificate: { state, ...(reason !== undefined && { reason }) } },
  });
  const issued = { certificate: { state: 'issued' } } as const;
  it.each<[status: string, when: string, given: Given, isValidated: boolean]>([
    ['initializing', 'nothing was checked', {}, false],
    ['pending_validation', 'the hostname waits for its record', checked, false],
    ['validation_timed_out', 'all tries are over', { ...checked, givenUp: true }, false],
    ['pending_issuance', 'issuance takes time', verified('pending', 'issuance_pending'), true],
    ['pending_validation', 'CAA forbids it', verified('pending', 'caa_forbids'), true],
    ['validation_timed_out', 'CAA forbade all', { ...verified('failed'), checks: [failed('caa_forbids')] }, true],
    ['issuance_timed_out', 'the CA failed all', verified('failed'), true],
    ['active', 'it is issued', verified('issued'), true],
    ['pending_validation', 'it was not validated', verified('issued'), false],
    ['active', 'its hostname has moved since', { ...moved, failingForDays: 1, ...issued }, false],
    ['deleted', 'its hostname is deleted', { ...moved, failingForDays: 8, ...issued }, false],
    ['expired', 'it is', verified('expired'), true],
    ['inactive', 'the hostname is blocked', { state: 'suspended', ...issued }, true],
  ])('is %s when %s', (status, _when, given, isValidated) => {
    expect(certificateStatus(facts(given), isValidated)).toBe(status);
  });
});

describe('records', () => {
  it('lead here when all that is said about them is right', () => {
    const [ok, warning] = [{ outcome: 'ok' }, { outcome: 'warning' }] as const;
    expect(leadsHere([])).toBe(false);
    expect(leadsHere([failed('no_record', ok), failed('wildcard_risk', warning)])).toBe(true);
    expect(leadsHere([failed('no_record', warning), failed('txt_missing', ok)])).toBe(false);
  });

  it('explain a hostname by where they lead, and by the proof only if that is all', () => {
    const [elsewhere, unproven] = [failed('wrong_target', { words: 'not here' }), failed('txt_missing')];
    expect(verificationErrors([elsewhere, unproven, failed('caa_forbids')])).toEqual(['not here']);
    expect(verificationErrors([unproven])).toEqual(['txt_missing is wrong.']);
  });

  it.each<[code: Check['code'], words: RegExp]>([
    ['caa_forbids', /^CAA records block issuance/],
    ['caa_on_target', /^CAA records block issuance/],
    ['caa_lookup_failed', /SERVFAIL/],
    ['dnssec_bogus', /^dns problem: looking up caa for www\.acme\.test: dnssec: bogus$/],
    ['suffix_not_permitted', /is wrong/],
  ])('explain a certificate: %s', (code, words) => {
    expect(validationErrors(facts({ checks: [failed(code), failed('no_record')] }).domain)).toEqual([
      expect.stringMatching(words),
    ]);
  });
});
