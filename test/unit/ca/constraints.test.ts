import { describe, expect, test } from 'vitest';
import {
  constrainTo,
  decodeConstraints,
  encodeConstraints,
  formatRange,
  permits,
  parseLeafName,
} from '../../../main/ca/names.ts';
import { publicSuffixAbove } from '../../../main/ca/suffixes.ts';
import { DEFAULT_SUFFIXES } from '../../../main/contract/hostnames.ts';

const defaults = constrainTo(DEFAULT_SUFFIXES);

describe('the default constraints', () => {
  test.each<[string, boolean]>([
    ['localhost', true],
    ['demo.vivarium.localhost', true],
    ['a.test', true],
    ['www.acme.example', true],
    ['api.corp.internal', true],
    ['example.com', false],
    ['www.example.org', false],
    ['printer.local', false],
    ['gone.invalid', false],
    ['evil.com', false],
    ['localhost.evil.com', false],
    ['evillocalhost', false],
    ['mytest', false],
    ['127.0.0.1', true],
    ['127.255.255.255', true],
    ['128.0.0.0', false],
    ['126.255.255.255', false],
    ['0.0.0.0', false],
    ['::1', true],
    ['::', false],
    ['::2', false],
    ['::ffff:127.0.0.1', false],
  ])('%s: permitted %s', (name, permitted) => {
    expect(permits(defaults, parseLeafName(name))).toBe(permitted);
  });

  test('are read back from their DER', () => {
    const read = decodeConstraints(encodeConstraints(defaults));
    expect(read.suffixes).toEqual(['localhost', 'test', 'example', 'internal']);
    expect(read.addresses.map(formatRange)).toEqual(['127.0.0.0/8', '::1/128']);
  });
});

test.each([
  ['api.vercel.com', 'com'],
  ['acme.co.uk', 'co.uk'],
  ['acme.github.io', 'github.io'],
  ['example.com', 'com'],
  ['corp', null],
  ['acme.test', null],
  ['nas.home.internal', null],
])('%s may belong to others below the public suffix %s', (name, suffix) => {
  expect(publicSuffixAbove(name)).toBe(suffix);
});

test('a permitted name below the top permits what is below it, and not its siblings', () => {
  const constraints = constrainTo(['shop.acme.com']);
  expect(
    ['shop.acme.com', 'a.b.shop.acme.com', 'acme.com', 'xshop.acme.com'].map((name) =>
      permits(constraints, parseLeafName(name)),
    ),
  ).toEqual([true, true, false, false]);
});

test('constraints without permitted subtrees permit nothing', () => {
  expect(decodeConstraints(Buffer.from('3000', 'hex'))).toEqual({ suffixes: [], addresses: [] });
});
