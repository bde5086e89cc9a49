import { describe, expect, test } from 'vitest';
import {
  dnsName,
  isAtOrBelow,
  labelOctets,
  parentOf,
  parseName,
  readWireName,
  relativeText,
  wireLength,
} from '../../../main/model/dns-name.ts';
import { wireName } from '../../support/dns/dns-client.ts';

describe('a written name', () => {
  test.each([
    ['www', 'acme.test', 'www.acme.test'],
    ['www.', 'acme.test', 'www'],
    ['WWW.Acme.Test.', 'acme.test', 'www.acme.test'],
    ['@', 'acme.test', 'acme.test'],
    ['.', 'acme.test', ''],
    ['*', 'acme.test', '*.acme.test'],
    ['_dmarc', 'acme.test', '_dmarc.acme.test'],
    ['0/25.2.0.192.in-addr.arpa.', '', '0/25.2.0.192.in-addr.arpa'],
    ['bücher', 'acme.test', 'xn--bcher-kva.acme.test'],
    ['例え', 'acme.test', 'xn--r8jz45g.acme.test'],
    [String.raw`a\.b`, 'acme.test', String.raw`a\046b.acme.test`],
    [String.raw`a\046b`, 'acme.test', String.raw`a\046b.acme.test`],
    [String.raw`\065bc`, 'acme.test', 'abc.acme.test'],
    [String.raw`\042`, 'acme.test', '*.acme.test'],
    [String.raw`a\*`, 'acme.test', String.raw`a\042.acme.test`],
    ['a*', 'acme.test', String.raw`a\042.acme.test`],
    ['A#b', 'acme.test', String.raw`a\035b.acme.test`],
    [String.raw`\255`, '', String.raw`\255`],
  ])('%s below %s is %s', (text, origin, name) => {
    expect(parseName(text, origin)).toEqual({ ok: true, name });
  });

  test.each([
    ['', 'A name is missing'],
    ['a..b', 'a label between two dots is empty'],
    ['.a', 'a label between two dots is empty'],
    ['a b', 'needs an escape'],
    ...[...'"();@$'].map((character): [string, string] => [`a${character}b`, 'needs an escape']),
    ['https://a.test', 'is a URL'],
    ['a'.repeat(64), 'more than 63 octets'],
    [Array(127).fill('aa').join('.'), 'at most 255 octets on the wire'],
    [String.raw`a\25`, 'three digits'],
    [String.raw`a\256`, 'three digits'],
    ['a\\', 'ends inside an escape'],
    ['xn--\u{10ffff}', 'has no form in ASCII'],
  ])('%j is refused: %s', (text, message) => {
    const result = parseName(text);
    expect(result).toMatchObject({ ok: false });
    expect('message' in result ? result.message : '').toContain(message);
  });

  test('the longest possible name has 255 octets on the wire', () => {
    const name = [...Array(3).fill('a'.repeat(63)), 'a'.repeat(61)].join('.');
    expect(wireLength(name)).toBe(255);
    expect(parseName(name)).toMatchObject({ ok: true });
    expect(parseName(`${name}a`)).toMatchObject({ ok: false });
  });
});

describe('a name on the wire', () => {
  test.each([
    ['Www.ACME.test', 'www.acme.test'],
    ['', ''],
  ])('%j reads as %j', (text, name) => {
    expect(readWireName(wireName(text), 0)).toEqual({ name, end: wireName(text).length });
  });

  test('a dot inside a label does not separate labels', () => {
    const octets = Buffer.from([3, 0x61, 0x2e, 0x62, 1, 0x63, 0]);
    expect(readWireName(octets, 0)).toEqual({ name: String.raw`a\046b.c`, end: 7 });
    expect(labelOctets(String.raw`a\046b`)).toBe('a.b');
  });

  test('letters fold in ASCII only (RFC 4343 §2.1)', () => {
    expect(readWireName(Buffer.from([2, 0x41, 0xc4, 0]), 0)?.name).toBe(String.raw`a\196`);
  });

  test.each([
    ['a pointer', [0xc0, 0x0c]],
    ['a pointer after a label', [1, 0x61, 0xc0, 0x0c]],
    ['a label of more than 63 octets', [64, ...Array(64).fill(0x61), 0]],
    ['a label that goes beyond the message', [5, 0x61]],
    ['no end', [1, 0x61]],
    ['more than 255 octets', [...Array(127).fill([1, 0x61]).flat(), 1, 0x61, 0]],
  ])('%s is refused', (_what, octets) => {
    expect(readWireName(Buffer.from(octets), 0)).toBeNull();
  });

  test('a label of 63 octets is read', () => {
    expect(readWireName(wireName('a'.repeat(63)), 0)?.name).toBe('a'.repeat(63));
  });

  test('255 octets are read', () => {
    const octets = Buffer.from([...Array(127).fill([1, 0x61]).flat(), 0]);
    expect(readWireName(octets, 0)?.end).toBe(255);
  });
});

test('parents and zones', () => {
  expect([parentOf('a.b.c'), parentOf('c'), parentOf('')]).toEqual(['b.c', '', '']);
  expect(isAtOrBelow('a.b', 'b') && isAtOrBelow('b', 'b') && isAtOrBelow('b', '')).toBe(true);
  expect(isAtOrBelow('ab', 'b') || isAtOrBelow('b', 'a.b')).toBe(false);
});

test.each([
  ['www.acme.test', 'acme.test', 'www'],
  ['acme.test', 'acme.test', '@'],
  ['other.test', 'acme.test', 'other.test.'],
  ['xacme.test', 'acme.test', 'xacme.test.'],
  ['test', '', 'test.'],
  ['', '', '@'],
])('%s below %s is written %s', (name, origin, text) => {
  expect(relativeText(name, origin)).toBe(text);
});

test.each([
  ['WWW.Example.TEST.', 'www.example.test'],
  ['Bücher.example.', 'xn--bcher-kva.example'],
  ['_dmarc.example.test', '_dmarc.example.test'],
  ['', ''],
])('the name %j is compared as %j', (text, name) => {
  expect(dnsName(text)).toBe(name);
});
