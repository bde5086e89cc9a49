import { describe, expect, test } from 'vitest';
import { listQuery, petParams } from '../../../main/api/schemas.ts';
import { paramsReader, queryReader } from '../../../main/api/validation.ts';
import { outcomeOf } from '../../support/api-outcome.ts';

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
