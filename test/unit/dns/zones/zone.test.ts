import { describe, expect, test, vi } from 'vitest';
import { VivariumError } from '../../../../main/contract/errors.ts';
import { platformZone, publishPlatformZone } from '../../../../main/dns/zones/own-zones.ts';
import { formatRecord, parseValue } from '../../../../main/dns/wire/record-text.ts';
import type { RecordData, RecordType } from '../../../../main/dns/wire/record.ts';
import { ZoneIndex } from '../../../../main/dns/zones/zone-index.ts';
import { findZone, locate, ZoneSet } from '../../../../main/dns/zones/zone-set.ts';
import { carelessFaults, createZone, recordFaults } from '../../../../main/dns/zones/zone.ts';
import { zoneOf, zoneSetOf } from '../../../support/dns/dns-tables.ts';
import { sequence } from '../../../support/sequence.ts';

function data(text: string): RecordData {
  const [type = '', ...value] = text.split(' ');
  const result = parseValue(type as RecordType, value.join(' '));
  if (!result.ok) throw new Error(result.message);
  return result.data;
}

describe('the records at one name', () => {
  const faults = (name: string, text: string, present: string[] = [], supportsAlias = true, ttlSeconds = 60) =>
    recordFaults(
      { apex: 'acme.test', supportsAlias, at: () => present.map(data) },
      { name, ttlSeconds, data: data(text) },
    );

  test.each<[string, string, string[]]>([
    ['www.acme.test', 'CNAME x', []],
    ['www.acme.test', 'CNAME x', ['CNAME x']],
    ['www.acme.test', 'A 192.0.2.1', ['A 192.0.2.2', 'TXT x', 'MX 10 m']],
    ['acme.test', 'ALIAS x', ['SOA a b 1 1 1 1 1', 'NS n', 'MX 10 m', 'TXT x', 'CAA 0 issue ";"']],
    ['acme.test', 'ALIAS x', ['ALIAS x']],
    ['acme.test', 'NS n2', ['NS n1']],
    ['www.acme.test', 'CNAME 192.0.2.test', []],
    ['*.acme.test', 'A 192.0.2.1', []],
  ])('may include %s %s beside %s', (name, text, present) => {
    expect(faults(name, text, present)).toEqual([]);
  });

  test.each<[string, string, string[], string]>([
    ['www.acme.test', 'CNAME x', ['CNAME y'], 'another target already'],
    ['www.acme.test', 'CNAME x', ['A 192.0.2.1', 'TXT t'], 'has A, TXT already'],
    ['www.acme.test', 'CNAME x', ['NS n'], 'has NS already'],
    ['www.acme.test', 'A 192.0.2.1', ['CNAME x'], 'has a CNAME, which must be the only record'],
    ['www.acme.test', 'NS n', ['CNAME x'], 'has a CNAME, which must be the only record'],
    ['www.acme.test', 'CNAME 192.0.2.1', [], '"192.0.2.1" is an address; use an A record for it'],
    ['acme.test', 'ALIAS 192.0.2.1', [], 'use an A record for it'],
    ['acme.test', 'MX 10 192.0.2.1', [], 'MX needs a name, but "192.0.2.1" is an address; give a name an A record'],
    ['sub.acme.test', 'NS 192.0.2.1', [], 'give a name an A record with that address'],
    ['acme.test', 'CNAME x', ['SOA a b 1 1 1 1 1', 'NS n'], 'use ALIAS (or ANAME)'],
    ['acme.test', 'ALIAS x', ['A 192.0.2.1'], 'has its own (A)'],
    ['acme.test', 'AAAA ::1', ['ANAME x'], 'takes its addresses from an ALIAS'],
    ['acme.test', 'ALIAS x', ['ANAME y'], 'another target already'],
    ['acme.test', 'SOA a b 2 1 1 1 1', ['SOA a b 1 1 1 1 1'], 'exactly one'],
    ['www.acme.test', 'SOA a b 1 1 1 1 1', [], 'at the zone’s own name only'.replace('’', "'")],
    ['*.acme.test', 'NS n', [], 'can’t be delegated'.replace('’', "'")],
    ['www.other.test', 'A 192.0.2.1', [], 'is not in the zone'],
    ['acme.test.evil', 'A 192.0.2.1', [], 'is not in the zone'],
  ])('may not include %s %s beside %s', (name, text, present, message) => {
    expect(faults(name, text, present)).toEqual([expect.stringContaining(message)]);
  });

  test('may not include an ALIAS without support, or an invalid TTL', () => {
    expect(faults('acme.test', 'ALIAS x', [], false)[0]).toContain('has no ALIAS records');
    for (const ttl of [-1, 1.5, 2 ** 31, Number.NaN])
      expect(faults('acme.test', 'A 192.0.2.1', [], true, ttl)).toHaveLength(1);
  });
});

