import { describe, expect, it } from 'vitest';
import { parseDuration } from '../../../main/contract/duration.ts';
import { duration } from '../../../main/contract/values.ts';
import { readDurationText } from '../../../renderer/time/duration-text.ts';

describe('a length of time as people write it', () => {
  it.each([
    ['1 min', 'PT1M'],
    ['90 days', 'P90D'],
    ['2h 30m', 'PT2H30M'],
    ['2h30m', 'PT2H30M'],
    ['1 day, 2 hours and 3 minutes', 'P1DT2H3M'],
    ['1.5 hours', 'PT1H30M'],
    ['90s', 'PT1M30S'],
    ['1500 ms', 'PT1.5S'],
    ['2 Weeks', 'P14D'],
    ['  36 h ', 'P1DT12H'],
    ['0 s', 'PT0S'],
  ])('“%s” is %s', (text, iso) => {
    expect(readDurationText(text)).toBe(iso);
    expect(duration.safeParse(iso).success).toBe(true);
    expect(parseDuration(iso)).toBeGreaterThanOrEqual(0);
  });

  it.each(['PT48H', 'P2D', '', '90', '3 months', '-1 h', 'tomorrow', '5 minutes ago', '1 h 2'])(
    '“%s” goes to the engine as it is',
    (text) => {
      expect(readDurationText(text)).toBe(text);
    },
  );
});
