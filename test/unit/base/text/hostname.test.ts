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
    ['empty', ['', '.']],
    ['empty_label', ['a..b', '.a', 'a.b..']],
    ['label_too_long', [`${'a'.repeat(64)}.test`]],
    ['too_long', [long]],
    ['bad_character', ['under_score.test', 'a b.test', '*.test', 'a/b.test']],
    ['hyphen_at_edge', ['-a.test', 'a-.test']],
    ['all_numeric', ['127.0.0.1']],
  ])('refuses as %s: %j', (fault, texts) => {
    for (const text of texts) expect(normalizeHostname(text), text).toMatchObject({ ok: false, fault });
  });
});

describe('parseAuthority', () => {
  it.each([
    ['demo.test', 'demo.test', null],
    ['Demo.TEST.:8080', 'demo.test', 8080],
    ['demo.test:', 'demo.test', null],
    ['127.0.0.1:1', '127.0.0.1', 1],
    ['[::1]:65535', '[::1]', 65535],
    ['localhost', 'localhost', null],
  ])('reads %s', (text, host, port) => {
    expect(parseAuthority(text)).toEqual({ host, port });
  });

  it.each([
    ['nothing', ['', ' ']],
    ['ports', [':80', 'a:b', 'a:65536', 'a:-1', 'a:8080:1']],
    ['other characters', ['user@a', 'a/b', 'a?b', 'a#b', 'a b', 'a%2eb', 'a,b', 'a\tb']],
    ['addresses', ['::1', '[::1']],
    ['dots', ['.', '.a', 'a..b', 'a.b..']],
  ])('refuses %s: %j', (_what, texts) => {
    for (const text of texts) expect(parseAuthority(text), text).toBeNull();
  });
});

it.each([
  ['a.test', 'test', true],
  ['test', 'test', true],
  ['atest', 'test', false],
  ['a.test.example', 'test', false],
])('%s is within %s: %s', (hostname, zone, expected) => {
  expect(isWithin(hostname, zone)).toBe(expected);
});
