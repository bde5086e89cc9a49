import { describe, expect, it } from 'vitest';
import type { CaaVerdict } from '../../../main/contract/certificates.ts';
import { caaChecks } from '../../../main/domains/issue.ts';
import { type CaaLookup, explainCaa } from '../../../main/model/caa/walk.ts';

const REQUEST = { issuer: 'ca.example', method: 'http-01', accountUri: null, hostname: 'www.example.test' };

function verdictOver(answers: Record<string, CaaLookup>): Promise<CaaVerdict> {
  const lookup = (name: string) => Promise.resolve(answers[name] ?? { kind: 'empty' as const, aliasChain: [] });
  return explainCaa({ ...REQUEST, lookup });
}

describe('a verdict as a check', () => {
  const checks = async (answers: Record<string, CaaLookup>) => caaChecks(await verdictOver(answers), 'ca.example');
  const check = async (answers: Record<string, CaaLookup>) => (await checks(answers))[0];
  const nobody = { flags: 0, tag: 'issue', value: ';' };

  it('is ok without a restriction', async () => {
    expect(await check({})).toMatchObject({ code: 'caa_forbids', outcome: 'ok', found: 'no restriction' });
  });

  it('fails with the record and the name where it was found', async () => {
    expect(await check({ 'example.test': { kind: 'records', records: [nobody], aliasChain: [] } })).toMatchObject({
      code: 'caa_forbids',
      outcome: 'failed',
      found: 'example.test. CAA 0 issue ";"',
      fix: 'To permit it, add this record: example.test. CAA 0 issue "ca.example"',
    });
  });

  it('names the target if the records of a CNAME’s target forbid', async () => {
    expect(
      await check({ 'www.example.test': { kind: 'records', records: [nobody], aliasChain: ['edge.cdn.test'] } }),
    ).toMatchObject({
      code: 'caa_on_target',
      outcome: 'failed',
      found: 'edge.cdn.test. CAA 0 issue ";"',
      fix: expect.stringContaining('remove the CNAME from www.example.test to it') as unknown,
    });
  });

  it('includes every warning of the walk after it', async () => {
    const records = [
      { flags: 1, tag: 'foo', value: 'bar' },
      { flags: 0, tag: 'issue', value: 'CA.example' },
    ];
    expect(await checks({ 'example.test': { kind: 'records', records, aliasChain: [] } })).toMatchObject([
      { code: 'caa_forbids', outcome: 'ok' },
      { outcome: 'warning', message: expect.stringContaining('treats 1 as critical') as unknown },
      { outcome: 'warning', message: expect.stringContaining('is not in lower case') as unknown },
    ]);
  });

  it('is unknown if a query was not answered', async () => {
    expect(await check({ 'example.test': { kind: 'error', reason: 'timeout' } })).toMatchObject({
      code: 'caa_lookup_failed',
      outcome: 'unknown',
      found: 'no usable answer about example.test',
    });
  });

  it.each([
    ['unreachable', 'Check that the resolver in the settings is correct and reachable'],
    ['refused', 'Choose a resolver in the settings that answers recursive questions'],
    ['timeout', 'Check that the resolver in the settings is running and reachable. If it is, make the name servers of'],
    ['servfail', 'Make the name servers of example.test answer the question for CAA'],
  ] as const)('blames the resolver or the name servers if a query was %s', async (reason, fix) => {
    expect((await check({ 'example.test': { kind: 'error', reason } }))?.fix).toMatch(new RegExp(`^${fix}`));
  });
});
