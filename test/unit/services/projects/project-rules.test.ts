import { describe, expect, it } from 'vitest';
import { VivariumError } from '../../../../main/contract/errors.ts';
import { freeSlug, limitsForPlan, slugFault, slugFromName } from '../../../../main/services/projects/project-rules.ts';

it.each([
  ['Demo', 'demo'],
  ['My First Shop!', 'my-first-shop'],
  ['  Ünïcödé Straße ', 'unicode-stra-e'],
  ['例え', 'project'],
  ['---', 'project'],
  ['a'.repeat(100), 'a'.repeat(55)],
  ['cname', 'cname-project'],
  ['Shop staging', 'shop-staging-project'],
  ['xn--abc', 'xn-abc'],
])('slugFromName suggests for "%s": %s', (name, slug) => {
  expect(slugFromName(name)).toBe(slug);
  expect(slugFault(slug)).toBeNull();
  expect(slug.length).toBeLessThanOrEqual(55);
});

describe('slugFault', () => {
  it.each(['cname', 'ns1', 'shop-staging', 'xn--abc', 'ab--c'])('%s can’t be used', (slug) => {
    expect(slugFault(slug)).not.toBeNull();
  });
  it.each(['demo', 'a', 'staging', 'shop-staging-2', 'a-b--c'])('%s can be used', (slug) => {
    expect(slugFault(slug)).toBeNull();
  });
});

describe('freeSlug', () => {
  it('counts up past slugs in use', () => {
    const taken = new Set(['demo', 'demo-2']);
    expect(freeSlug('demo', (slug) => taken.has(slug))).toBe('demo-3');
    expect(freeSlug('other', (slug) => taken.has(slug))).toBe('other');
  });

  it('shortens a long slug for its number', () => {
    const long = 'a'.repeat(55);
    expect(freeSlug(long, (slug) => slug === long)).toBe(`${'a'.repeat(53)}-2`);
  });
});

describe('limitsForPlan', () => {
  const limits = { perMinute: 5, perDay: 50 };
  it('Enterprise keeps its individual limits; the other plans have fixed ones and store none', () => {
    expect([limitsForPlan('enterprise', limits), limitsForPlan('pro', null)]).toEqual([limits, null]);
  });
  it.each([
    ['enterprise', null, 'are required'],
    ['free', limits, 'can only be set with the plan "enterprise"'],
  ] as const)('%s with %o is refused', (plan, given, message) => {
    expect(() => limitsForPlan(plan, given)).toThrow(VivariumError);
    expect(() => limitsForPlan(plan, given)).toThrow(message);
  });
});
