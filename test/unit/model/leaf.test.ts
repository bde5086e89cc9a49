import { describe, expect, test } from 'vitest';
import { describeLeaf, isRenewalDue, type Leaf, type LeafDates, renewAtMs } from '../../../main/model/leaf.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NOW_MS = Date.UTC(2026, 10, 20, 9);

/** A leaf's dates: `days` from now on both clocks, an hour backdated. */
const dates = (days: number): LeafDates => ({
  notBeforeMs: NOW_MS - HOUR_MS,
  notAfterMs: NOW_MS + days * DAY_MS,
  wireNotBeforeMs: NOW_MS - HOUR_MS,
  wireNotAfterMs: NOW_MS + days * DAY_MS,
});

describe('renewal', () => {
  test.each<[string, number, number, boolean]>([
    ['at once', 0, 0, false],
    ['a millisecond before 30 days are left on the app’s clock', 60 * DAY_MS - 1, 0, false],
    ['with 30 days left on the app’s clock', 60 * DAY_MS, 0, true],
    ['after its end on the app’s clock', 91 * DAY_MS, 0, true],
    ['with 30 days left in real time, the app’s clock frozen', 0, 60 * DAY_MS, true],
    ['the app’s clock set back within the first hour', -HOUR_MS, 0, false],
    ['the app’s clock set back to before its beginning', -HOUR_MS - 1, 0, true],
    ['real time set back to before its beginning', 0, -HOUR_MS - 1, true],
  ])('%s: app %i ms and real time %i ms on, due %s', (_name, appMs, realMs, due) => {
    expect(isRenewalDue(dates(90), { now: NOW_MS + appMs, realNow: NOW_MS + realMs })).toBe(due);
  });

  test.each([
    ['90 days', 90, NOW_MS + 60 * DAY_MS],
    ['30 days, after two thirds', 30, Math.ceil(NOW_MS + 20 * DAY_MS - HOUR_MS / 3)],
    ['six days, after two thirds', 6, Math.ceil(NOW_MS + 4 * DAY_MS - HOUR_MS / 3)],
  ])('of a leaf of %s is due at the same moment on both clocks', (_name, days, atMs) => {
    const leaf = dates(days);
    expect(renewAtMs(leaf)).toBe(atMs);
    const due = [atMs - 1, atMs].map((nowMs) => [
      isRenewalDue(leaf, { now: nowMs, realNow: NOW_MS }),
      isRenewalDue(leaf, { now: NOW_MS, realNow: nowMs }),
    ]);
    expect(due).toEqual([
      [false, false],
      [true, true],
    ]);
  });
});

test('a leaf is shown with both pairs of dates, and without its key', () => {
  const leaf: Leaf = {
    ...dates(90),
    wireNotBeforeMs: NOW_MS,
    certificatePem: 'CERTIFICATE',
    privateKeyPem: 'KEY',
    serial: '0A',
    fingerprint: 'AB:CD',
    sans: ['demo.vivarium.localhost', '127.0.0.1', '::1'],
  };
  expect(describeLeaf(leaf, ['INTERMEDIATE'])).toEqual({
    serial: '0A',
    sans: ['demo.vivarium.localhost', '127.0.0.1', '::1'],
    notBefore: '2026-11-20T08:00:00.000Z',
    notAfter: '2027-02-18T09:00:00.000Z',
    wireNotBefore: '2026-11-20T09:00:00.000Z',
    wireNotAfter: '2027-02-18T09:00:00.000Z',
    fingerprint: 'AB:CD',
    pem: 'CERTIFICATE',
    chain: ['INTERMEDIATE'],
  });
});
