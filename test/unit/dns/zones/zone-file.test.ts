import { describe, expect, test } from 'vitest';
import { formatRecord } from '../../../../main/dns/wire/record-text.ts';
import { readZoneFileInParts, writeZoneFile } from '../../../../main/dns/zones/zone-file.ts';
import { createZone } from '../../../../main/dns/zones/zone.ts';
import { linesOf, readZoneFile } from '../../../support/dns/dns-tables.ts';

const read = (text: string, options: Partial<Parameters<typeof readZoneFile>[1]> = {}) =>
  readZoneFile(text, { apex: 'acme.test', ...options });

/** Records as lines, without the TTL and class of a line that names none. */
const shown = ({ records }: ReturnType<typeof readZoneFile>): string[] =>
  records.map((record) => formatRecord(record, 'acme.test').replace(' 3600 IN ', ' '));

describe('a zone file', () => {
  test.each([
    ['relative and absolute names', 'www A 10.0.0.1\nwww.acme.test. A 10.0.0.2', 'www A 10.0.0.1\nwww A 10.0.0.2'],
    ['@ for the zone', '@ MX 10 mail', '@ MX 10 mail'],
    ['an omitted owner', 'www A 192.0.2.1\n    A 192.0.2.2', 'www A 192.0.2.1\nwww A 192.0.2.2'],
    ['TTL and class in either order', 'a 60 IN A 10.0.0.1\nb IN 1h A 10.0.0.1', 'a 60 IN A 10.0.0.1\nb A 10.0.0.1'],
    ['lower-case keywords', 'a in a 192.0.2.1', 'a A 192.0.2.1'],
    ['$TTL before the last TTL', '$TTL 2h\na 60 AAAA ::1\nb A 10.0.0.1', 'a 60 IN AAAA ::1\nb 7200 IN A 10.0.0.1'],
    ['the last TTL (RFC 1035 §5.1)', 'a 60 A 10.0.0.1\nb A 10.0.0.1', 'a 60 IN A 10.0.0.1\nb 60 IN A 10.0.0.1'],
    ['$ORIGIN', '$ORIGIN sub\na A 10.0.0.1\n$ORIGIN deep\nb A 10.0.0.1', 'a.sub A 10.0.0.1\nb.deep.sub A 10.0.0.1'],
    ['comments and empty lines', '; first\n\na A 192.0.2.1 ; last\n   \n', 'a A 192.0.2.1'],
    ['parentheses across lines', 'a TXT ( "one" ; no\n  "two"\n)\nb A 10.0.0.1', 'a TXT "one" "two"\nb A 10.0.0.1'],
    ['quotes and escapes', String.raw`a TXT "x; y" \"z\" "\\ \065"`, String.raw`a TXT "x; y" "\"z\"" "\\ A"`],
    ['line ends of Windows, and a mark', '\ufeffa A 10.0.0.1\r\nb A 10.0.0.2\r\n', 'a A 10.0.0.1\nb A 10.0.0.2'],
    ['a name that looks like a type', 'mx MX 10 mx\na A 192.0.2.1', 'mx MX 10 mx\na A 192.0.2.1'],
    ['ALIAS and ANAME', '@ ALIAS cname.example.\nb ANAME c', '@ ALIAS cname.example.\nb ANAME c'],
    [
      'without $TTL, the minimum of an SOA without TTL counts as one (BIND, masterfile/ttl1.db)',
      '@ SOA ns h 1 2 3 4 60\na 30 A 192.0.2.1\nb A 192.0.2.1',
      '@ 60 IN SOA ns h 1 2 3 4 60\na 30 IN A 192.0.2.1\nb 60 IN A 192.0.2.1',
    ],
    [
      'the TTL of an SOA, where it has one, applies to the next records (RFC 1035 §5.1)',
      '@ 30 SOA ns h 1 2 3 4 60\nb A 192.0.2.1',
      '@ 30 IN SOA ns h 1 2 3 4 60\nb 30 IN A 192.0.2.1',
    ],
    [
      'all characters that RFC 1035 §5.1 allows without an escape',
      "a#%&+=[]?^'{:<>|~`}!,b A 192.0.2.1\nc*d CNAME e#f",
      'a\\035\\037\\038\\043\\061\\091\\093\\063\\094\\039\\123\\058\\060\\062\\124\\126\\096\\125\\033\\044b A 192.0.2.1\nc\\042d CNAME e\\035f',
    ],
    ['$GENERATE with a number', '$GENERATE 1-4/2 h$ 60 A 10.0.0.$', 'h1 60 IN A 10.0.0.1\nh3 60 IN A 10.0.0.3'],
    [
      '$GENERATE with offset, width and base',
      '$GENERATE 9-10 h${0,3} CNAME x${-8}.${16,4,x}.${1,2,X}.${0,0,o}',
      'h009 CNAME x1.0019.0a.11\nh010 CNAME x2.001a.0b.12',
    ],
    ['$GENERATE with nibbles, whose width counts the dots', '$GENERATE 18-18 ${0,5,n} PTR host$', '2.1.0 PTR host18'],
    ['$GENERATE with a dollar sign', '$GENERATE 1-1 a$ TXT "$$ \\$ $"', 'a1 TXT "$ $ 1"'],
    ['names in other scripts', 'bücher A 192.0.2.1', 'xn--bcher-kva A 192.0.2.1'],
  ])('%s', (_what, text, expected) => {
    const { faults, ...zone } = read(text);
    expect(faults).toEqual([]);
    expect(shown({ ...zone, faults })).toEqual(linesOf(expected));
  });

  describe('$INCLUDE', () => {
    const files = {
      'hosts.zone': '\ufeffa A 192.0.2.1\n  A 192.0.2.2\n$ORIGIN deep\nb A 192.0.2.3\n$INCLUDE more.zone other',
      'more.zone': '$TTL 60\nc A 192.0.2.4',
      'loop.zone': 'l A 192.0.2.5\n$INCLUDE loop.zone',
      'bad.zone': '\nx A nowhere',
    };

    test('reads a text in its place, with its own origin and owner', () => {
      const text = 'www A 192.0.2.9\n$include zones/hosts.zone sub ; comment\n  A 192.0.2.8\nz A 192.0.2.7';
      const result = read(text, { files });
      expect(result.faults).toEqual([]);
      expect(shown(result)).toEqual([
        ...['www A 192.0.2.9', 'a.sub A 192.0.2.1', 'a.sub A 192.0.2.2', 'b.deep.sub A 192.0.2.3'],
        ...['c.other.deep.sub 60 IN A 192.0.2.4', 'www 60 IN A 192.0.2.8', 'z 60 IN A 192.0.2.7'],
      ]);
    });

    test.each([
      ['a fault in it', '\n$INCLUDE bad.zone', 2, '"bad.zone", line 2: A: "nowhere" is not an IPv4 address'],
      ['a text that includes itself', '$INCLUDE loop.zone', 1, 'texts include each other more than 10 deep'],
      ['an invalid origin', '$INCLUDE hosts.zone a..b', 1, 'a label between two dots is empty'],
    ])('reports %s at its own line', (_what, text, line, message) => {
      const { faults } = read(text, { files });
      expect(faults).toMatchObject([{ line, message: expect.stringContaining(message) as string }]);
    });
  });

  test.each([
    ['an unknown type', 'a WKS 1', 1, 'is not a TTL, a class or a supported type'],
    ['no type', 'a 60 IN', 1, 'The type is missing'],
    ['no owner yet', '  A 192.0.2.1', 1, 'needs a name before it'],
    ['another class', 'a CH TXT "x"', 1, 'Class CH is not served'],
    ['a name outside', '\nwww.other.test. A 192.0.2.1', 2, '"www.other.test." is not in the zone "acme.test."'],
    ['a wrong value', 'a A 192.0.2.300', 1, 'is not an IPv4 address'],
    ['a TTL that is too large', 'a 2147483648 A 192.0.2.1', 1, 'is not a TTL'],
    ['a CNAME at the apex', '@ CNAME other', 1, 'use ALIAS'],
    ['a CNAME beside an address', 'a A 192.0.2.1\na CNAME other', 2, 'must be the only record'],
    ['an address beside a CNAME', 'a CNAME other\na A 192.0.2.1', 2, 'which must be the only record'],
    ['two CNAMEs', 'a CNAME b\na CNAME c', 2, 'another target already'],
    ['$INCLUDE of a missing text', '\n$INCLUDE /etc/passwd', 2, 'there is no text "/etc/passwd" in this import'],
    ['$INCLUDE without a name', '$INCLUDE', 1, 'takes the name of a text'],
    ['another directive', '$DATE 1', 1, '"$DATE" is not supported'],
    ['$GENERATE without a range', '$GENERATE a$ A 192.0.2.$', 1, '$GENERATE takes a range'],
    ['$GENERATE with a range downwards', '$GENERATE 9-1 a$ A 192.0.2.$', 1, '$GENERATE takes a range'],
    ['$GENERATE without end by its step', '$GENERATE 1-9/0 a$ A 192.0.2.$', 1, '$GENERATE takes a range'],
    ['$GENERATE with an unknown base', '$GENERATE 1-9 a${0,1,z} A 192.0.2.$', 1, 'needs numbers'],
    ['$GENERATE with a width beyond a label', '$GENERATE 1-9 a${0,64} A 192.0.2.$', 1, 'a width up to 63'],
    ['a URL', 'a CNAME https://other.test', 1, 'is a URL, not a name'],
    ['a character that needs an escape', 'a@b A 192.0.2.1', 1, 'needs an escape'],
    ['a wrong $TTL', '$TTL soon', 1, '$TTL is a number of seconds'],
    ['$ORIGIN without a name', '$ORIGIN', 1, 'takes one value'],
    ['an open quotation mark', 'a TXT "x', 1, 'closing quotation mark'],
    ['a closing parenthesis alone', 'a A ) 192.0.2.1', 1, 'has no "(" before it'],
  ])('%s is reported with its line', (_what, text, line, message) => {
    const { faults } = read(text);
    expect(faults).toMatchObject([{ line, message: expect.stringContaining(message) as string }]);
  });

  test('an unclosed parenthesis affects only its own line', () => {
    const { records, faults } = read('a A 192.0.2.1\nb TXT ( "x"\nc A 192.0.2.3\nd TXT ( "y" )\ne A 192.0.2.5');
    expect(faults).toEqual([{ line: 2, message: expect.stringContaining('")" is missing') as string }]);
    expect(records.map(({ name }) => name)).toEqual(['a.acme.test', 'c.acme.test', 'd.acme.test', 'e.acme.test']);
  });

  test('10,000 records with three bad lines: the others are read', () => {
    const lines = Array.from({ length: 10_000 }, (_, n) => `h${n} A 10.0.${n >> 8}.${n & 255}`);
    lines[99] = 'h99 A 10.0.0.999';
    lines[4999] = 'h4999 BOGUS x';
    lines[9999] = 'elsewhere.example. A 10.0.0.1';
    const { records, faults } = read(lines.join('\n'));
    expect(records).toHaveLength(9997);
    expect(faults.map(({ line }) => line)).toEqual([100, 5000, 10_000]);
  });

  test('a file that consists only of faults ends early, with a final fault', () => {
    const { faults } = read('x BOGUS y\n'.repeat(5000));
    expect(faults).toHaveLength(1001);
    expect(faults.at(-1)?.message).toContain('the rest of the file was skipped');
  });

  test('too many records or characters are refused', () => {
    const { records, faults } = read(`a 60 A 192.0.2.1\n${' A 192.0.2.1\n'.repeat(100_000)}`);
    expect(records).toHaveLength(100_000);
    expect(faults).toEqual([{ line: 100_001, message: expect.stringContaining('may have 100000 records') as string }]);
    expect(read(' '.repeat(16 * 1024 * 1024 + 1)).faults).toHaveLength(1);
  });

  test('$GENERATE counts against the limit on records, and is read in parts', () => {
    const text = '$GENERATE 0-2147483647 a$ A 192.0.2.1\nb A 192.0.2.1';
    const parts = [...readZoneFileInParts(text, { apex: 'acme.test' }, 150)];
    expect(parts.length).toBeGreaterThan(600);
    expect(parts.flatMap(({ faults }) => faults)).toEqual([
      { line: 1, message: expect.stringContaining('may have 100000 records') as string },
    ]);
    expect(read('$GENERATE 1-100000 a$ A 192.0.2.999').faults).toHaveLength(1001);
  });

  test('thousands of unclosed parentheses do not slow down reading', () => {
    const before = process.cpuUsage();
    read('a TXT ( "x"\n'.repeat(900) + 'b A 192.0.2.1\n'.repeat(20_000));
    expect(process.cpuUsage(before).user).toBeLessThan(3_000_000);
  });

  test('the rules consider records that are already in the zone', () => {
    const at = (name: string) => (name === 'www.acme.test' ? [{ type: 'A', address: '192.0.2.1' } as const] : []);
    expect(read('www CNAME other', { at }).faults).toHaveLength(1);
    expect(read('www A 192.0.2.2', { at }).faults).toEqual([]);
  });

  test('lines that a careless provider accepts are reported as such, and accepted with force', () => {
    const text = 'a A 192.0.2.1\na CNAME b\n@ CNAME c\nd ALIAS e\nf A nowhere\ng.other. A 192.0.2.1';
    const { faults } = read(text, { supportsAlias: false });
    expect(faults.map(({ line, forcible = false }) => `${line} ${forcible}`).join(', ')).toBe(
      '2 true, 3 true, 4 true, 5 false, 6 false',
    );
    const forced = read(text, { supportsAlias: false, force: true });
    expect([forced.records.length, forced.faults.map(({ line }) => line)]).toEqual([4, [5, 6]]);
  });

  test('ALIAS in a zone whose provider does not support it is refused', () => {
    expect(read('@ ALIAS x', { supportsAlias: false }).faults[0]?.message).toContain('has no ALIAS records');
  });

  test('a malformed CAA value is read, with a warning', () => {
    const { records, warnings } = read('@ CAA 0 issue "%%%%%"');
    expect(records).toHaveLength(1);
    expect(warnings).toEqual([{ line: 1, message: expect.stringContaining('malformed') as string }]);
  });
});

