import { describe, expect, test } from 'vitest';
import { formatRecord, formatValue, formatZoneValue } from '../../../main/dns/record-format.ts';
import { parseTtl, parseValue } from '../../../main/dns/record-text.ts';
import { typeCode, typeName, type RecordType } from '../../../main/dns/record.ts';

/** A value that is wrong must throw, so that a table of right ones can be short. */
function read(type: RecordType, value: string) {
  const result = parseValue(type, value);
  if (!result.ok) throw new Error(result.message);
  return result.data;
}

describe('a value that is put', () => {
  test.each<[RecordType, string, string, string]>([
    ['A', '192.0.2.1', '192.0.2.1', '192.0.2.1'],
    ['AAAA', '2001:DB8::0:1', '2001:db8::1', '2001:db8::1'],
    ['AAAA', '::ffff:192.0.2.1', '::ffff:c000:201', '::ffff:c000:201'],
    ['CNAME', 'Target.Example', 'target.example', 'target.example.'],
    ['CNAME', 'target.example.', 'target.example', 'target.example.'],
    ['ALIAS', 'bücher.example', 'xn--bcher-kva.example', 'xn--bcher-kva.example.'],
    ['ANAME', 'target.example', 'target.example', 'target.example.'],
    ['NS', 'ns1.example', 'ns1.example', 'ns1.example.'],
    ['PTR', '.', '.', '.'],
    ['MX', '10 mail.example', '10 mail.example', '10 mail.example.'],
    ['MX', '  0   . ', '0 .', '0 .'],
    ['SRV', '0 5 443 host.example', '0 5 443 host.example', '0 5 443 host.example.'],
    ['TXT', 'v=spf1 "quoted"; -all', 'v=spf1 "quoted"; -all', String.raw`"v=spf1 \"quoted\"; -all"`],
    ['TXT', 'grüße', 'grüße', String.raw`"gr\195\188\195\159e"`],
    ['TXT', '', '', '""'],
    ['HINFO', 'CPU "an OS"', '"CPU" "an OS"', '"CPU" "an OS"'],
    ['CAA', '0 issue "ca.example"', '0 issue "ca.example"', '0 issue "ca.example"'],
    ['CAA', '128 ISSUE ca.example', '128 ISSUE "ca.example"', '128 ISSUE "ca.example"'],
    ['CAA', '0 issue ";"', '0 issue ";"', '0 issue ";"'],
    ['SOA', 'ns.x. h.x. 1 2h 900 2w 300', 'ns.x h.x 1 7200 900 1209600 300', 'ns.x. h.x. 1 7200 900 1209600 300'],
  ])('%s %s', (type, value, shown, inZoneFile) => {
    const data = read(type, value);
    expect([formatValue(data), formatZoneValue(data)]).toEqual([shown, inZoneFile]);
    expect(read(type, formatValue(data))).toEqual(data);
  });

  test.each<[RecordType, string, string]>([
    ['A', '192.0.2.256', '"192.0.2.256" is not an IPv4 address'],
    ['A', '192.0.2.01', 'is not an IPv4 address'],
    ['A', '2001:db8::1', 'is not an IPv4 address'],
    ['A', '', 'the address is missing'],
    ['A', '192.0.2.1 192.0.2.2', 'unexpected "192.0.2.2"'],
    ['AAAA', 'fe80::1%lo', 'is not an IPv6 address'],
    ['AAAA', '192.0.2.1', 'is not an IPv6 address'],
    ['CNAME', 'two words', 'unexpected "words"'],
    ['CNAME', 'a..b', 'empty'],
    ['CNAME', 'https://target.example', 'is a URL'],
    ['MX', 'mail.example', 'the preference must be a number from 0 to 65535, not "mail.example"'],
    ['MX', '65536 mail.example', 'from 0 to 65535'],
    ['MX', '10', 'the name is missing'],
    ['SRV', '0 5 70000 host.example', 'the port must be a number from 0 to 65535'],
    ['TXT', 'x'.repeat(4097), 'at most 4096 octets'],
    ['CAA', '256 issue "ca.example"', 'the flags must be a number from 0 to 255'],
    ['CAA', '0 is-sue "ca.example"', 'letters and digits only'],
    ['CAA', '0 abcdefghijklmnop "x"', 'more than 15 characters'],
    ['CAA', '0 issue "ca.example', 'The closing quotation mark is missing'],
    ['CAA', '0 issue', 'the text is missing'],
    ['CAA', '0 issue "a" "b"', 'unexpected "b"'],
    ['CAA', String.raw`0 issue "\25"`, 'three digits'],
    ['SOA', 'ns.x. h.x. 1 2 3', 'the expire is missing'],
    ['NS', '(a', ') is missing'.replace(')', '")"')],
  ])('%s %s is refused', (type, value, message) => {
    const result = parseValue(type, value);
    expect(result).toMatchObject({ ok: false });
    expect('message' in result ? result.message : '').toContain(message);
  });

  test('a long text is cut into strings of 255 octets, and shown whole', () => {
    const data = read('TXT', 'é'.repeat(200));
    expect(data.type === 'TXT' && data.strings.map(({ length }) => length)).toEqual([255, 145]);
    expect(formatValue(data)).toBe('é'.repeat(200));
  });
});

describe('CAA that is stored with a warning', () => {
  test.each([
    ['0 issue "%%%%%"', 'malformed'],
    ['0 issue "ca.example; account"', 'malformed'],
    ['0 issue "ca_1.example"', 'malformed'],
    ['0 issuewild "-ca.example"', 'malformed'],
    ['1 issue "ca.example"', 'only 128 (critical) has a meaning'],
    ['0 tbs "x"', 'CAs ignore it'],
    ['128 tbs "x"', 'forbids every issuance'],
  ])('%s', (value, warning) => {
    const result = parseValue('CAA', value);
    expect(result.ok && result.warnings.join(' ')).toContain(warning);
  });

  test.each([
    '0 issue "ca.example"',
    '128 issue ""',
    '0 issue ";"',
    '0 issue " ; "',
    '0 issue "ca.example; accounturi=https://ca.example/acct/1;validationmethods=http-01,dns-01"',
    '0 issue " ca1.example.net ; a = b "',
    '0 issuewild "ca-1.example"',
    '0 iodef "mailto:security@example.com"',
  ])('%s has none', (value) => {
    expect(parseValue('CAA', value)).toMatchObject({ ok: true, warnings: [] });
  });
});

test.each([
  ['0', 0],
  ['3600', 3600],
  ['1h', 3600],
  ['1H30M', 5400],
  ['1w2d3s', 777_603],
  ['2147483647', 2_147_483_647],
  ['2147483648', null],
  ['99999w', null],
  ['-1', null],
  ['1y', null],
  ['', null],
])('a TTL of %s is %s seconds', (text, seconds) => {
  expect(parseTtl(text)).toBe(seconds);
});

test('types and their codes', () => {
  expect([typeCode('caa'), typeCode('ANY'), typeCode('TYPE65'), typeCode('ALIAS'), typeCode('TYPE65536')]).toEqual([
    257,
    255,
    65,
    null,
    null,
  ]);
  expect([typeName(257), typeName(252), typeName(65)]).toEqual(['CAA', 'AXFR', 'TYPE65']);
});

test('a record as one line', () => {
  const record = { name: 'www.acme.test', ttlSeconds: 60, data: read('CNAME', 'cname.acme.test') };
  expect(formatRecord(record)).toBe('www.acme.test. 60 IN CNAME cname.acme.test.');
  expect(formatRecord(record, 'acme.test')).toBe('www 60 IN CNAME cname');
});
