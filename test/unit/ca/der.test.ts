import { describe, expect, test } from 'vitest';
import { children, content, decode, encode, integer, octetString, sequence, time } from '../../../main/ca/der.ts';

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

describe('a moment in DER', () => {
  // RFC 5280 §4.1.2.5: UTCTime through 2049, GeneralizedTime from 2050 on.
  test.each([
    ['2026-11-20T09:00:00.000Z', 23, '261120090000Z'],
    ['2026-11-20T09:00:00.999Z', 23, '261120090000Z'],
    ['2049-12-31T23:59:59.999Z', 23, '491231235959Z'],
    ['2050-01-01T00:00:00.000Z', 24, '20500101000000Z'],
    ['8999-12-31T23:59:59.000Z', 24, '89991231235959Z'],
  ])('is %s with tag %i and the text %s', (iso, tag, text) => {
    const der = encode(time(Date.parse(iso)));
    expect(der[0]).toBe(tag);
    expect(der.subarray(2).toString()).toBe(text);
  });
});

describe('DER', () => {
  test('writes lengths of 128 and more with further octets', () => {
    expect(hex(encode(octetString(Buffer.alloc(127))).subarray(0, 2))).toBe('047f');
    expect(hex(encode(octetString(Buffer.alloc(128))).subarray(0, 3))).toBe('048180');
    expect(hex(encode(octetString(Buffer.alloc(256))).subarray(0, 4))).toBe('04820100');
  });

  test('reads back what it encoded', () => {
    const node = decode(encode(sequence(integer(Buffer.of(5)), octetString(Buffer.from('é\u0000', 'utf8')))));
    expect(children(node).map((child) => hex(content(child)))).toEqual(['05', 'c3a900']);
  });

  test.each([
    ['nothing', ''],
    ['less than it announces', '3003020105'.slice(0, 8)],
    ['more than one value', '020105020106'],
  ])('refuses %s', (_name, text) => {
    expect(() => decode(Buffer.from(text, 'hex'))).toThrow();
  });
});
