import { expect, test } from 'vitest';
import { canonicalAddress, clientAddress, ipv4Octets, ipv6Groups } from '../../../main/model/address.ts';

test.each([
  ['127.0.0.1', '127.0.0.1'],
  ['::ffff:127.0.0.1', '127.0.0.1'],
  ['::FFFF:10.0.0.1', '10.0.0.1'],
  ['::1', '::1'],
  ['FE80::1%eth0', 'fe80::1'],
  [undefined, 'unknown'],
])('the client address %j is %j', (address, expected) => {
  expect(clientAddress(address)).toBe(expected);
});

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['2001:0DB8:0::1', '2001:db8::1'],
  ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
  ['0:0:0:0:0:0:0:1', '::1'],
  ['::', '::'],
  ['1:0:0:2:0:0:0:3', '1:0:0:2::3'],
  ['::ffff:192.0.2.1', '::ffff:c000:201'],
  ['fe80::1%lo', 'fe80::1'],
])('the canonical spelling of %s is %s', (text, address) => {
  expect(canonicalAddress(text)).toBe(address);
});

test.each([
  ['::', [0, 0, 0, 0, 0, 0, 0, 0]],
  ['::1', [0, 0, 0, 0, 0, 0, 0, 1]],
  ['2001:db8::', [0x2001, 0xdb8, 0, 0, 0, 0, 0, 0]],
  ['1:2:3:4:5:6:7:8', [1, 2, 3, 4, 5, 6, 7, 8]],
  ['fe80::a:b', [0xfe80, 0, 0, 0, 0, 0, 0xa, 0xb]],
  ['::ffff:192.0.2.255', [0, 0, 0, 0, 0, 0xffff, 0xc000, 0x02ff]],
])('%s is parsed into 16-bit groups', (address, groups) => {
  expect(ipv6Groups(address)).toEqual(groups);
  expect(ipv4Octets('192.0.2.255')).toEqual([192, 0, 2, 255]);
});
