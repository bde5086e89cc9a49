import { expect, test } from 'vitest';
import { hashSecret } from '../../../main/base/secret.ts';
import { hashToken, identifyKey, createInternalTokens } from '../../../main/proxy/identify.ts';
import { buildRouteTable } from '../../../main/proxy/route-table.ts';
import { DEMO_SECRET, SHOP_SECRET, testSnapshot } from '../../support/proxy/proxy-harness.ts';

test('only a possible secret of ours is hashed', () => {
  expect(hashToken(`Bearer ${DEMO_SECRET}`)).toBe(hashSecret(DEMO_SECRET));
  expect(hashToken(`Bearer ${DEMO_SECRET}x`)).toBeNull();
  expect(hashToken('Bearer something-else')).toBeNull();
});

test('a key counts only for its own project', () => {
  const table = buildRouteTable(testSnapshot());
  const idOf = (secret: string) =>
    identifyKey(hashSecret(secret), { projectId: 'prj_demo' }, table, createInternalTokens());
  expect(idOf(DEMO_SECRET)).toBe('key_demo');
  expect(idOf(SHOP_SECRET)).toBeNull();
  expect(idOf(`viv_${'x'.repeat(32)}`)).toBeNull();
});

test('an internal token counts once as its key, in its own project, and not after withdrawal', () => {
  const table = buildRouteTable(testSnapshot());
  const internalTokens = createInternalTokens();
  const owner = { keyId: 'key_demo', projectId: 'prj_demo', prefix: 'viv_1iKn' };
  const idOf = (token: string, projectId = 'prj_demo') =>
    identifyKey(hashSecret(token), { projectId }, table, internalTokens);

  const { token } = internalTokens.issue(owner);
  expect(hashToken(`Bearer ${token}`)).toBe(hashSecret(token));
  expect(token).toMatch(/^viv_1iKn/);
  expect([idOf(token), idOf(token)]).toEqual(['key_demo', null]);
  expect(idOf(internalTokens.issue(owner).token, 'prj_shop')).toBeNull();
  const unused = internalTokens.issue(owner);
  unused.revoke();
  expect(idOf(unused.token)).toBeNull();
});
