import { describe, expect, it } from 'vitest';
import { joinDuration, sameDuration, splitDuration } from '../../../../../renderer/shared/time/typed-duration.ts';

describe('a typed duration', () => {
  it.each([
    ['PT10M', '10', 'M'],
    ['PT48H', '48', 'H'],
    ['P2D', '2', 'D'],
    ['PT0S', '0', 'S'],
    ['PT0.5S', '0.5', 'S'],
    ['PT1H30M', '90', 'M'],
    ['P1DT1S', '86401', 'S'],
    ['P2W', '14', 'D'],
  ])('%s is %s %s', (text, amount, unit) => {
    expect(splitDuration(text)).toEqual({ amount, unit });
  });

  it.each(['PT10M', 'PT48H', 'P2D', 'PT0S', 'PTsomeM', 'PT1.5H', 'PT-3S', 'PT1 000M'])(
    'is restored unchanged: %s',
    (text) => {
      expect(joinDuration(splitDuration(text))).toBe(text);
    },
  );

  it('without an amount is the empty text', () => {
    expect(joinDuration({ amount: '  ', unit: 'H' })).toBe('');
  });

  it.each([
    ['PT2M', 'PT120S', true],
    ['P2D', 'PT48H', true],
    ['PT2M', 'PT2H', false],
    ['PTsomeM', 'PTsomeM', true],
    ['PTsomeM', 'PT2M', false],
  ])('%s and %s: %s', (one, other, same) => {
    expect(sameDuration(one, other)).toBe(same);
  });
});
