import { describe, expect, test } from 'vitest';
import { formatAddress, parseLeafName } from '../../../main/ca/names.ts';
import { addressBytes } from '../../../main/model/address.ts';

describe('the names of a leaf', () => {
  test.each<[string, 'dns' | 'ip', string]>([
    ['demo.vivarium.localhost', 'dns', 'demo.vivarium.localhost'],
    ['Demo.Vivarium.LOCALHOST.', 'dns', 'demo.vivarium.localhost'],
    ['bücher.test', 'dns', 'xn--bcher-kva.test'],
    ['localhost', 'dns', 'localhost'],
    ['*.Shop.test.', 'dns', '*.shop.test'],
    ['127.0.0.1', 'ip', '127.0.0.1'],
    ['::1', 'ip', '::1'],
    ['0:0:0:0:0:0:0:1', 'ip', '::1'],
    ['FE80::00A0', 'ip', 'fe80::a0'],
    ['::ffff:127.0.0.1', 'ip', '::ffff:7f00:1'],
  ])('%s is a %s name: %s', (text, kind, normal) => {
    expect(parseLeafName(text)).toMatchObject({ kind, text: normal });
  });

  test.each([
    ...['', '.', 'a b.test', '*', '*.', '*.*.test', 'a.*.test', 'a..test', '-a.test'],
    ...['[::1]', '127.0.0.1:443', '1.2.3', 'x'.repeat(64)],
  ])('"%s" is neither a hostname nor an address', (text) => {
    expect(() => parseLeafName(text)).toThrow(`A certificate cannot be made for "${text}"`);
  });
});

test.each([
  ['127.0.0.1', '7f000001'],
  ['255.255.255.255', 'ffffffff'],
  ['::', '00'.repeat(16)],
  ['::1', `${'00'.repeat(15)}01`],
  ['1::', `0001${'00'.repeat(14)}`],
  ['2001:db8::8:800:200c:417a', '20010db80000000000080800200c417a'],
  ['1:2:3:4:5:6:7:8', '00010002000300040005000600070008'],
])('the address %s has the octets %s, and back', (address, hex) => {
  expect(addressBytes(address).toString('hex')).toBe(hex);
  expect(formatAddress(Buffer.from(hex, 'hex'))).toBe(address);
});
