import { describe, expect, it } from 'vitest';
import type { CaaVerdict } from '../../../../../main/contract/certificates.ts';
import { canBeMade, makeEdits } from '../../../../../renderer/shared/domains/caa-edits.ts';
import { pathOf } from '../../../../../renderer/shared/domains/caa-path.ts';
import { pasteOf } from '../../../../../renderer/shared/domains/record-plan.ts';
import { refuses } from '../../../../support/fake-client.ts';
import { fakeZones, makeDomain, makeRecord, makeZone } from '../../../../support/page/page-domains.ts';

const RECORD = 'acme.test. CAA 0 issue "other.example"';

const VERDICT: CaaVerdict = {
  ...{ verdict: 'forbidden', foundAt: 'acme.test', decisive: [RECORD] },
  ...{ message: '', change: '', edits: [], warnings: [] },
  trace: [
    { name: 'www.acme.test', records: [], decision: 'climb', reason: 'Nothing here.' },
    {
      name: 'acme.test',
      records: [RECORD, 'acme.test. CAA 0 iodef "a@b"'],
      decision: 'forbid',
      reason: 'Others only.',
    },
  ],
};

describe('the path of a CAA walk', () => {
  it('leads from the name to the root, with the names it passed, and those it did not query', () => {
    expect(pathOf(VERDICT).map(({ dropped, name, decision }) => `${dropped}|${name}|${decision}`)).toEqual([
      '|www.acme.test|climb',
      'www.|acme.test|forbid',
      'www.acme.|test|not_asked',
      '||not_asked',
    ]);
  });

  it('marks the records that decide', () => {
    expect(pathOf(VERDICT)[1]?.records.map(({ decisive }) => decisive)).toEqual([true, false]);
  });
});

describe('the smallest change', () => {
  const edits = [
    { action: 'remove', name: 'acme.test', value: '0 issue "ca.example; validationmethods=dns-01"' },
    { action: 'add', name: 'acme.test', value: '0 issue "ca.example; validationmethods=dns-01,http-01"' },
  ] as const;

  it('can be made if all of its names are in zones here', () => {
    const zones = [makeZone('acme.test')];
    expect(canBeMade(edits, zones)).toBe(true);
    expect(canBeMade([...edits, { action: 'add', name: 'acme.example', value: '' }], zones)).toBe(false);
    expect(canBeMade([], zones)).toBe(false);
  });

  it('is made, keeps the TTL, and can be undone', async () => {
    const before = makeRecord('acme.test', '@ CAA 0 issue "ca.example; validationmethods=dns-01"', { ttl: 60 });
    const dns = fakeZones([makeZone('acme.test')], [before]);
    const undo = await makeEdits(dns.client, edits);
    expect(dns.lines()).toEqual(['acme.test: @ 60 CAA 0 issue "ca.example; validationmethods=dns-01,http-01"']);
    await undo();
    expect(dns.lines()).toEqual(['acme.test: @ 60 CAA 0 issue "ca.example; validationmethods=dns-01"']);
    // The last edit is undone first.
    expect(dns.changes()).toEqual(['records.remove', 'records.put', 'records.remove', 'records.put']);
  });

  it('is made as a whole or not at all', async () => {
    const before = makeRecord('acme.test', '@ CAA 0 issue "ca.example; validationmethods=dns-01"');
    const records = [before];
    const dns = fakeZones([makeZone('acme.test')], records, {
      'records.put': ({ value }: { value: string }) => {
        if (value !== before.value) refuses('conflict', 'There is no room.')();
        records.push(before);
      },
    });
    await expect(makeEdits(dns.client, edits)).rejects.toThrow('There is no room.');
    expect(records).toEqual([before]);
  });
});

describe('the part of a fix that is pasted', () => {
  const { instructions } = makeDomain('www.acme.test');
  it.each([
    ['Replace A 192.0.2.1 with: www CNAME cname.vivarium.localhost', 'www CNAME cname.vivarium.localhost'],
    [
      'To permit it, add this record: acme.test. CAA 0 issue "ca.example; a=\\"b\\"" – or, where it is not yours, wait',
      'acme.test. CAA 0 issue "ca.example; a=\\"b\\""',
    ],
    ['Wait, or advance the clock.', undefined],
    [undefined, undefined],
  ])('%s', (fix, expected) => {
    expect(pasteOf({ fix }, instructions)?.text).toBe(expected);
  });
});
