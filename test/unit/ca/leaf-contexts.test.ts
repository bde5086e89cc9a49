import { beforeEach, expect, test } from 'vitest';
import { createLeafContexts, NO_HOSTNAME } from '../../../main/ca/leaf.ts';
import { createRoot } from '../../../main/ca/root.ts';
import { createFakeClock, FAKE_NOW_MS, type FakeClock } from '../../support/fake-clock.ts';

const DAY_MS = 86_400_000;
const root = createRoot({ realNowMs: FAKE_NOW_MS, owner: 'anna@laptop' });
let clock: FakeClock;
let leaves: ReturnType<typeof createLeafContexts>;

beforeEach(() => {
  clock = createFakeClock();
  leaves = createLeafContexts({ issuer: () => root, clock, leavesMax: 3 });
});

test('a hostname keeps its context, in any spelling', () => {
  const context = leaves.contextFor('a.test');
  expect(leaves.contextFor('A.TEST.')).toBe(context);
  expect(leaves.size).toBe(1);
});

test('each hostname has its own context', () => {
  expect(leaves.contextFor('a.test')).not.toBe(leaves.contextFor('b.test'));
  expect(leaves.leafFor('a.test').sans).toEqual(['a.test']);
});

test('the least recently used one is evicted first', () => {
  const [a, b] = ['a.test', 'b.test', 'c.test'].map(leaves.contextFor);
  leaves.contextFor('a.test');
  leaves.contextFor('d.test');
  expect(leaves.size).toBe(3);
  expect(leaves.contextFor('a.test')).toBe(a);
  expect(leaves.contextFor('b.test')).not.toBe(b);
});

test('an evicted hostname gets a new leaf', () => {
  const { serial } = leaves.leafFor('a.test');
  leaves.drop('A.test');
  expect(leaves.size).toBe(0);
  expect(leaves.leafFor('a.test').serial).not.toBe(serial);
});

test('a leaf is renewed at the first use with 30 days left on the app’s clock', async () => {
  const { serial } = leaves.leafFor('a.test');
  await clock.advance(60 * DAY_MS - 1);
  expect(leaves.leafFor('a.test').serial).toBe(serial);
  await clock.advance(1);
  const renewed = leaves.leafFor('a.test');
  expect(renewed.serial).not.toBe(serial);
  expect(renewed.notAfterMs).toBe(FAKE_NOW_MS + 150 * DAY_MS);
  expect(renewed.wireNotAfterMs).toBe(FAKE_NOW_MS + 90 * DAY_MS);
  expect(leaves.size).toBe(1);
});

test('with the app’s clock frozen, a leaf is renewed before it ends in real time', async () => {
  clock.freeze();
  const { serial } = leaves.leafFor('a.test');
  await clock.pass(60 * DAY_MS);
  const renewed = leaves.leafFor('a.test');
  expect(renewed.serial).not.toBe(serial);
  expect(renewed.wireNotAfterMs).toBe(FAKE_NOW_MS + 150 * DAY_MS);
});

test('a leaf from the future is replaced after the clock was set back', async () => {
  await clock.advance(10 * DAY_MS);
  const { serial } = leaves.leafFor('a.test');
  await clock.reset();
  expect(leaves.leafFor('a.test').serial).not.toBe(serial);
});

test('addresses are only in the leaf for clients that name no host, because BoringSSL refuses leaves with addresses', () => {
  expect(leaves.leafFor(NO_HOSTNAME).sans).toEqual(['vivarium.localhost', 'localhost', '127.0.0.1', '::1']);
  expect(leaves.leafFor('vivarium.localhost').sans).toEqual(['vivarium.localhost']);
});

test('the names of a leaf can be queried', () => {
  const named = createLeafContexts({
    issuer: () => root,
    clock,
    namesFor: (hostname) => [hostname, `www.${hostname}`],
  });
  expect(named.leafFor('acme.test').sans).toEqual(['acme.test', 'www.acme.test']);
});

test('a name that the root may not sign for is refused, and nothing is cached', () => {
  expect(() => leaves.contextFor('www.acme.com')).toThrow('ca.extend');
  expect(leaves.size).toBe(0);
});
