import { describe, expect, it } from 'vitest';
import { keyName } from '../../../main/contract/callers.ts';
import { projectName } from '../../../main/contract/projects.ts';
import { caName, duration, int64Input, int64Text, moment, petName } from '../../../main/contract/values.ts';
import { formatDuration, parseDuration } from '../../../main/contract/duration.ts';

describe('int64 as input', () => {
  it.each([
    ...['0', 0, -0, '-1', 9007199254740991, -9007199254740991],
    ...['9007199254740993', '9223372036854775807', '-9223372036854775808'],
  ])('%s is itself', (input) => {
    const value = int64Input.parse(input);
    expect(value).toBe(String(input));
    expect(int64Text.safeParse(value).success).toBe(true);
  });

  it.each([
    ['beyond what a number can be sure of', [9007199254740992, -9007199254740992, 1.5, Number.NaN]],
    ['beyond 64 bits', ['9223372036854775808', '-9223372036854775809']],
    ['in another form', ['', ' 1', '+1', '01', '-0', '1.0', '1e3', '0x1', '١']],
    ['of another type', [null, true, []]],
  ])('is refused %s, and the message names the range: %j', (_why, inputs) => {
    for (const input of inputs)
      expect(int64Input.safeParse(input).error?.issues[0]?.message, String(input)).toContain(
        '-9223372036854775808 to 9223372036854775807',
      );
  });
});

describe('a pet’s name', () => {
  it.each([['Rex'], [' Rex '], ['a'.repeat(1000)], ['🐕'.repeat(1000)], ['nul \u0000 inside'], ['<b>'], ['\u200bx']])(
    'may be %j',
    (name) => {
      expect(petName.parse(name)).toBe(name);
    },
  );
  const BLANK = ['', ' \t\n ', '\u00a0\u2003'];
  it.each([...BLANK, 'a'.repeat(1001), '🐕'.repeat(1001), '\ud800', 7, null, undefined])('is not %j', (name) => {
    expect(petName.safeParse(name).success).toBe(false);
  });
});

describe('the name of a CA', () => {
  it.each([
    ['letsencrypt.org', 'letsencrypt.org'],
    ['LetsEncrypt.org.', 'letsencrypt.org'],
    ['localhost', 'localhost'],
  ])('%s is %s', (text, name) => {
    expect(caName.parse(text)).toBe(name);
  });

  it.each(['', ';', 'a b', 'a..b', '-a.test', 'a_b.test', '127.0.0.1', 'ca.example; x=y'])('cannot be %j', (text) => {
    expect(caName.safeParse(text).error?.issues[0]?.message).toContain('such as "letsencrypt.org"');
  });
});

describe('a moment as input', () => {
  it.each([
    ['2030-01-01', '2030-01-01T00:00:00.000Z'],
    ['2026-11-20T09:00:00.000Z', '2026-11-20T09:00:00.000Z'],
    ['2026-11-20T09:00:00+01:00', '2026-11-20T09:00:00+01:00'],
  ])('%s is %s', (text, value) => {
    expect(moment.parse(text)).toBe(value);
  });

  it.each(['2030-02-30', '2030-1-1', '01.01.2030', 'tomorrow', '2030-01-01T09:00', ''])('%j is refused', (text) => {
    expect(moment.safeParse(text).error?.issues[0]?.message).toMatch(/^must be a moment in ISO 8601, .* or a date/);
  });
});

describe('the name of a project or a key', () => {
  it.each(['a\tb', 'a\nb', 'a\u001b[31mb', 'a\u007fb', 'a\u009bb'])('has no control characters: %j', (name) => {
    for (const type of [projectName, keyName])
      expect(type.safeParse(name).error?.message).toContain('control characters');
  });

  it('may be of any script, with marks and emoji', () => {
    const name = 'Ωmega 日本 e\u0301 👩‍💻';
    expect([projectName.parse(name), keyName.parse(name)]).toEqual([name, name]);
  });
});

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

it.each([
  [0, 'PT0S'],
  [1, 'PT0.001S'],
  [90_000, 'PT1M30S'],
  [172_800_000, 'PT48H'],
  [-5_400_000, '-PT1H30M'],
])('formatDuration writes %i ms as %s, and back', (milliseconds, text) => {
  expect(formatDuration(milliseconds)).toBe(text);
  expect(parseDuration(text)).toBe(milliseconds);
});
