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
    ['10m', 600_000],
    ['90s', 90_000],
    ['1d2h', 93_600_000],
    ['48 hours', 172_800_000],
    ['1 week', 604_800_000],
    ['2 Weeks', 1_209_600_000],
    ['1 min', 60_000],
    ['2h 30m', 9_000_000],
    ['1 day, 2 hours and 3 minutes', 93_780_000],
    ['1.5 hours', 5_400_000],
    ['1500 ms', 1_500],
    ['1H', 3_600_000],
    ['  36 h ', 129_600_000],
    ['0 s', 0],
  ])('%s is %i ms', (text, milliseconds) => {
    expect(parseDuration(text)).toBe(milliseconds);
  });

  it.each([
    ...['', 'P', 'PT', 'P1DT', 'PT1', 'P1M', 'P1Y', 'PT-1S', 'pt1s', 'PT1.2345S', 'PT1S ', 'PT1.H'],
    ...['90', '3 months', '1M', '1y', '-1 h', 'tomorrow', '5 minutes ago', '1 h 2', 'h', '1,5 h 2'],
  ])('"%s" is not a duration, neither for the parser nor for the contract', (text) => {
    expect(() => parseDuration(text)).toThrow(RangeError);
    expect(duration.safeParse(text).success).toBe(false);
  });

  it.each([
    ['PT48H', 'PT48H'],
    ['P2D', 'P2D'],
    ['2 days', 'PT48H'],
    ['2h30m', 'PT2H30M'],
    ['0s', 'PT0S'],
    ['1500 ms', 'PT1.5S'],
  ])('the contract parses "%s" as %s', (text, iso) => {
    expect(duration.parse(text)).toBe(iso);
  });

  it('names the accepted forms', () => {
    expect(duration.safeParse('5').error?.issues.map(({ message }) => message)).toEqual([
      'must be a duration such as "10m", "48 hours", "1d2h", or "PT10M" (ISO 8601), in units from weeks to milliseconds',
    ]);
  });

  it('refuses a duration that milliseconds cannot represent exactly', () => {
    expect(() => parseDuration('P99999999999999999W')).toThrow('too long');
    expect(() => parseDuration('99999999999999999 weeks')).toThrow('too long');
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
