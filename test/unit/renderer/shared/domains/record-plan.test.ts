import { describe, expect, it } from 'vitest';
import type { Domain } from '../../../../../main/contract/domains.ts';
import type { RecordInfo, ZoneInfo } from '../../../../../main/contract/zones.ts';
import { closestZone, nameWithin, planRecord, type RecordPlan } from '../../../../../main/contract/record-plan.ts';
import { applyPlan, describePlan, readLocalRecords } from '../../../../../renderer/shared/domains/record-plan.ts';
import { refuses } from '../../../../support/fake-client.ts';
import { fakeZones, makeDomain, makeRecord, makeZone, TARGET } from '../../../../support/page/page-domains.ts';

const SUBDOMAIN = makeDomain('www.acme.test');
const APEX = makeDomain('acme.test', {
  kind: 'apex',
  instructions: [{ type: 'ALIAS', name: '@', value: TARGET, ttl: 3600, note: 'Move the zone.' }],
});

/** With a claim whose TXT record has a separate name, and a text in upper and lower case. */
const CLAIMED = makeDomain('shop.eu.acme.test', {
  instructions: [
    { type: 'CNAME', name: 'shop.eu', value: TARGET, ttl: 3600 },
    { type: 'TXT', name: '_claim', value: 'Code', ttl: 3600 },
  ],
});
const ADDRESS = makeDomain('acme.test', {
  kind: 'apex',
  instructions: [{ type: 'A', name: '@', value: '127.0.0.1', ttl: 3600 }],
});

/** The plan in words; `zone` is what contains `lines`, null if there is none. */
function plan(domain: Domain, zone: string | null, lines: string[] = [], supportsAlias = true): string {
  const holding = zone === null ? null : makeZone(zone, { supportsAlias });
  const made = planRecord(domain, { zone: holding, records: lines.map((line) => makeRecord(zone ?? '', line)) });
  switch (made.kind) {
    case 'put':
      return describePlan(made).replaceAll('`', '');
    case 'present':
      return `present in ${made.zone}`;
    case 'impossible':
      return `impossible: ${made.why}`;
  }
}

describe('the plan of one click', () => {
  it.each<[string, Domain, string | null, string[], string]>([
    [
      'no zone',
      SUBDOMAIN,
      null,
      [],
      'Creates the zone acme.test in Vivarium’s DNS, and adds www CNAME cname.vivarium.localhost.',
    ],
    [
      'no zone for an apex',
      APEX,
      null,
      [],
      'Creates the zone acme.test in Vivarium’s DNS, and adds @ ALIAS cname.vivarium.localhost.',
    ],
    [
      'an empty zone',
      SUBDOMAIN,
      'acme.test',
      [],
      'Adds www CNAME cname.vivarium.localhost to the zone acme.test in Vivarium’s DNS.',
    ],
    [
      'a zone above',
      SUBDOMAIN,
      'test',
      [],
      'Adds www.acme CNAME cname.vivarium.localhost to the zone test in Vivarium’s DNS.',
    ],
    ['the record', SUBDOMAIN, 'acme.test', ['www CNAME CNAME.vivarium.localhost.'], 'present in acme.test'],
    ['an ANAME is as good as an ALIAS', APEX, 'acme.test', [`@ ANAME ${TARGET}`], 'present in acme.test'],
    [
      'another CNAME',
      SUBDOMAIN,
      'acme.test',
      ['www CNAME old.example'],
      'Replaces www CNAME old.example in the zone acme.test of Vivarium’s DNS.',
    ],
    [
      'a CNAME stands alone',
      SUBDOMAIN,
      'acme.test',
      ['www A 192.0.2.1', 'www TXT hello'],
      'Replaces www A 192.0.2.1 and www TXT hello in the zone acme.test of Vivarium’s DNS.',
    ],
    [
      'an address beside the right record',
      SUBDOMAIN,
      'acme.test',
      [`www CNAME ${TARGET}`, 'www A 192.0.2.1'],
      'Replaces www A 192.0.2.1 in the zone acme.test of Vivarium’s DNS.',
    ],
    [
      'an apex keeps records other than addresses',
      APEX,
      'acme.test',
      ['@ MX 10 mail.acme.test', '@ CAA 0 issue "ca.example"', '@ A 192.0.2.1'],
      'Replaces @ A 192.0.2.1 in the zone acme.test of Vivarium’s DNS.',
    ],
    ['a claim comes first', CLAIMED, 'acme.test', [], 'Adds _claim TXT Code to the zone acme.test in Vivarium’s DNS.'],
    [
      'a claim in another case, and another text beside it',
      CLAIMED,
      'acme.test',
      ['_claim TXT CODE', '_claim TXT other'],
      'Adds _claim TXT Code to the zone acme.test in Vivarium’s DNS.',
    ],
    [
      'then the record that leads here',
      CLAIMED,
      'acme.test',
      ['_claim TXT Code', 'other A 192.0.2.1'],
      `Adds shop.eu CNAME ${TARGET} to the zone acme.test in Vivarium’s DNS.`,
    ],
    [
      'a claim and its record',
      CLAIMED,
      'acme.test',
      ['_claim TXT Code', `shop.eu CNAME ${TARGET}`],
      'present in acme.test',
    ],
    [
      'a claim above the zone of the hostname',
      CLAIMED,
      'eu.acme.test',
      [],
      'impossible: _claim is above the zone eu.acme.test.',
    ],
    [
      'an address at an apex, where the provider has no ALIAS either',
      ADDRESS,
      'acme.test',
      ['@ MX 10 mail.acme.test', '@ A 192.0.2.1'],
      'Replaces @ A 192.0.2.1 in the zone acme.test of Vivarium’s DNS.',
    ],
  ])('%s', (_what, domain, zone, lines, expected) => {
    expect(plan(domain, zone, lines)).toBe(expected);
  });

  it('tells what to do instead if the provider has no ALIAS, or a zone begins at the hostname', () => {
    expect(plan(APEX, 'acme.test', [], false)).toBe('impossible: Move the zone.');
    expect(plan(SUBDOMAIN, 'www.acme.test')).toMatch(/^impossible: /);
  });

  it('finds the closest zone, by whole labels', () => {
    const zones = ['test', 'acme.test', 'me.test'].map((name) => makeZone(name));
    expect(closestZone('www.acme.test', zones)?.name).toBe('acme.test');
    expect(closestZone('acme.test', zones)?.name).toBe('acme.test');
    expect(closestZone('acme.example', zones)).toBeNull();
    expect([nameWithin('acme.test', 'acme.test'), nameWithin('a.b.acme.test', 'acme.test')]).toEqual(['@', 'a.b']);
  });

  it('reads the records at the hostname', async () => {
    const { client } = fakeZones(
      [makeZone('acme.test')],
      [makeRecord('acme.test', 'www A 192.0.2.1'), makeRecord('acme.test', 'other A 192.0.2.2')],
    );
    const { signal } = new AbortController();
    const local = await readLocalRecords(client, SUBDOMAIN, { resolver: 'local' }, signal);
    const { zone, records, resolver } = local;
    expect([zone?.name, records.map(({ value }) => value), resolver]).toEqual(['acme.test', ['192.0.2.1'], 'local']);
  });
});

