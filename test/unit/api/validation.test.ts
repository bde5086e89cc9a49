import { describe, expect, test } from 'vitest';
import { NESTING_MAX, paramsReader, queryReader, readJsonObject } from '../../../main/api/validation.ts';
import { VivariumError } from '../../../main/contract/errors.ts';
import { listQuery, petParams } from '../../../main/api/schemas.ts';
import { outcomeOf } from '../../support/api-outcome.ts';

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

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;
const read = queryReader(listQuery);
const validate = outcomeOf(read);
const validateParams = outcomeOf(paramsReader(petParams));
const refusal = (words: string) => ({
  error: { code: 'invalid_request', message: expect.stringContaining(words) as string },
});

describe('the query of listPets', () => {
  test.each<[string, unknown]>([
    ['', { limit: 20 }],
    ['limit=1', { limit: 1 }],
    ['limit=100', { limit: 100 }],
    ['limit=007', { limit: 7 }],
    ['status=available', { limit: 20, status: 'available' }],
    ['status=pending', { limit: 20, status: 'pending' }],
    ['status=sold&limit=5', { limit: 5, status: 'sold' }],
    ['%6Cimit=%35&stat%75s=sol%64', { limit: 5, status: 'sold' }],
    ['after=0', { limit: 20, after: 0n }],
    ['after=-1', { limit: 20, after: -1n }],
    [`after=${INT64_MIN}`, { limit: 20, after: INT64_MIN }],
    [`after=${INT64_MAX}`, { limit: 20, after: INT64_MAX }],
    ['after=9007199254740993', { limit: 20, after: 9007199254740993n }],
    ['&&limit=3&', { limit: 3 }],
    ['color=red&color=blue&x', { limit: 20 }],
    ['Limit=0&LIMIT=x', { limit: 20 }],
    ['__proto__=1&constructor=2&toString=3', { limit: 20 }],
  ])('%j is accepted', (text, value) => {
    expect(validate(text)).toEqual({ value });
  });

  const LIMIT = '"limit" must be a whole number from 1 to 100';
  const STATUS = '"status" must be one of "available", "pending", "sold"';
  const AFTER = '"after" must be an integer from -9223372036854775808 to 9223372036854775807';
  test.each<[string, string[]]>([
    [LIMIT, ['0', '101', '-1', '+5', '%2B5', '5.0', '1e1', '0x10', '', ' 5', '٥'].map((value) => `limit=${value}`)],
    [LIMIT, ['limit', 'limit=99999999999999999999999999', `limit=${'9'.repeat(400)}`]],
    [STATUS, ['status=', 'status=Sold']],
    [AFTER, ['', '1.0', '01', '-0', '%2B1', INT64_MAX + 1n, INT64_MIN - 1n].map((value) => `after=${value}`)],
    ['"limit" was given more than once', ['limit=5&limit=5']],
    ['"status" was given more than once', ['status=sold&status=sold']],
    ['malformed percent-encoding', ['limit=%', 'other=%zz', 'other=%ff']],
  ])('is refused because %s: %j', (words, texts) => {
    for (const text of texts) expect(validate(text), text).toMatchObject(refusal(words));
  });

  test('every fault is named at once', () => {
    const issues = ['limit', 'status', 'after'].map((path) => ({ path }));
    expect(validate('limit=0&status=x&after=y')).toMatchObject({ error: { issues } });
  });

  test('a query that was read before is returned as the same value', () => {
    expect(read('limit=33')).toBe(read('limit=33'));
  });
});

describe('the path of getPet', () => {
  test.each(['0', '-1', '1', '9007199254740991', '9007199254740993', String(INT64_MIN), String(INT64_MAX)])(
    '%s is an id',
    (petId) => {
      expect(validateParams({ petId })).toEqual({ value: { petId: BigInt(petId) } });
    },
  );

  test.each(['', 'abc', '+1', '01', '-0', '1.0', '1e3', '0x1', ' 1', '1/2', `${INT64_MAX + 1n}`, `${INT64_MIN - 1n}`])(
    '%j is not',
    (petId) => expect(validateParams({ petId })).toMatchObject(refusal('"petId" must be an integer')),
  );
});
