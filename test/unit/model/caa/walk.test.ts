import { describe, expect, it } from 'vitest';
import { caaVerdict } from '../../../../main/contract/certificates.ts';
import { caaLookupOver } from '../../../../main/domains/checks/resolution.ts';
import { walkCaa, type CaaLookup, explainCaa } from '../../../../main/model/caa/walk.ts';
import { zoneOf } from '../../../support/dns/dns-tables.ts';
import { dnsOver, RESOLVER } from '../../domains/zones.ts';

const REQUEST = { issuer: 'ca.example', method: 'http-01', accountUri: null };

/** The walk over a table of answers, without any promise. */
function walk(hostname: string, answers: Record<string, CaaLookup>) {
  const asked: string[] = [];
  const machine = walkCaa({ ...REQUEST, hostname });
  let step = machine.next();
  while (step.done !== true) {
    asked.push(step.value);
    step = machine.next(answers[step.value] ?? { kind: 'empty', aliasChain: [] });
  }
  return { asked, verdict: step.value };
}

const lookedUp = (records: [tag: string, value: string][]): CaaLookup => ({
  kind: 'records',
  records: records.map(([tag, value]) => ({ flags: 0, tag, value })),
  aliasChain: [],
});
const issue = (value: string) => lookedUp([['issue', value]]);

describe('a CAA walk', () => {
  it('queries the name and each parent up to and including the top-level domain', () => {
    expect(walk('a.b.example.test', {}).asked).toEqual(['a.b.example.test', 'b.example.test', 'example.test', 'test']);
  });

  it('queries names in lower case, without the dot, in A-labels, and a wildcard’s parent', () => {
    expect(walk('*.Bücher.TEST.', {}).asked).toEqual(['xn--bcher-kva.test', 'test']);
  });

  it('queries nothing above the first record set', () => {
    const { asked } = walk('a.b.example.test', { 'b.example.test': issue('ca.example') });
    expect(asked).toEqual(['a.b.example.test', 'b.example.test']);
  });

  it('queries nothing above an error', () => {
    const error: CaaLookup = { kind: 'error', reason: 'servfail' };
    const { asked, verdict } = walk('a.example.test', { 'example.test': error, test: issue('ca.example') });
    expect(asked).toEqual(['a.example.test', 'example.test']);
    expect(verdict.trace.map(({ decision }) => decision)).toEqual(['climb', 'error']);
  });

  it('treats an answer without CAA records as an empty one', () => {
    const { asked } = walk('example.test', { 'example.test': lookedUp([]) });
    expect(asked).toEqual(['example.test', 'test']);
  });

  it('explains each step in a sentence, with the records in zone-file notation', () => {
    const RECORD = 'example.test. CAA 0 issue "other.example"';
    const why = `The record ${RECORD} authorises other.example only. No record authorises ca.example.`;
    const { verdict } = walk('www.example.test', {
      'www.example.test': { kind: 'empty', aliasChain: ['host.test'] },
      'example.test': lookedUp([
        ['issue', 'other.example'],
        ['iodef', 'mailto:"a\\b"@\xe4'],
      ]),
    });
    expect(verdict).toEqual({
      verdict: 'forbidden',
      foundAt: 'example.test',
      message: `ca.example must not issue for www.example.test. ${why}`,
      change: 'To permit it, add this record: example.test. CAA 0 issue "ca.example"',
      edits: [{ action: 'add', name: 'example.test', value: '0 issue "ca.example"' }],
      decisive: [RECORD],
      warnings: [],
      trace: [
        {
          ...{ name: 'www.example.test', records: [], decision: 'climb' },
          reason:
            'www.example.test is an alias of host.test, which has no CAA records. So example.test is queried next, not the parent of the alias’s target.',
        },
        {
          ...{ name: 'example.test', decision: 'forbid', reason: why },
          records: [RECORD, 'example.test. CAA 0 iodef "mailto:\\"a\\\\b\\"@\\228"'],
        },
      ],
    });
    expect(caaVerdict.parse(verdict)).toEqual(verdict);
  });

  it('names at most five records in a sentence', () => {
    const records = Array.from({ length: 100 }, (_, index): [string, string] => ['issue', `ca${index}.example`]);
    const { verdict } = walk('example.test', { 'example.test': lookedUp(records) });
    expect(verdict.message).toContain('95 more records do not authorise it either');
    expect(verdict.trace[0]?.records).toHaveLength(100);
  });

  it('ends after as many queries as the longest name has labels', () => {
    expect(walk('a.'.repeat(126) + 'a', {}).asked).toHaveLength(127);
  });
});

describe('a CAA lookup', () => {
  const zone = zoneOf('example.test', 'www CNAME one\none CNAME two\ntwo CAA 0 issue "ca.example"\nloop CNAME loop');

  it('queries once if the server follows the CNAMEs itself', async () => {
    const dns = dnsOver([zone]);
    expect(await caaLookupOver(dns)('www.example.test')).toMatchObject({
      ...issue('ca.example'),
      aliasChain: ['one.example.test', 'two.example.test'],
    });
    expect(dns.asked).toEqual(['www.example.test CAA']);
  });

  it('reports a loop as an error', async () => {
    const error = await caaLookupOver(dnsOver([zone]))('loop.example.test');
    expect(error).toMatchObject({ kind: 'error', reason: 'chain_loop' });
  });

  it('treats what our zones delegate as a name outside them, and a resolver’s referral as an error', async () => {
    const cut = zoneOf('example.test', 'eu NS ns1.elsewhere.test.');
    expect(await caaLookupOver(dnsOver([cut]))('shop.eu.example.test')).toMatchObject({
      kind: 'empty',
      note: 'shop.eu.example.test is below eu.example.test, which is delegated to ns1.elsewhere.test, outside Vivarium’s DNS, which counts as having no CAA records',
    });
    const referral = await caaLookupOver(dnsOver([cut], {}, RESOLVER))('eu.example.test');
    expect(referral).toMatchObject({ kind: 'error', reason: 'referral', detail: 'ns1.elsewhere.test' });
  });

  it('passes on an error of the lookup itself', async () => {
    const lookup = (): Promise<CaaLookup> => Promise.reject(new Error('out of sockets'));
    await expect(explainCaa({ ...REQUEST, hostname: 'example.test', lookup })).rejects.toThrow('out of sockets');
  });
});
