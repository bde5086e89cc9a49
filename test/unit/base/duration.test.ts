import { describe, expect, it } from 'vitest';
import { formatDuration, parseDuration } from '../../../main/contract/duration.ts';
import { duration } from '../../../main/contract/values.ts';

describe('parseDuration', () => {
  it.each([
    ['PT0S', 0],
    ['PT1S', 1_000],
    ['PT0.5S', 500],
    ['PT0.001S', 1],
    ['PT10M', 600_000],
    ['PT48H', 172_800_000],
    ['P2D', 172_800_000],
    ['P1W', 604_800_000],
    ['P1DT2H3M4.5S', 93_784_500],
    ['-PT1H', -3_600_000],
  ])('%s is %i ms', (text, milliseconds) => {
    expect(parseDuration(text)).toBe(milliseconds);
  });

  it.each(['', 'P', 'PT', 'P1DT', '1H', 'PT1', 'P1M', 'P1Y', 'PT-1S', 'pt1s', 'PT1.2345S', 'PT1S ', 'PT1.H'])(
    '"%s" is not a duration, neither for the parser nor for the contract',
    (text) => {
      expect(() => parseDuration(text)).toThrow(RangeError);
      expect(duration.safeParse(text).success).toBe(false);
    },
  );

  it('refuses a duration beyond what milliseconds hold exactly', () => {
    expect(() => parseDuration('P99999999999999999W')).toThrow('too long');
  });
});

describe('formatDuration', () => {
  it.each([
    [0, 'PT0S'],
    [1, 'PT0.001S'],
    [90_000, 'PT1M30S'],
    [172_800_000, 'PT48H'],
    [-5_400_000, '-PT1H30M'],
  ])('%i ms is %s, and back', (milliseconds, text) => {
    expect(formatDuration(milliseconds)).toBe(text);
    expect(parseDuration(text)).toBe(milliseconds);
  });
});
