import { describe, expect, it } from 'vitest';
import { exactInteger, JsonStructure, parseExactJson } from '../../../../main/base/text/exact-json.ts';

describe('exactInteger', () => {
  it.each([
    ['0', 0n],
    ['-0', 0n],
    ['1.0', 1n],
    ['1e3', 1000n],
    ['1.5e1', 15n],
    ['10e-1', 1n],
    ['-120E-1', -12n],
    ['9007199254740993', 9007199254740993n],
    ['9223372036854775807', 9223372036854775807n],
    ['-9223372036854775808', -9223372036854775808n],
    ['9223372036854775808', 9223372036854775808n],
    ['9.223372036854775807e18', 9223372036854775807n],
    ['0e999999999', 0n],
  ])('%s means %s', (literal, value) => {
    expect(exactInteger(literal)).toBe(value);
  });

  it.each(['1.5', '1e-1', '0.1', '123456e-7', '100e-5', '1e400', '1e999999999', '1e-999999999'])(
    '%s is not an integer here',
    (literal) => {
      expect(exactInteger(literal)).toBeNull();
    },
  );
});

describe('parseExactJson', () => {
  it('keeps integers exact at any depth, and fractions as numbers', () => {
    expect(parseExactJson('{"a":[9007199254740993,{"b":-1}],"c":1.5,"d":"2","e":null,"f":true}')).toEqual({
      a: [9007199254740993n, { b: -1n }],
      c: 1.5,
      d: '2',
      e: null,
      f: true,
    });
  });

  it.each([
    ['[1,{"a":[-2]},"3",null,true]', [1n, { a: [-2n] }, '3', null, true]],
    ['-0', 0n],
    ['[9007199254740993,-9223372036854775808]', [9007199254740993n, -9223372036854775808n]],
    ['[999999999999999,1234567890123456,0.5,1e2]', [999999999999999n, 1234567890123456n, 0.5, 100n]],
    ['["v1.5",7]', ['v1.5', 7n]],
    ['[999999999999999.99999]', [1e15]],
  ])('%s', (text, value) => {
    expect(parseExactJson(text)).toEqual(value);
  });

  it('treats a number named __proto__ as an ordinary member', () => {
    const value = parseExactJson('{"__proto__":7,"a":1}') as object;
    expect(Object.entries(value)).toEqual([
      ['__proto__', 7n],
      ['a', 1n],
    ]);
  });

  it('treats __proto__ as an ordinary name', () => {
    const value = parseExactJson('{"__proto__":{"admin":true}}') as object;
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect('admin' in value).toBe(false);
  });

  it.each(['', '{', '[1,]', '01', 'NaN', "{'a':1}"])('throws on %s', (text) => {
    expect(() => parseExactJson(text)).toThrow(SyntaxError);
  });

  it('throws on a million brackets before it parses them', () => {
    expect(() => parseExactJson('['.repeat(1_000_000) + ']'.repeat(1_000_000))).toThrow('nests deeper than 256 levels');
  });

  it('does not count brackets inside strings', () => {
    const text = JSON.stringify({ name: '\\"[{'.repeat(1_000) });
    expect(parseExactJson(text)).toEqual(JSON.parse(text));
  });
});

/** The structural characters of a text that arrives in pieces. */
function structureOf(...pieces: string[]): string {
  const structure = new JsonStructure();
  let found = '';
  for (const piece of pieces) {
    for (let at = structure.next(piece, 0); at >= 0; at = structure.next(piece, at + 1)) found += piece.charAt(at);
  }
  return found;
}

it.each([
  ['brackets, braces, commas and colons', '{"a": [1, 2], "b": {}}', '{:[,],:{}}'],
  ['nothing inside of strings', '["[{,:}]", "", 1]', '[,,]'],
  ['nothing behind an escaped quote', String.raw`["\",", 1]`, '[,]'],
  ['what follows an escaped backslash at the end of a string', String.raw`["\\", 1]`, '[,]'],
  ['nothing behind two escapes', String.raw`["\\\",", 1]`, '[,]'],
  ['nothing of a number', '12.5e+3', ''],
  ['nothing behind a quote that is never closed', '["a, b]', '['],
])('the structure of JSON text is %s', (_what, text, structure) => {
  expect(structureOf(text)).toBe(structure);
  for (let cut = 0; cut <= text.length; cut++) {
    expect(structureOf(text.slice(0, cut), text.slice(cut)), `cut at ${cut}`).toBe(structure);
  }
});
