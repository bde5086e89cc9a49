import { describe, expect, it } from 'vitest';
import { keyName } from '../../../main/contract/callers.ts';
import { projectName } from '../../../main/contract/projects.ts';
import { caName, int64Input, int64Text, moment, petName } from '../../../main/contract/values.ts';

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