test.each([
  ['www.acme.test', 'CNAME 192.0.2.1', 0],
  ['acme.test', 'CNAME x', 0],
  ['acme.test', 'ALIAS x', 0],
  ['www.acme.test', 'SOA a b 1 1 1 1 1', 1],
  ['www.other.test', 'A 192.0.2.1', 1],
])('in %s %s, a careless provider finds %i faults', (name, text, count) => {
  expect(carelessFaults('acme.test', { name, ttlSeconds: 60, data: data(text) })).toHaveLength(count);
});

const outside = { name: 'b.test', ttlSeconds: 1, data: data('A 192.0.2.1') };

describe('a zone set', () => {
  test.each([
    ['a zone without SOA', { apex: 'a.test', supportsAlias: true, records: [] }, 'exactly one SOA'],
    ['a record outside', createZone({ apex: 'a.test', nameServer: 'ns.test', records: [outside] }), 'not in the zone'],
  ])('refuses %s', (_what, zone, message) => {
    expect(() => zoneSetOf([zone])).toThrow(VivariumError);
    expect(() => zoneSetOf([zone])).toThrow(message);
  });

  test('finds the deepest zone', () => {
    const set = zoneSetOf([zoneOf('test', ''), zoneOf('b.test', ''), zoneOf('c.b.test', '')]);
    const found = ['x.c.b.test', 'c.b.test', 'xc.b.test', 'test', 'example'].map((name) => findZone(set, name)?.apex);
    expect(found).toEqual(['c.b.test', 'c.b.test', 'b.test', 'test', undefined]);
  });

  test('counts every change to any of its zones', () => {
    const set = new ZoneSet();
    const counts = [set.changes];
    const note = (_done: unknown) => counts.push(set.changes);
    const zone = set.put(zoneOf('a.test', ''));
    note(zone);
    note(zone.replace('www.a.test', zoneOf('a.test', 'www A 192.0.2.1').records.slice(-1)));
    note(zone.replace('www.a.test', []));
    note(set.put(zoneOf('a.test', '')));
    note(set.remove('a.test'));
    expect(counts).toEqual([...new Set(counts)]);
  });

  test('looks a name up in as many steps as it has labels, however large the zones are', () => {
    // Counted, not timed: the Maps' lookups are all there is.
    const address = { ttlSeconds: 60, data: data('A 192.0.2.1') };
    const records = Array.from({ length: 50_000 }, (_, n) => ({ ...address, name: `h${n}.big.test` }));
    const zone = new ZoneIndex(createZone({ apex: 'big.test', nameServer: 'ns.test', records }));
    const get = vi.spyOn(Map.prototype, 'get');
    try {
      locate(zone, 'h7.big.test');
      expect(get.mock.calls.length).toBe(1);
      locate(zone, 'a.b.c.nothing.big.test');
      expect(get.mock.calls.length).toBe(1 + 6);
    } finally {
      get.mockRestore();
    }
  });
});

