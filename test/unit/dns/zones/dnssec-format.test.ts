import { describe, expect, it } from 'vitest';
import { showRecord } from '../../../../main/dns/zones/dnssec-format.ts';

const hex = (text: string): string => Buffer.from(text, 'latin1').toString('hex');
const NAME = `04${hex('host')}07${hex('example')}03${hex('com')}00`;

describe('the presentation of a record that is stored as octets', () => {
  it.each([
    // RFC 4034 §3.3, with a shorter signature.
    [
      46,
      `0001 05 03 00015180 3e7c9dd7 3e5510d7 0a52 ${NAME} a09075`,
      'RRSIG',
      'A 5 3 86400 20030322173103 20030220173103 2642 host.example.com. oJB1',
    ],
    // RFC 4034 §4.3.
    [47, `${NAME} 0006400100000003 041b${'00'.repeat(26)}20`, 'NSEC', 'host.example.com. A MX RRSIG NSEC TYPE1234'],
    [48, '0101 03 0d 00ff10', 'DNSKEY', '257 3 13 AP8Q'],
    [50, '01 01 000c 04 aabbccdd 05 0011223344 0006400000000002', 'NSEC3', '1 1 12 AABBCCDD 008I4CQ4 A RRSIG'],
    [50, '01 01 000c 00 05 0011223344', 'NSEC3', '1 1 12 - 008I4CQ4'],
    [51, '01 00 0000 00', 'NSEC3PARAM', '1 0 0 -'],
    [59, '0001 0d 02 ff00', 'CDS', '1 13 2 FF00'],
    [60, '0100 03 0d 00ff10', 'CDNSKEY', '256 3 13 AP8Q'],
    // Malformed, and unknown.
    [48, '0101', 'TYPE48', '\\# 2 0101'],
    [50, '01 01 000c ff', 'TYPE50', '\\# 5 0101000CFF'],
    [65_280, '0a', 'TYPE65280', '\\# 1 0A'],
  ])('TYPE%i %s is %s %s', (code, octets, type, rdata) => {
    const data = {
      type: `TYPE${code}` as const,
      octets: Buffer.from(octets.replaceAll(' ', ''), 'hex').toString('latin1'),
    };
    expect(showRecord(data)).toMatchObject({ type, rdata });
  });

  it('has names without a trailing dot in the value', () => {
    const octets = Buffer.from(`${NAME}000140`.replaceAll(' ', ''), 'hex').toString('latin1');
    expect(showRecord({ type: 'TYPE47', octets })).toEqual({
      type: 'NSEC',
      value: 'host.example.com A',
      rdata: 'host.example.com. A',
    });
  });
});
