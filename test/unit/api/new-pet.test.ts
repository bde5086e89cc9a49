import { describe, expect, test } from 'vitest';
import { newPet } from '../../../main/api/schemas.ts';
import { bodyReader } from '../../../main/api/validation.ts';
import { outcomeOf } from '../../support/api-outcome.ts';

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
