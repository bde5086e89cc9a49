import { describe, expect, test } from 'vitest';
import { VivariumError } from '../../../main/contract/errors.ts';
import { platformZone } from '../../../main/dns/platform-zone.ts';
import { formatRecord } from '../../../main/dns/record-format.ts';
import { parseValue } from '../../../main/dns/record-text.ts';
import type { RecordData, RecordType } from '../../../main/dns/record.ts';
import { answer } from '../../../main/dns/responder.ts';
import { buildZoneSet, findZone, locate } from '../../../main/dns/zone-set.ts';
import { createZone, recordFaults } from '../../../main/dns/zone.ts';
import { zoneOf } from '../../support/dns-tables.ts';

function data(text: string): RecordData {
  const [type = '', ...value] = text.split(' ');
  const result = parseValue(type as RecordType, value.join(' '));
  if (!result.ok) throw new Error(result.message);
  return result.data;
}

describe('whether a record may stand at its place', () => {
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
    ['*.acme.test', 'A 192.0.2.1', []],
  ])('%s %s beside %s', (name, text, present) => {
    expect(faults(name, text, present)).toEqual([]);
  });

  test.each<[string, string, string[], string]>([
    ['www.acme.test', 'CNAME x', ['CNAME y'], 'another target already'],
    ['www.acme.test', 'CNAME x', ['A 192.0.2.1', 'TXT t'], 'has A, TXT already'],
    ['www.acme.test', 'A 192.0.2.1', ['CNAME x'], 'is a CNAME, which stands alone'],
    ['acme.test', 'CNAME x', ['SOA a b 1 1 1 1 1', 'NS n'], 'use ALIAS (or ANAME)'],
    ['acme.test', 'ALIAS x', ['A 192.0.2.1'], 'has its own (A)'],
    ['acme.test', 'AAAA ::1', ['ANAME x'], 'takes its addresses from an ALIAS'],
    ['acme.test', 'ALIAS x', ['ANAME y'], 'another target already'],
    ['acme.test', 'SOA a b 2 1 1 1 1', ['SOA a b 1 1 1 1 1'], 'exactly one'],
    ['www.acme.test', 'SOA a b 1 1 1 1 1', [], 'at the zone’s own name only'.replace('’', "'")],
    ['*.acme.test', 'NS n', [], 'can’t be delegated'.replace('’', "'")],
    ['www.other.test', 'A 192.0.2.1', [], 'is not in the zone'],
    ['acme.test.evil', 'A 192.0.2.1', [], 'is not in the zone'],
  ])('not %s %s beside %s', (name, text, present, message) => {
    expect(faults(name, text, present)).toEqual([expect.stringContaining(message)]);
  });

  test('not an ALIAS without support, nor a TTL that is none', () => {
    expect(faults('acme.test', 'ALIAS x', [], false)[0]).toContain('has no ALIAS records');
    for (const ttl of [-1, 1.5, 2 ** 31, Number.NaN])
      expect(faults('acme.test', 'A 192.0.2.1', [], true, ttl)).toHaveLength(1);
  });
});

describe('a zone set', () => {
  test.each([
    ['two zones of one name', [zoneOf('a.test', ''), zoneOf('a.test', '')], 'is there twice'],
    ['a zone without SOA', [{ apex: 'a.test', supportsAlias: true, records: [] }], 'exactly one SOA'],
    [
      'a record outside its zone',
      [{ ...zoneOf('a.test', ''), records: [{ name: 'b.test', ttlSeconds: 1, data: data('A 192.0.2.1') }] }],
      'is not in the zone',
    ],
  ])('refuses %s', (_what, zones, message) => {
    expect(() => buildZoneSet(zones)).toThrow(VivariumError);
    expect(() => buildZoneSet(zones)).toThrow(message);
  });

  test('finds the deepest zone', () => {
    const set = buildZoneSet([zoneOf('test', ''), zoneOf('b.test', ''), zoneOf('c.b.test', '')]);
    expect(['x.c.b.test', 'c.b.test', 'xc.b.test', 'test', 'example'].map((name) => findZone(set, name)?.apex)).toEqual(
      ['c.b.test', 'c.b.test', 'b.test', 'test', undefined],
    );
  });

  test('indexes a zone value once', () => {
    const kept = zoneOf('kept.test', 'www A 192.0.2.1');
    const first = buildZoneSet([kept, zoneOf('a.test', '')]);
    const second = buildZoneSet([kept, zoneOf('a.test', 'www A 192.0.2.2')]);
    expect(second.zones.get('kept.test')).toBe(first.zones.get('kept.test'));
    expect(second.zones.get('a.test')).not.toBe(first.zones.get('a.test'));
  });

  test('does not change when the next is built', () => {
    const before = buildZoneSet([zoneOf('a.test', 'www A 192.0.2.1')]);
    buildZoneSet([zoneOf('a.test', '')]);
    expect(answer(before, { name: 'www.a.test', type: 1, class: 1 }).answer).toHaveLength(1);
  });

  test('looks a name up in as many steps as it has labels, however large the zones are', () => {
    // Counted, not timed: the Maps' look-ups are all there is.
    const address = data('A 192.0.2.1');
    const records = Array.from({ length: 50_000 }, (_, n) => ({
      name: `h${n}.big.test`,
      ttlSeconds: 60,
      data: address,
    }));
    const set = buildZoneSet([createZone({ apex: 'big.test', nameServer: 'ns.test', records })]);
    const zone = findZone(set, 'big.test');
    if (zone === null) throw new Error('no zone');
    let lookUps = 0;
    const counting = { ...zone, nodes: new Map(zone.nodes) };
    const get = counting.nodes.get.bind(counting.nodes);
    counting.nodes.get = (name) => (lookUps++, get(name));
    locate(counting, 'h7.big.test');
    expect(lookUps).toBe(1);
    locate(counting, 'a.b.c.nothing.big.test');
    expect(lookUps).toBe(1 + 6);
  });
});

test('the platform’s zone has loopback addresses for its own names and every hostname served', () => {
  const zone = platformZone({ hostnames: ['demo.vivarium.localhost', 'demo-staging.vivarium.localhost'] });
  expect(zone.records.map((record) => formatRecord(record))).toEqual([
    'vivarium.localhost. 3600 IN SOA ns.vivarium.localhost. hostmaster.vivarium.localhost. 1 7200 900 1209600 300',
    'vivarium.localhost. 3600 IN NS ns.vivarium.localhost.',
    'vivarium.localhost. 3600 IN A 127.0.0.1',
    'vivarium.localhost. 3600 IN AAAA ::1',
    'ns.vivarium.localhost. 3600 IN A 127.0.0.1',
    'ns.vivarium.localhost. 3600 IN AAAA ::1',
    'cname.vivarium.localhost. 3600 IN A 127.0.0.1',
    'cname.vivarium.localhost. 3600 IN AAAA ::1',
    'demo.vivarium.localhost. 3600 IN A 127.0.0.1',
    'demo.vivarium.localhost. 3600 IN AAAA ::1',
    'demo-staging.vivarium.localhost. 3600 IN A 127.0.0.1',
    'demo-staging.vivarium.localhost. 3600 IN AAAA ::1',
  ]);
  expect(() => buildZoneSet([zone])).not.toThrow();
});
