import { describe, expect, it } from 'vitest';
import type { CheckCode } from '../../../../../../main/contract/check-codes.ts';
import type { Check } from '../../../../../../main/contract/domains.ts';
import { changeSince, summaryOfChange } from '../../../../../../renderer/pages/domains/detail/domain-change.ts';
import type { LocalRecords } from '../../../../../../renderer/shared/domains/record-plan.ts';
import { makeDomain, makeRecord, makeZone, TARGET } from '../../../../../support/page/page-domains.ts';
import { CREATED_AT } from '../../../../../support/page/page-world.ts';

const NOW = Date.parse(CREATED_AT);
const check = (code: CheckCode, outcome: Check['outcome']): Check => ({ code, outcome, message: code });

function localWith(visibleAt: string, resolver = 'local'): LocalRecords {
  const zone = makeZone('acme.test');
  return { zones: [zone], zone, records: [makeRecord('acme.test', `www CNAME ${TARGET}`, { visibleAt })], resolver };
}

const since = (
  checks: Check[],
  live: Partial<Parameters<typeof changeSince>[1]>,
  rest: Parameters<typeof makeDomain>[1] = {},
) => {
  const known = { verdict: undefined, local: undefined, nowMs: NOW, ...live };
  return changeSince(makeDomain('www.acme.test', { checks, ...rest }), known);
};

describe('a domain whose DNS has changed since its last check', () => {
  it('is noticed by the CAA walk, both ways', () => {
    const ok = [check('caa_forbids', 'ok')];
    const refused = [check('caa_forbids', 'failed')];
    expect(since(ok, { verdict: 'forbidden' })).toBe('caa_forbids');
    expect(since(refused, { verdict: 'allowed' })).toBe('caa_permits');
    expect(since([check('caa_lookup_failed', 'unknown')], { verdict: 'allowed' })).toBe('caa_permits');
    expect(since(ok, { verdict: 'allowed' })).toBeUndefined();
    expect(since(refused, { verdict: 'forbidden' })).toBeUndefined();
    expect(since(ok, { verdict: 'forbidden' }, { state: 'suspended' })).toBeUndefined();
    expect(since(ok, {})).toBeUndefined();
  });

  it('is noticed by its record in the zone, once that is visible and verification queries there', () => {
    const missing = [check('no_record', 'failed')];
    const pending = { state: 'pending' } as const;
    expect(since(missing, { local: localWith(CREATED_AT) }, pending)).toBe('record_found');
    expect(since(missing, { local: localWith('2026-11-30T00:00:00.000Z') }, pending)).toBeUndefined();
    expect(since(missing, { local: localWith(CREATED_AT, '192.0.2.1:53') }, pending)).toBeUndefined();
    expect(since([check('chain_loop', 'failed')], { local: localWith(CREATED_AT) }, pending)).toBeUndefined();
  });

  it('shows this in place of the last check’s summary, with what to do', () => {
    const issued = makeDomain();
    expect(summaryOfChange('caa_forbids', issued)).toMatchObject({
      title: 'The next renewal will be refused',
      due: { at: issued.certificate.renewAt },
    });
    expect(summaryOfChange('caa_permits', issued).action).toBe('renew');
    const failed = makeDomain('a.acme.test', { certificate: { state: 'failed', reason: 'caa_forbids' } });
    expect(summaryOfChange('caa_permits', failed).action).toBe('verify');
  });
});
