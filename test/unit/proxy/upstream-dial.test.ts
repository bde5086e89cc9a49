import type { LookupAddress } from 'node:dns';
import { expect, test } from 'vitest';
import { lookup } from '../../../main/proxy/upstream/dial.ts';

const addressesOf = (hostname: string): Promise<string[]> =>
  new Promise((resolve, reject) => {
    lookup(hostname, { all: true }, (error, found) => {
      if (error !== null) reject(error);
      else resolve((found as LookupAddress[]).map(({ address }) => address));
    });
  });

test.each(['localhost', 'LOCALHOST', 'localhost.', 'app.localhost', 'deep.app.localhost.'])(
  'an upstream at a name under localhost is tried at both loopback addresses (RFC 6761 §6.3): %s',
  async (hostname) => {
    expect((await addressesOf(hostname)).sort()).toEqual(['127.0.0.1', '::1']);
  },
);

test('any other name is resolved by the system', async () => {
  expect(await addressesOf('127.0.0.1')).toEqual(['127.0.0.1']);
});
