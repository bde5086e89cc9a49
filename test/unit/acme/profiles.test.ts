import { expect, test } from 'vitest';
import { findProfile } from '../../../main/acme/profiles.ts';
import { DAY_MS } from '../../../main/contract/duration.ts';

test.each([
  ['letsencrypt-2028', undefined],
  ['letsencrypt-2028@1s', 45_000],
  ['letsencrypt-2028@100ms', 4_500],
  ['classic@1m', 90 * 60_000],
  ['classic@24h', 90 * DAY_MS],
])('a certificate of the profile %s has the profile’s lifetime for clients', (name, wireMs) => {
  expect(findProfile(name)?.wireLifetimeMs).toBe(wireMs);
});

test.each([
  ['an unknown name', 'gold@1s'],
  ['a lifetime of less than two seconds', 'shortlived@100ms'],
  ['a lifetime longer than the profile’s', 'classic@25h'],
  ['an empty duration', 'classic@'],
  ['a duration in days', 'classic@1d'],
])('no profile is found for: %s', (_what, name) => {
  expect(findProfile(name)).toBeUndefined();
});
