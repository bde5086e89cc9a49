import { describe, expect, test } from 'vitest';
import { NESTING_MAX, readJsonObject } from '../../../main/api/validation.ts';
import { VivariumError } from '../../../main/contract/errors.ts';

const NAMES = ['name', 'categoryId', 'status'];
const nested = (levels: number): string => `{"x":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;

describe('the members of a JSON object', () => {
  test.each<[string, string, Record<string, unknown>]>([
    ['integers are exact', '{"categoryId":9007199254740993}', { categoryId: 9007199254740993n }],
    ['the greatest int64', '{"categoryId":9223372036854775807}', { categoryId: 9223372036854775807n }],
    ['an exponent that makes an integer', '{"categoryId":1e3}', { categoryId: 1000n }],
    ['a fraction of zeros', '{"categoryId":1.0}', { categoryId: 1n }],
    ['minus zero', '{"categoryId":-0}', { categoryId: 0n }],
    ['a fraction stays a number', '{"categoryId":1.5}', { categoryId: 1.5 }],
    ['white space everywhere', ' \r\n\t{ "name" : "a" ,\n"categoryId" : 1 } \n', { name: 'a', categoryId: 1n }],
    ['an escaped name', String.raw`{"na\u006de":"a"}`, { name: 'a' }],
    [
      'punctuation in strings',
      String.raw`{"name":"},{\"name\":[\\","categoryId":1}`,
      { name: '},{"name":[\\', categoryId: 1n },
    ],
    ['the same name deeper down', '{"x":{"name":1,"y":[{"name":2}]},"name":"a"}', { name: 'a' }],
    ['only the same name deeper down', '{"x":{"name":1}}', {}],
    ['a string that looks like a name', '{"x":"name","y":"categoryId"}', {}],
    ['names that are special in JavaScript', '{"__proto__":{"name":"b"},"constructor":1,"toString":2}', {}],
    ['an array where none belongs', '{"name":["a"]}', { name: [] }],
    ['an object where none belongs', '{"name":{"a":1}}', { name: {} }],
    ['null and booleans', '{"name":null,"status":true}', { name: null, status: true }],
    ['an empty object', '{}', {}],
  ])('%s', (_title, text, expected) => {
    expect(readJsonObject(text, NAMES)).toEqual({ values: expected, repeated: [] });
  });

  test('a repeated name is reported, even if one of the two is escaped', () => {
    expect(readJsonObject(String.raw`{"name":"a","\u006eame":"b"}`, NAMES)).toEqual({
      values: { name: 'b' },
      repeated: ['name'],
    });
  });

  test('a repeated unknown name is not reported', () => {
    expect(readJsonObject('{"x":1,"x":2}', NAMES).repeated).toEqual([]);
  });

  test('__proto__ changes no prototype', () => {
    readJsonObject('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}', NAMES);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  test.each<[string, string, string]>([
    ['nothing', '', 'empty'],
    ['white space', ' \n', 'empty'],
    ['null', 'null', 'not a JSON object'],
    ['an array', '[{"name":"a"}]', 'not a JSON object'],
    ['a string', '"name"', 'not a JSON object'],
    ['a form', 'name=a&categoryId=1', 'not a JSON object'],
    ['a second value', '{} {}', 'not valid JSON'],
    ['a missing comma', '{"name":"a" "categoryId":1}', 'not valid JSON'],
    ['a trailing comma', '{"name":"a",}', 'not valid JSON'],
    ['single quotes', "{'name':'a'}", 'not valid JSON'],
    ['a comment', '{"name":"a"/**/}', 'not valid JSON'],
    ['a truncated text', '{"name":"a', 'not valid JSON'],
    ['an end after a backslash', '{"name":"a\\', 'not valid JSON'],
    ['a leading zero', '{"categoryId":01}', 'not valid JSON'],
    ['a plus sign', '{"categoryId":+1}', 'not valid JSON'],
    ['NaN', '{"categoryId":NaN}', 'not valid JSON'],
    ['a control character', '{"name":"a\u0000"}', 'not valid JSON'],
    ['one level too many', nested(NESTING_MAX + 1), `deeper than ${NESTING_MAX} levels`],
    ['a mebibyte of brackets', `{"x":${'['.repeat(1_048_570)}`, `deeper than ${NESTING_MAX} levels`],
  ])('%s is refused as %s', (_title, text, words) => {
    expect(() => readJsonObject(text, NAMES)).toThrow(VivariumError);
    expect(() => readJsonObject(text, NAMES)).toThrow(words);
  });

  test('the deepest allowed nesting is accepted', () => {
    expect(readJsonObject(nested(NESTING_MAX), NAMES)).toEqual({ values: {}, repeated: [] });
  });
});
