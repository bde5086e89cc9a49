import { describe, expect, test } from 'vitest';
import {
  formatRecord,
  formatValue,
  formatZoneValue,
  parseTtl,
  parseValue,
  parseZoneValue,
} from '../../../../main/dns/wire/record-text.ts';
import { typeCode, typeName, type RecordType } from '../../../../main/dns/wire/record.ts';

/** Throws for an invalid value, so that a table of valid ones can be short. */
function read(type: RecordType, value: string) {
  const result = parseValue(type, value);
  if (!result.ok) throw new Error(result.message);
  return result.data;
}

describe('a record’s value', () => {
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
    ['RP', 'anna.example info.example', 'anna.example info.example', 'anna.example. info.example.'],
    ['RP', 'Anna.Example. .', 'anna.example .', 'anna.example. .'],
    ['URI', '10 1 "ftp://a.example/b;c"', '10 1 "ftp://a.example/b;c"', '10 1 "ftp://a.example/b;c"'],
    ['CERT', 'pkix 0 rsasha256 AQ ID', 'PKIX 0 RSASHA256 AQID', 'PKIX 0 RSASHA256 AQID'],
    ['CERT', '1 65535 0 AQI=', 'PKIX 65535 0 AQI=', 'PKIX 65535 0 AQI='],
    ['CERT', '65280 1 253 AQ==', '65280 1 PRIVATEDNS AQ==', '65280 1 PRIVATEDNS AQ=='],
    ['SMIMEA', '3 1 1 0a 0B', '3 1 1 0A0B', '3 1 1 0A0B'],
    ['OPENPGPKEY', 'AQID BA==', 'AQIDBA==', 'AQIDBA=='],
    ['OPENPGPKEY', String.raw`\# 3 010203`, 'AQID', 'AQID'],
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
    ['CAA', `0 ${'a'.repeat(256)} "x"`, 'at most 255 octets'],
    ['CAA', '0 issue "ca.example', 'The closing quotation mark is missing'],
    ['CAA', '0 issue', 'the text is missing'],
    ['CAA', '0 issue "a" "b"', 'unexpected "b"'],
    ['CAA', String.raw`0 issue "\25"`, 'three digits'],
    ['SOA', 'ns.x. h.x. 1 2 3', 'the expire is missing'],
    ['CERT', 'X509 0 0 AQID', 'the certificate type must be a number from 0 to 65535, not "X509"'],
    ['CERT', 'PKIX 0 0', 'the certificate is in base64'],
    ['OPENPGPKEY', 'AQI', 'the key is in base64, padded to a multiple of four characters'],
    ['SMIMEA', '3 1 1 0', 'the association is in hexadecimal'],
    ['URI', '10 1', 'the text is missing'],
    ['RP', 'anna.example', 'the name is missing'],
    ['NS', '(a', ') is missing'.replace(')', '")"')],
  ])('%s %s is refused', (type, value, message) => {
    const result = parseValue(type, value);
    expect(result).toMatchObject({ ok: false });
    expect('message' in result ? result.message : '').toContain(message);
  });

  test('a long text is split into strings of 255 octets, and shown as one', () => {
    const data = read('TXT', 'é'.repeat(200));
    expect(data.type === 'TXT' && data.strings.map(({ length }) => length)).toEqual([255, 145]);
    expect(formatValue(data)).toBe('é'.repeat(200));
  });
});