/** Executes what `planRecord` makes of the www record in this zone. */
const apply = (dns: ReturnType<typeof fakeZones>, zone: ZoneInfo | null, records: RecordInfo[] = []) =>
  applyPlan(dns.client, planRecord(SUBDOMAIN, { zone, records }) as Extract<RecordPlan, { kind: 'put' }>);

const ZONE = makeZone('acme.test');
describe('the execution of the plan', () => {
  it('creates the zone, and Undo removes it', async () => {
    const dns = fakeZones([], []);
    const undo = await apply(dns, null);
    expect([dns.names(), dns.lines()]).toEqual([['acme.test'], [`acme.test: www 3600 CNAME ${TARGET}`]]);
    await undo();
    expect([dns.names(), dns.lines()]).toEqual([[], []]);
  });

  it('leaves a zone to which something else was added meanwhile', async () => {
    const dns = fakeZones([], []);
    const undo = await apply(dns, null);
    await dns.client.records.put({ zone: 'acme.test', name: 'mail', type: 'A', value: '192.0.2.9' });
    await undo();
    expect(dns.names()).toEqual(['acme.test']);
  });

  it('replaces conflicting records, and Undo restores them with their TTL', async () => {
    const old = makeRecord('acme.test', 'www A 192.0.2.1', { ttl: 60 });
    const dns = fakeZones([ZONE], [old]);
    const undo = await apply(dns, ZONE, [old]);
    expect(dns.lines()).toEqual([`acme.test: www 3600 CNAME ${TARGET}`]);
    await undo();
    expect(dns.lines()).toEqual(['acme.test: www 60 A 192.0.2.1']);
  });

  it('replaces one record in one step, and several without a moment when none exists', async () => {
    const lines = ['www A 192.0.2.1', 'www A 192.0.2.2', 'www AAAA 2001:db8::1'];
    const olds = lines.map((line) => makeRecord('acme.test', line));
    for (const replaced of [olds.slice(0, 1), olds]) {
      const dns = fakeZones([ZONE], [...replaced]);
      const undo = await apply(dns, ZONE, replaced);
      const removals = replaced.slice(1).map(() => 'records.remove');
      expect(dns.calls.map(({ procedure }) => procedure)).toEqual([...removals, 'records.update']);
      expect(dns.lines()).toEqual([`acme.test: www 3600 CNAME ${TARGET}`]);
      await undo();
      expect(dns.lines().toSorted()).toEqual(
        lines.slice(0, replaced.length).map((line) => `acme.test: ${line.replace(' ', ' 3600 ')}`),
      );
    }
  });

  it('restores the replaced records if the new one is refused', async () => {
    const olds = ['www A 192.0.2.1', 'www A 192.0.2.2'].map((line) => makeRecord('acme.test', line));
    const dns = fakeZones([ZONE], [...olds], { 'records.update': refuses('conflict', 'There is no room.') });
    await expect(apply(dns, ZONE, olds)).rejects.toThrow('There is no room.');
    expect(dns.lines().toSorted()).toEqual(['acme.test: www 3600 A 192.0.2.1', 'acme.test: www 3600 A 192.0.2.2']);
  });
});
