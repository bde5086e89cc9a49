import { describe, expect, it } from 'vitest';
import {
  formatCount,
  formatCounted,
  formatMoment,
  formatPast,
  formatRelative,
  formatSpan,
  formatTimeOfDay,
} from '../../../../../renderer/shared/time/format.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

it.each([
  [-5, '0 s'],
  [0, '0 s'],
  [1, '1 s'],
  [42 * SECOND, '42 s'],
  [59_001, '1 min'],
  [3 * MINUTE + 5 * SECOND, '3 min 5 s'],
  [10 * MINUTE, '10 min'],
  [10 * MINUTE + SECOND, '10 min'],
  [10 * MINUTE + SECOND + 1, '11 min'],
  [59 * MINUTE + SECOND + 1, '1 h'],
  [DAY + 400, '24 h'],
  [DAY + 5 * MINUTE, '24 h 5 min'],
  [13 * HOUR + 5 * MINUTE, '13 h 5 min'],
  [2 * DAY - 1, '2 days'],
  [2 * DAY + 3 * HOUR + SECOND + 1, '2 days 4 h'],
  [400 * DAY, '400 days'],
])('a duration of %d ms reads "%s", less than its value by a second at most', (ms, text) => {
  expect(formatSpan(ms)).toBe(text);
});

describe('a moment', () => {
  const at = Date.UTC(2026, 10, 20, 23, 30, 5);

  it('is shown in the requested time zone', () => {
    expect(formatMoment(at, 'UTC')).toBe('20 Nov 2026, 23:30:05');
    expect(formatMoment(at, 'Europe/Berlin')).toBe('21 Nov 2026, 00:30:05');
  });

  it('at midnight is 00, not 24', () => {
    expect(formatTimeOfDay(Date.UTC(2026, 0, 1), 'UTC')).toBe('00:00:00');
  });
});

describe('a count', () => {
  it('has thousands separators', () => {
    expect(formatCount(1_204_000)).toBe('1,204,000');
  });

  it.each([
    [0, '0 pets'],
    [1, '1 pet'],
    [1_000, '1,000 pets'],
  ])('of %d agrees with its noun', (count, text) => {
    expect(formatCounted(count, 'pet', 'pets')).toBe(text);
  });
});

it.each([
  [0, 'now'],
  [1_999, 'now'],
  [-1_999, 'now'],
  [-42 * SECOND, '42 s ago'],
  [42 * SECOND, 'in 42 s'],
  [119 * SECOND, 'in 119 s'],
  [-3 * MINUTE - 59 * SECOND, '3 min ago'],
  [3 * MINUTE + 1, 'in 4 min'],
  [-47 * HOUR, '47 h ago'],
  [90 * DAY, 'in 3 months'],
  [-3 * DAY, '3 days ago'],
  [10 * 365 * DAY, 'in 10 years'],
])('the distance to a moment %d ms from now is %s', (distanceMs, text) => {
  expect(formatRelative(1_800_000_000_000 + distanceMs, 1_800_000_000_000)).toBe(text);
});

it.each([
  [-5 * MINUTE, '5 min ago'],
  [1_999, 'now'],
  [2_000, formatMoment(2_000)],
  [3_000 * DAY, formatMoment(3_000 * DAY)],
])('a recorded moment %d ms after now is "%s", never in the future', (atMs, text) => {
  expect(formatPast(atMs, 0)).toBe(text);
});