describe('the index of a zone', () => {
  const zone = zoneOf(
    'acme.test',
    `
    www        A   192.0.2.1
    a.b.c      A   192.0.2.2
    x.b.c      A   192.0.2.3
    sub        NS  ns.sub
    ns.sub     A   192.0.2.53
    h.in.sub   A   192.0.2.54
    *.wild     TXT "x"
    `,
  );
  const kinds = (index: ZoneIndex, names: string[]) =>
    Object.fromEntries(names.map((name) => [name, locate(index, `${name}.acme.test`).kind]));
  const recordsOf = (line: string) => zoneOf('acme.test', line).records.filter(({ name }) => name !== 'acme.test');

  test('changes only the changed name', () => {
    const index = new ZoneIndex(zone);
    index.replace('new.deep.acme.test', recordsOf('new.deep A 192.0.2.9'));
    index.replace('www.acme.test', []);
    const found = kinds(index, ['new.deep', 'deep', 'www', 'a.b.c', 'y.wild']);
    expect(Object.values(found)).toEqual(['node', 'node', 'absent', 'node', 'wildcard']);
  });

  test('keeps empty non-terminals as long as something is below them', () => {
    const index = new ZoneIndex(zone);
    index.replace('a.b.c.acme.test', []);
    expect(kinds(index, ['a.b.c', 'b.c', 'c'])).toEqual({ 'a.b.c': 'absent', 'b.c': 'node', c: 'node' });
    index.replace('x.b.c.acme.test', []);
    expect(kinds(index, ['x.b.c', 'b.c', 'c'])).toEqual({ 'x.b.c': 'absent', 'b.c': 'absent', c: 'absent' });
  });

  test('hides what is below a delegation, and shows it again when that is removed', () => {
    const index = new ZoneIndex(zone);
    const below = ['sub', 'ns.sub', 'h.in.sub', 'nothing.sub'];
    expect(Object.values(kinds(index, below))).toEqual(Array(4).fill('delegated'));
    index.replace('sub.acme.test', []);
    expect(Object.values(kinds(index, below))).toEqual(['node', 'node', 'node', 'absent']);
    index.replace('in.sub.acme.test', recordsOf('in.sub NS ns.elsewhere.test.'));
    expect(Object.values(kinds(index, below))).toEqual(['node', 'node', 'delegated', 'absent']);
    index.replace('sub.acme.test', recordsOf('sub NS ns.elsewhere.test.'));
    const located = locate(index, 'h.in.sub.acme.test');
    expect(located.kind === 'delegated' ? located.cut.name : null).toBe('sub.acme.test');
  });

  test('is the same after many changes as when it is built at once', () => {
    const names = ['a', 'b.a', '*.a', 'c.b.a', 'd', 'e.d', '@'];
    const types = ['A 192.0.2.1', 'TXT "x"', 'NS ns.elsewhere.test.'];
    const random = sequence(20261120);
    const index = new ZoneIndex(zoneOf('acme.test', ''));
    const now = new Map<string, string[]>();
    for (let step = 0; step < 2_000; step++) {
      const name = names[random(names.length)] ?? '@';
      const values = types.filter((type) => random(3) === 0 && !(name.startsWith('*') && type.startsWith('NS')));
      const lines = values.map((value) => `${name} ${value}`);
      now.set(name, lines);
      const absolute = name === '@' ? 'acme.test' : `${name}.acme.test`;
      const { records } = zoneOf('acme.test', lines.join('\n'));
      const own = records.filter((record) => record.name === absolute);
      index.replace(absolute, own);
      if (step % 50 !== 0) continue;
      const made = new ZoneIndex(zoneOf('acme.test', [...now.values()].flat().join('\n')));
      for (const asked of ['', 'a.', 'x.a.', 'b.a.', 'c.b.a.', 'x.b.a.', 'd.', 'e.d.', 'x.e.d.', 'f.']) {
        const [one, other] = [locate(index, `${asked}acme.test`), locate(made, `${asked}acme.test`)];
        expect([asked, shown(one)]).toEqual([asked, shown(other)]);
      }
      expect(index.size).toBe(made.size);
    }
  });

  test('refuses names outside the zone, and an apex without SOA, and stays unchanged', () => {
    const index = new ZoneIndex(zone);
    expect(() => index.replace('other.test', [])).toThrow('is not in the zone');
    expect(() => index.replace('acme.test', [])).toThrow('exactly one SOA');
    expect(index.node('acme.test')?.rrsets.map(({ type }) => type)).toEqual(['SOA', 'NS']);
  });
});

/** The contents of a location, without the nodes around it. */
function shown(location: ReturnType<typeof locate>) {
  const node = 'node' in location ? location.node : 'cut' in location ? location.cut : null;
  return [location.kind, node?.name, node?.rrsets.map(({ type }) => type).sort()];
}

describe('the platform’s zone', () => {
  const soaSerial = ({ negative }: ZoneIndex) => (negative.data[0]?.type === 'SOA' ? negative.data[0].serial : null);

  test('follows the hostnames, and raises its serial only for different ones', () => {
    const digests: string[] = [];
    const serialOf = (digest: string) =>
      (digests.includes(digest) ? digests.indexOf(digest) : digests.push(digest)) + 1;
    const one = 'one.vivarium.localhost';
    const two = 'two.vivarium.localhost';
    const zones = new ZoneSet();
    const { index, publish } = publishPlatformZone(zones, [one], serialOf);
    const there = () => [one, two].filter((name) => index.node(name) !== undefined);
    expect([there(), soaSerial(index)]).toEqual([[one], 2]);
    publish([two, one]);
    expect([there(), soaSerial(index)]).toEqual([[one, two], 3]);
    publish([one, two]);
    expect(digests).toHaveLength(2);
    publish([two]);
    expect([there(), soaSerial(index)]).toEqual([[two], 4]);
    expect(index.node('cname.vivarium.localhost')?.rrsets).toHaveLength(2);
  });
});

test('has loopback addresses for its own names and every served hostname', () => {
  const zone = platformZone({ hostnames: ['demo.vivarium.localhost', 'demo-staging.vivarium.localhost'] });
  const [soa, ns, ...addresses] = zone.records.map((record) => formatRecord(record).replace('3600 IN ', ''));
  expect(soa).toBe(
    'vivarium.localhost. SOA ns.vivarium.localhost. hostmaster.vivarium.localhost. 1 7200 900 1209600 300',
  );
  expect(ns).toBe('vivarium.localhost. NS ns.vivarium.localhost.');
  const names = ['', 'ns.', 'cname.', '*.break.', 'demo.', 'demo-staging.'].map((name) => `${name}vivarium.localhost.`);
  expect(addresses).toEqual(names.flatMap((name) => [`${name} A 127.0.0.1`, `${name} AAAA ::1`]));
  expect(() => zoneSetOf([zone])).not.toThrow();
});
