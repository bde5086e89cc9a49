import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { errorBody, order, pet, pets, serializerOf } from '../../../main/api/schemas.ts';
import { bodyOf } from '../../../main/base/http/answer.ts';

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