describe('a CAA record that is stored with a warning', () => {
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
  ])('%s has no warning', (value) => {
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

test('types are converted to their codes and back', () => {
  const codes = ['caa', 'ANY', 'TYPE65', 'ALIAS', 'TYPE65536'].map((type) => typeCode(type));
  expect(codes).toEqual([257, 255, 65, null, null]);
  expect([typeName(257), typeName(252), typeName(65)]).toEqual(['CAA', 'AXFR', 'HTTPS']);
});

test('a record is written as one line', () => {
  const record = { name: 'www.acme.test', ttlSeconds: 60, data: read('CNAME', 'cname.acme.test') };
  expect(formatRecord(record)).toBe('www.acme.test. 60 IN CNAME cname.acme.test.');
  expect(formatRecord(record, 'acme.test')).toBe('www 60 IN CNAME cname');
});

describe('types in both forms', () => {
  const foo = (top: string) => `03666f6f076578616d706c6503${Buffer.from(top).toString('hex')}00`;
  const octets = (hex: string) => `\\# ${hex.length / 2} ${hex}`;

  // RFC 9460, Appendix D.1 and D.2; the examples of RFC 6698, 4255, 1876, 3403 and 4034.
  test.each<[RecordType, string, string]>([
    ['HTTPS', '0 foo.example.com.', `0000${foo('com')}`],
    ['SVCB', '1 .', '000100'],
    ['SVCB', '16 foo.example.com. port=53', `0010${foo('com')}000300020035`],
    ['SVCB', '1 foo.example.com. key667=hello', `0001${foo('com')}029b000568656c6c6f`],
    ['SVCB', String.raw`1 foo.example.com. key667="hello\210qoo"`, `0001${foo('com')}029b000968656c6c6fd2716f6f`],
    [
      'SVCB',
      '1 foo.example.com. ipv6hint="2001:db8::1,2001:db8::53:1"',
      `0001${foo('com')}0006002020010db800000000000000000000000120010db8000000000000000000530001`,
    ],
    [
      'SVCB',
      '16 foo.example.org. alpn=h2,h3-19 mandatory=ipv4hint,alpn ipv4hint=192.0.2.1',
      `0010${foo('org')}000000040001000400010009026832 0568332d313900040004c0000201`.replace(' ', ''),
    ],
    [
      'SVCB',
      String.raw`16 foo.example.org. alpn="f\\\\oo\\,bar,h2"`,
      `0010${foo('org')}0001000c08665c6f6f2c626172026832`,
    ],
    ['HTTPS', '1 . alpn=h2 no-default-alpn ech=AAA=', '000100000100030268320002000000050002' + '0000'],
    ['DS', '60485 5 1 2BB183AF5F22588179A53B0A98631FAD1A292118', 'ec4505012bb183af5f22588179a53b0a98631fad1a292118'],
    ['TLSA', '3 1 1 d2abde24 0d7cd3ee', '030101d2abde240d7cd3ee'],
    ['SSHFP', '2 1 123456789abcdef67890123456789abcdef67890', '0201123456789abcdef67890123456789abcdef67890'],
    [
      'NAPTR',
      '100 50 "s" "http+I2L" "" foo.example.com.',
      `0064003201730868747470 2b49324c00${foo('com')}`.replace(' ', ''),
    ],
    ['DNAME', 'foo.example.com.', foo('com')],
    ['RP', 'foo.example.com. foo.example.org.', foo('com') + foo('org')],
    ['URI', '10 1 "ftp://a"', `000a0001${Buffer.from('ftp://a').toString('hex')}`],
    ['CERT', 'PGP 258 ED25519 AQID', '000301020f010203'],
    ['SMIMEA', '3 0 1 D2ABDE24', '030001d2abde24'],
    ['OPENPGPKEY', 'mDME', '983304'],
    ['SRV', '0 5 443 foo.example.com.', `0000000501bb${foo('com')}`],
    ['TYPE65280', octets('c0ff'), 'c0ff'],
  ])('%s %s', (type, text, hex) => {
    const data = parseZoneValue(type, text);
    expect(data).toEqual(parseZoneValue(type, octets(hex)));
    expect(data.ok && parseZoneValue(type, formatZoneValue(data.data))).toEqual(data);
  });

  test.each<[RecordType, string]>([
    ['LOC', '42 21 54.000 N 71 6 18.000 W -24.00m 30.00m 10000.00m 10.00m'],
    ['LOC', '52 0 0.000 S 0 0 0.000 E 0.00m 1.00m 2000.00m 0.00m'],
    ['HTTPS', '1 . alpn=h2,http/1.1 port=8443 ipv4hint=127.0.0.1 ipv6hint=::1'],
    ['NAPTR', '100 10 "S" "SIP+D2U" "!^.*$!sip:info@example!" .'],
  ])('%s %s is written as it is read', (type, text) => {
    const data = parseZoneValue(type, text);
    expect(data.ok && formatZoneValue(data.data)).toBe(text);
  });

  // RFC 9460, Appendix D.3, and others.
  test.each<[RecordType, string]>([
    ['SVCB', '1 foo.example.com. key123=abc key123=def'],
    ['SVCB', '1 foo.example.com. mandatory'],
    ['SVCB', '1 foo.example.com. alpn'],
    ['SVCB', '1 foo.example.com. port'],
    ['SVCB', '1 foo.example.com. ipv4hint'],
    ['SVCB', '1 foo.example.com. ipv6hint'],
    ['SVCB', '1 foo.example.com. no-default-alpn=abc'],
    ['SVCB', '1 foo.example.com. mandatory=key123'],
    ['SVCB', '1 foo.example.com. mandatory=mandatory'],
    ['SVCB', '1 foo.example.com. mandatory=key123,key123 key123=abc'],
    ['HTTPS', '1 . no-default-alpn'],
    ['HTTPS', '1 . port=65536'],
    ['HTTPS', '1 . key65536=x'],
    ['HTTPS', '1 . color=red'],
    ['HTTPS', octets('0001000003000200350001000302683200')],
    ['DS', '1 8 2 ABC'],
    ['TLSA', '3 1 1'],
    ['LOC', '91 0 0 N 0 0 0 E 0m'],
    ['LOC', '1 60 0 N 0 0 0 E 0m'],
    ['TYPE65280', 'c0ff'],
    ['TYPE65280', '\\# 3 c0ff'],
  ])('%s %s is refused', (type, text) => {
    expect(parseZoneValue(type, text)).toMatchObject({ ok: false });
  });

  test.each([
    ['TYPE48', '257 3 13 yh1W', 'DNSKEY can only be written as octets here: \\# 4 C0000201'],
    ['TYPE65280', 'c0ff', 'TYPE65280 can only be written as octets here: \\# 4 C0000201'],
  ] as const)('%s %s is refused by the name of its type', (type, text, message) => {
    expect(parseZoneValue(type, text)).toEqual({ ok: false, message });
  });
});
