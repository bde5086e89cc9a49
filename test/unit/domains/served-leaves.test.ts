import { describe, expect, it } from 'vitest';
import { createLeaf } from '../../../main/ca/leaf.ts';
import { type Root, createRoot } from '../../../main/ca/root.ts';
import { NO_CERTIFICATE } from '../../../main/domains/hostname-machine.ts';
import type { AttachedDomain } from '../../../main/domains/domain-set.ts';
import type { Leaf } from '../../../main/model/leaf.ts';
import { createServedLeaves } from '../../../main/domains/snapshot.ts';
import { attachedDomain, WORLD_HOST as HOST } from '../../support/domains-world.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

const DAY_MS = 86_400_000;

const served = attachedDomain({ certificate: { ...NO_CERTIFICATE, state: 'issued' } });

function setUp(domain: AttachedDomain | null = served) {
  const clock = createFakeClock();
  const root: Root = createRoot({ owner: 'test', realNowMs: clock.now() });
  const issue = (hostname: string): Leaf => createLeaf({ issuer: root, hostnames: [hostname], clock });
  const state = { domain, leaf: issue(HOST) as Leaf | null, kept: 0 };
  const leaves = createServedLeaves({
    find: (hostname) => (hostname === HOST ? state.domain : null),
    leaf: () => state.leaf,
    keepLeaf(_hostname, leaf) {
      state.leaf = leaf;
      state.kept++;
    },
    issuer: { issue },
    clock,
  });
  return { clock, state, leaves };
}

describe('the leaves of custom domains', () => {
  it('are served with one context until they are dropped', () => {
    const { leaves } = setUp();
    const first = leaves.contextFor(HOST);
    expect(first).not.toBeNull();
    expect(leaves.contextFor(HOST)).toBe(first);
    leaves.drop(HOST);
    expect(leaves.contextFor(HOST)).not.toBe(first);
  });

  it.each([
    ['that is not attached', null],
    ['without a certificate', { ...served, certificate: NO_CERTIFICATE }],
    ['with one that has expired', { ...served, certificate: { ...NO_CERTIFICATE, state: 'expired' } }],
    ['that is suspended', { ...served, state: 'suspended', stateBefore: 'verified' }],
  ] as const)('are not served for a hostname %s', (_case, domain) => {
    expect(setUp(domain).leaves.contextFor(HOST)).toBeNull();
  });

  it('get new dates on the wire while the app’s clock is frozen, and keep the app’s', async () => {
    const { clock, state, leaves } = setUp();
    const before = state.leaf;
    leaves.contextFor(HOST);
    clock.freeze();
    await clock.pass(88 * DAY_MS);
    leaves.contextFor(HOST);
    expect(state.kept).toBe(0);
    await clock.pass(2 * DAY_MS);
    leaves.contextFor(HOST);
    expect(state.kept).toBe(1);
    expect(state.leaf).toMatchObject({ notBeforeMs: before?.notBeforeMs, notAfterMs: before?.notAfterMs });
    expect((state.leaf?.wireNotAfterMs ?? 0) - (before?.wireNotAfterMs ?? 0)).toBe(90 * DAY_MS);
    leaves.contextFor(HOST);
    expect(state.kept).toBe(1);
  });
});
