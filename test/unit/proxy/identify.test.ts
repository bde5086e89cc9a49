import { describe, expect, test } from 'vitest';
import { hashSecret } from '../../../main/base/secret.ts';
import { normalizeAddress } from '../../../main/proxy/caller.ts';
import { hashToken, identifyKey, readBearerToken } from '../../../main/proxy/identify.ts';
import { buildRouteTable } from '../../../main/proxy/route-table.ts';
import { DEMO_SECRET, SHOP_SECRET, testSnapshot } from '../../support/proxy-harness.ts';

describe('the bearer token of an Authorization field', () => {
  test.each([
    ['Bearer abc', 'abc'],
    ['bearer abc', 'abc'],
    ['BEARER   abc', 'abc'],
    ['Bearer abc ', 'abc'],
    ['Bearer a.b-c_d~e+f/g==', 'a.b-c_d~e+f/g=='],
    ['Bearer', null],
    ['Bearer ', null],
    ['Bearer\tabc', null],
    ['Bearer abc def', null],
    ['Bearer abc, Bearer def', null],
    ['Bearer "abc"', null],
    ['Bearerabc', null],
    ['Basic abc', null],
    ['abc', null],
    ['', null],
  ])('%j has %j', (field, token) => {
    expect(readBearerToken(field)).toBe(token);
  });
});

test('only what can be a secret of ours is hashed', () => {
  expect(hashToken(`Bearer ${DEMO_SECRET}`)).toBe(hashSecret(DEMO_SECRET));
  expect(hashToken(`Bearer ${DEMO_SECRET}x`)).toBeNull();
  expect(hashToken('Bearer something-else')).toBeNull();
});

test('a key counts for its own project only', () => {
  const table = buildRouteTable(testSnapshot());
  expect(identifyKey(hashSecret(DEMO_SECRET), { projectId: 'prj_demo' }, table)).toBe('key_demo');
  expect(identifyKey(hashSecret(SHOP_SECRET), { projectId: 'prj_demo' }, table)).toBeNull();
  expect(identifyKey(hashSecret(`viv_${'x'.repeat(32)}`), { projectId: 'prj_demo' }, table)).toBeNull();
});

test.each([
  ['127.0.0.1', '127.0.0.1'],
  ['::ffff:127.0.0.1', '127.0.0.1'],
  ['::FFFF:10.0.0.1', '10.0.0.1'],
  ['::1', '::1'],
  ['FE80::1%eth0', 'fe80::1'],
  [undefined, 'unknown'],
])('the client address %j is %j', (address, expected) => {
  expect(normalizeAddress(address)).toBe(expected);
});
