import { expect, test } from 'vitest';
import { clientAddress } from '../../../main/model/address.ts';

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
