import { describe, expect, it } from 'vitest';
import { readExactly } from '../../../../../renderer/pages/api/exact-values.ts';
import { readTruncated } from '../../../../../renderer/pages/traffic/bodies/body-look.ts';
import { layOut, prettyJson, readTokens } from '../../../../../renderer/shared/traffic/json-text.ts';

describe('a JSON text laid out for reading', () => {
  it('has a line for each member and element, and empty ones on one line', () => {
    const text = '{"id":1,"tags":["a","b"],"none":[],"nothing":{},"deep":{"x":null}}';
    expect(prettyJson(text).split('\n')).toEqual([
      ...['{', '  "id": 1,', '  "tags": [', '    "a",', '    "b"', '  ],', '  "none": [],', '  "nothing": {},'],
      ...['  "deep": {', '    "x": null', '  }', '}'],
    ]);
  });

  it.each([
    ['an int64', '[9223372036854775807,-9223372036854775808]'],
    ['a number in another spelling', '[1.0,1e3,-0,0.10,1E+2]'],
    ['a repeated member', '{"a":1,"a":2}'],
    ['__proto__', '{"__proto__":{"a":1}}'],
    ['escapes', String.raw`["\u00e4\"\\","\/"]`],
    ['what looks like JSON in a string', '["{\\"a\\":[1,2]}, true"]'],
    ['words', '[true,false,null]'],
    ['a value alone', '9007199254740993'],
  ])('keeps every token: %s', (_what, text) => {
    expect(prettyJson(text).replaceAll(/\n\s*/g, '').replaceAll('": ', '":')).toBe(text);
    expect((readTokens(`  ${text}\n`) ?? []).map((token) => token.text).join('')).toBe(text);
  });

  it.each(['', '{', "{'a':1}", '[01]', 'undefined', '{"a":1} x', '<html>'])(
    '%j is not JSON, and stays unchanged',
    (text) => {
      expect(prettyJson(text)).toBe(text);
      expect(readTokens(text)).toBeUndefined();
      expect(readExactly(text)).toBeUndefined();
    },
  );

  it.each([
    ['[{"id":1,"name":"Rex"},{"id":2,"na', ['[', '{', '"id": 1,', '"name": "Rex"', '},', '{', '"id": 2,']],
    ['[1, 2, 34', ['[', '1,', '2,']],
    ['{"a":{"b":[true,"x, y', ['{', '"a": {', '"b": [', 'true,']],
    ['{"a":9223372036854775807,"b":1', ['{', '"a": 9223372036854775807,']],
    ['{"only":"one, and no', undefined],
    ['<html>a, b', undefined],
    ['{a:1,b', undefined],
    ['', undefined],
  ])('whose end is missing is laid out as far as it is complete: %j', (text, lines) => {
    const tokens = readTruncated(text);
    expect(tokens && layOut(tokens).map((line) => line.tokens.map((token) => token.text).join(''))).toEqual(lines);
  });

  it('stays unchanged if it is nested too deeply', () => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    expect(prettyJson(deep)).toBe(deep);
    expect(readExactly(deep)).toBeUndefined();
    expect(readTokens('['.repeat(100) + ']'.repeat(100))).toHaveLength(200);
  });

  it('distinguishes names from strings', () => {
    const kinds = readTokens('{"a":"a"}')?.map(({ kind }) => kind);
    expect(kinds).toEqual(['punctuation', 'name', 'punctuation', 'string', 'punctuation']);
  });
});

describe('the value of a JSON text', () => {
  it('has exact integers, beyond 2^53 as bigints', () => {
    expect(readExactly('[9007199254740991,9007199254740993,-9223372036854775808,1.5,1e3]')).toEqual([
      9007199254740991,
      9007199254740993n,
      -9223372036854775808n,
      1.5,
      1000,
    ]);
  });

  it('has "__proto__" as an ordinary member', () => {
    const value = readExactly('{"__proto__":{"admin":true},"a":[{}]}') as Record<string, unknown>;
    expect(Object.keys(value)).toEqual(['__proto__', 'a']);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });

  it('is otherwise that of JSON.parse', () => {
    const text = '{"a":[1,{"b":"\\u0041"},[],{}],"c":{"d":null,"e":false},"f":-1.25e-3}';
    expect(readExactly(text)).toEqual(JSON.parse(text));
  });
});
