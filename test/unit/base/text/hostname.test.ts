import { describe, expect, it } from 'vitest';
import { isWithin, normalizeHostname, parseAuthority } from '../../../../main/base/text/hostname.ts';

describe('normalizeHostname', () => {
  it.each([
    ['demo.vivarium.localhost', 'demo.vivarium.localhost'],
    ['Demo.Vivarium.LOCALHOST.', 'demo.vivarium.localhost'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['例え.テスト', 'xn--r8jz45g.xn--zckzah'],
    ['a.b', 'a.b'],
    [`${'a'.repeat(63)}.test`, `${'a'.repeat(63)}.test`],
    ['1.test', '1.test'],
    [`${'a'.repeat(62)}.`.repeat(4) + 'a', `${'a'.repeat(62)}.`.repeat(4) + 'a'],
  ])('%s becomes %s', (text, hostname) => {
    expect(normalizeHostname(text)).toEqual({ ok: true, hostname });
  });

  const long = `${'a'.repeat(60)}.`.repeat(4) + 'a'.repeat(10);
  it.each([
    ['', 'empty'],
    ['.', 'empty'],
    ['a..b', 'empty_label'],
    ['.a', 'empty_label'],
    ['a.b..', 'empty_label'],
    [`${'a'.repeat(64)}.test`, 'label_too_long'],
    [long, 'too_long'],
    ['under_score.test', 'bad_character'],
    ['a b.test', 'bad_character'],
    ['*.test', 'bad_character'],
    ['a/b.test', 'bad_character'],
    ['-a.test', 'hyphen_at_edge'],
    ['a-.test', 'hyphen_at_edge'],
    ['127.0.0.1', 'all_numeric'],
  ])('"%s" is refused as %s', (text, fault) => {
    expect(normalizeHostname(text)).toMatchObject({ ok: false, fault });
  });
});

describe('parseAuthority', () => {
  it.each([
    ['demo.test', { host: 'demo.test', port: null }],
    ['Demo.TEST.:8080', { host: 'demo.test', port: 8080 }],
    ['demo.test:', { host: 'demo.test', port: null }],
    ['127.0.0.1:1', { host: '127.0.0.1', port: 1 }],
    ['[::1]:65535', { host: '[::1]', port: 65535 }],
    ['localhost', { host: 'localhost', port: null }],
  ])('reads %s', (text, authority) => {
    expect(parseAuthority(text)).toEqual(authority);
  });

  it.each([
    '',
    ' ',
    '.',
    ':80',
    'a:b',
    'a:65536',
    'a:-1',
    'a:8080:1',
    'user@a',
    'a/b',
    'a?b',
    'a#b',
    '::1',
    '[::1',
    'a b',
    'a%2eb',
    'a,b',
    'a\tb',
    'a..b',
    'a.b..',
    '.',
    '.a',
  ])('refuses "%s"', (text) => {
    expect(parseAuthority(text)).toBeNull();
  });
});

describe('isWithin', () => {
  it.each([
    ['a.test', 'test', true],
    ['test', 'test', true],
    ['atest', 'test', false],
    ['a.test.example', 'test', false],
  ])('%s within %s: %s', (hostname, zone, expected) => {
    expect(isWithin(hostname, zone)).toBe(expected);
  });
});
