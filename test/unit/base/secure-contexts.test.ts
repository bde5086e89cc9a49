import { beforeEach, expect, test } from 'vitest';
import { createSecureContexts, type KeyPairPem } from '../../../main/base/secure-contexts.ts';
import { createLeaf } from '../../../main/ca/leaf.ts';
import { createRoot } from '../../../main/ca/root.ts';
import { createFakeClock, FAKE_NOW_MS, type FakeClock } from '../../support/fake-clock.ts';

const MINUTE_MS = 60_000;
const root = createRoot({ realNowMs: FAKE_NOW_MS, owner: 'anna@laptop' });
const makeLeaf = (): KeyPairPem => createLeaf({ issuer: root, hostnames: ['a.test'], clock: createFakeClock() });
const leaf = makeLeaf();

let clock: FakeClock;
let contexts: ReturnType<typeof createSecureContexts<KeyPairPem>>;
beforeEach(() => {
  clock = createFakeClock();
  contexts = createSecureContexts({ clock, contextsMax: 3 });
});

test('a leaf keeps its context, and another leaf gets a different one', () => {
  const context = contexts.contextFor('a.test', leaf);
  expect(contexts.contextFor('a.test', leaf)).toBe(context);
  expect(contexts.leafOf('a.test')).toBe(leaf);
  const renewed = makeLeaf();
  expect(contexts.contextFor('a.test', renewed)).not.toBe(context);
  expect(contexts.leafOf('a.test')).toBe(renewed);
  expect(contexts.size).toBe(1);
});

test('the least recently used one is evicted first', () => {
  for (const name of ['a', 'b', 'c', 'a', 'd']) contexts.contextFor(`${name}.test`, leaf);
  expect(['a', 'b', 'c', 'd'].filter((name) => contexts.leafOf(`${name}.test`) !== null)).toEqual(['a', 'c', 'd']);
});

test('an unused one is dropped after ten minutes of real time, frozen clock or not', async () => {
  clock.freeze();
  contexts.contextFor('idle.test', leaf);
  await clock.pass(6 * MINUTE_MS);
  const context = contexts.contextFor('a.test', leaf);
  await clock.pass(4 * MINUTE_MS);
  expect(contexts.contextFor('a.test', leaf)).toBe(context);
  expect(contexts.leafOf('idle.test')).toBeNull();
  expect(contexts.size).toBe(1);
});

test('a dropped one is created again', () => {
  const context = contexts.contextFor('a.test', leaf);
  contexts.drop('a.test');
  expect(contexts.contextFor('a.test', leaf)).not.toBe(context);
  contexts.clear();
  expect(contexts.size).toBe(0);
});