test('what is written reads back the same', () => {
  const { records } = read(`
www 60 CNAME cname.vivarium.localhost.
@ ALIAS cname.vivarium.localhost.
@ MX 10 mail
* TXT "a \\"quoted\\" text" "\\200"
a\\.b A 192.0.2.1
a\\*b A 192.0.2.1
@ CAA 128 issue "ca.example; a=b"
_sip._tcp SRV 0 0 5060 mail
six AAAA 2001:db8::1
`);
  expect(records).toHaveLength(9);
  const zone = createZone({ apex: 'acme.test', nameServer: 'ns.vivarium.localhost', serial: 7, records });
  const text = writeZoneFile(zone);
  const again = read(text);
  expect(again.faults).toEqual([]);
  expect(again.records).toEqual(zone.records);
  expect(linesOf(text)[0]).toBe('$ORIGIN acme.test.');
  expect(linesOf(text)[1]).toBe('@ 3600 IN SOA ns.vivarium.localhost. hostmaster 7 7200 900 1209600 300');
});

test('types that have no name here, or whose data is in octets, are read by RFC 3597', () => {
  const result = read('a TYPE65280 \\# 3 010203\nb type1 \\# 4 c0000201\nc TYPE255 \\# 0\nd A \\# 3 010203');
  expect(shown(result)).toEqual(['a TYPE65280 \\# 3 010203', 'b A 192.0.2.1']);
  expect(result.faults.map(({ line }) => line)).toEqual([3, 4]);
});

describe('a hostile file', () => {
  test.each([
    ['a word of 16 million characters', 'x'.repeat(16_000_000), ['The entry is too long.']],
    ['8 million escapes', '\\('.repeat(8_000_000), ['The entry is too long.']],
    ['a word that ends in a backslash', 'x A 192.0.2.1\\', [expect.any(String)]],
    ['a long word, and a record after it', `${'y'.repeat(400_000)}\nx A 192.0.2.1`, ['The entry is too long.']],
  ])('with %s has its faults listed', (_what, text, messages) => {
    const parts = [...readZoneFileInParts(text, { apex: 'a.test' }, 100)];
    expect(parts.flatMap(({ faults }) => faults.map(({ message }) => message))).toEqual(messages);
  });

  test('is also read in parts by its length', () => {
    const lines = Array.from({ length: 50 }, () => `x TXT ( ${'y '.repeat(5_000)} )`);
    const blank = '\n'.repeat(1_000_000);
    for (const text of [lines.join('\n'), blank]) {
      expect([...readZoneFileInParts(text, { apex: 'a.test' }, 100)].length).toBeGreaterThan(5);
    }
  });
});
