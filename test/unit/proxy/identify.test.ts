import { expect, test } from 'vitest';
import { hashSecret } from '../../../main/base/secret.ts';
import { hashToken, identifyKey } from '../../../main/proxy/identify.ts';
import { createPasses, NO_PASSES } from '../../../main/proxy/passes.ts';
import { buildRouteTable } from '../../../main/proxy/route-table.ts';
import { DEMO_SECRET, SHOP_SECRET, testSnapshot } from '../../support/proxy-harness.ts';

test('only what can be a secret of ours is hashed', () => {
  expect(hashToken(`Bearer ${DEMO_SECRET}`)).toBe(hashSecret(DEMO_SECRET));
  expect(hashToken(`Bearer ${DEMO_SECRET}x`)).toBeNull();
  expect(hashToken('Bearer something-else')).toBeNull();
});

test('a key counts for its own project only', () => {
  const table = buildRouteTable(testSnapshot());
  const idOf = (secret: string) => identifyKey(hashSecret(secret), { projectId: 'prj_demo' }, table, NO_PASSES);
  expect(idOf(DEMO_SECRET)).toBe('key_demo');
  expect(idOf(SHOP_SECRET)).toBeNull();
  expect(idOf(`viv_${'x'.repeat(32)}`)).toBeNull();
});

test('a pass stands for its key once, in its own project, and no more once withdrawn', () => {
  const table = buildRouteTable(testSnapshot());
  const passes = createPasses();
  const owner = { keyId: 'key_demo', projectId: 'prj_demo' };
  const idOf = (token: string, projectId = 'prj_demo') => identifyKey(hashSecret(token), { projectId }, table, passes);

  const { token } = passes.issue(owner);
  expect(hashToken(`Bearer ${token}`)).toBe(hashSecret(token));
  expect([idOf(token), idOf(token)]).toEqual(['key_demo', null]);
  expect(idOf(passes.issue(owner).token, 'prj_shop')).toBeNull();
  const unused = passes.issue(owner);
  unused.withdraw();
  expect(idOf(unused.token)).toBeNull();
});
