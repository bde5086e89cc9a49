import { describe, expect, test } from 'vitest';
import { errorBody, newPet, order, pet, pets, serializerOf } from '../../../main/api/schemas.ts';
import { bodyReader } from '../../../main/api/validation.ts';
import { outcomeOf } from '../../support/api-outcome.ts';
import { z } from 'zod';
import { bodyOf } from '../../../main/base/http/answer.ts';

const validate = outcomeOf(bodyReader(newPet));
const withName = (literal: string): string => `{"name":${literal},"categoryId":1}`;
const withCategory = (literal: string): string => `{"name":"a","categoryId":${literal}}`;

describe('categoryId', () => {
  test.each([
    ...['0', '1', '-1', '9007199254740991', '9007199254740992', '9007199254740993', '-9007199254740993'],
    ...['9223372036854775806', '9223372036854775807', '-9223372036854775807', '-9223372036854775808'],
  ])('%s is accepted', (literal) => {
    const categoryId = BigInt(literal);
    expect(validate(withCategory(literal))).toEqual({ value: { name: 'a', categoryId, status: 'available' } });
  });

  test.each<[string, bigint]>([
    ['-0', 0n],
    ['1.0', 1n],
    ['1e3', 1000n],
    ['1.5e1', 15n],
    ['9223372036854775807.0', 9223372036854775807n],
  ])('%s is %s', (literal, categoryId) => {
    expect(validate(withCategory(literal))).toMatchObject({ value: { categoryId } });
  });

  test.each([
    ...['9223372036854775808', '-9223372036854775809', '1e19', '1e400', '1'.repeat(1000), '9223372036854775807.5'],
    ...['1.5', '0.1', '1e-1', '"1"', '""', 'null', 'true', '[1]', '{}'],
  ])('%s is refused', (literal) => {
    const refused = validate(withCategory(literal));
    expect(refused).toMatchObject({ error: { code: 'invalid_request', issues: [{ path: 'categoryId' }] } });
    expect('error' in refused && refused.error.message).toContain(
      '"categoryId" must be an integer from -9223372036854775808 to 9223372036854775807',
    );
  });
});

describe('name', () => {
  test.each<[string, string]>([
    ['one character', 'a'],
    ['a thousand', 'a'.repeat(1000)],
    ['a thousand outside the basic plane', '🐈'.repeat(1000)],
    ['blanks around', '  Rex  '],
    ['quotes and control characters', '"\\\n\u0000'],
    ['a right-to-left name', 'حيوان'],
  ])('%s is kept unchanged', (_title, name) => {
    expect(validate(withName(JSON.stringify(name)))).toEqual({ value: { name, categoryId: 1n, status: 'available' } });
  });

  test.each([
    ...['""', '" "', String.raw`"\t\n\u00a0"`, JSON.stringify('a'.repeat(1001)), String.raw`"\ud800"`],
    ...[String.raw`"a\udc00b"`, '1', 'null', '[]', '{}', 'false'],
  ])('%s is refused', (literal) => {
    const message = expect.stringContaining('"name" must ') as string;
    expect(validate(withName(literal))).toMatchObject({ error: { code: 'invalid_request', message } });
  });
});

describe('status', () => {
  test.each(['available', 'pending', 'sold'])('%s is accepted', (status) => {
    expect(validate(`{"name":"a","categoryId":1,"status":"${status}"}`)).toMatchObject({ value: { status } });
  });

  test.each(['"SOLD"', '""', 'null', '1', '["sold"]', '"sold "'])('%s is refused', (literal) => {
    expect(validate(`{"name":"a","categoryId":1,"status":${literal}}`)).toMatchObject({
      error: { message: expect.stringContaining('"status" must be one of "available", "pending", "sold"') as string },
    });
  });
});

describe('the body as a whole', () => {
  test('all missing fields are named', () => {
    const message = expect.stringMatching(/"name" is missing; it must .*"categoryId" is missing; it must /) as string;
    expect(validate('{}')).toMatchObject({ error: { message } });
  });

  test('a missing body is refused', () => {
    expect(validate('')).toMatchObject({ error: { code: 'invalid_request' } });
  });

  test('unknown fields are dropped, including id and special names of JavaScript', () => {
    const text = '{"name":"a","categoryId":1,"id":7,"__proto__":{"status":"sold"},"constructor":1,"hasOwnProperty":2}';
    expect(validate(text)).toEqual({ value: { name: 'a', categoryId: 1n, status: 'available' } });
  });

  test('a repeated field is refused by its name', () => {
    const issues = [{ path: 'categoryId', message: 'was given more than once; send it once' }];
    expect(validate('{"name":"a","categoryId":1,"categoryId":2}')).toMatchObject({ error: { issues } });
  });
});

describe('the serializer of a schema', () => {
  test.each<[string, z.ZodType, unknown, string]>([
    [
      'int64 to its edges',
      pets,
      [
        { id: -(2n ** 63n), name: 'a', categoryId: 2n ** 63n - 1n, status: 'sold' },
        { id: 2n ** 53n + 1n, name: 'b', categoryId: -(2n ** 53n) - 1n, status: 'available' },
      ],
      '[{"id":-9223372036854775808,"name":"a","categoryId":9223372036854775807,"status":"sold"},{"id":9007199254740993,"name":"b","categoryId":-9007199254740993,"status":"available"}]',
    ],
    ['nothing', pets, [], '[]'],
    [
      'properties in the order of the schema, and no others',
      pet,
      { secret: 1, status: 'sold', categoryId: 1n, name: 'a', id: 2n },
      '{"id":2,"name":"a","categoryId":1,"status":"sold"}',
    ],
    ['an absent optional property', pet, { id: 1n, name: 'a', categoryId: 1n }, '{"id":1,"name":"a","categoryId":1}'],
    [
      'strings that need escaping',
      pet,
      { id: 1n, name: '"\\\n\u0000\u2028🐈\ud800', categoryId: 1n },
      '{"id":1,"name":"\\"\\\\\\n\\u0000\u2028🐈\\ud800","categoryId":1}',
    ],
    [
      'an order',
      order,
      { id: 1n, petId: 2n, quantity: 3, status: 'placed', createdAt: '2026-11-20T09:00:00.000Z' },
      '{"id":1,"petId":2,"quantity":3,"status":"placed","createdAt":"2026-11-20T09:00:00.000Z"}',
    ],
    ['an error', errorBody, { code: 'gone', message: 'm', status: 410 }, '{"code":"gone","message":"m","status":410}'],
    ['an object without members', z.object({ a: z.string().optional() }), {}, '{}'],
  ])('writes %s', (_title, schema, value, text) => {
    expect(serializerOf(schema)(value)).toBe(text);
  });

  test('refuses a schema without an exact form, when it is created', () => {
    expect(() => serializerOf(z.object({ at: z.date() }))).toThrow('type date');
  });
});

test('knows a body’s length in bytes, and uses latin1 only where that equals UTF-8', () => {
  expect(bodyOf('abc')).toEqual({ text: 'abc', encoding: 'latin1', length: '3' });
  expect(bodyOf('é')).toEqual({ text: 'é', encoding: 'utf8', length: '2' });
  expect(bodyOf('🐈')).toEqual({ text: '🐈', encoding: 'utf8', length: '4' });
});
