import { describe, expect, it } from 'vitest';
import { openApiText } from '../../../../../main/api/openapi.ts';
import { OPERATIONS } from '../../../../../main/api/operations.ts';
import { operationsOf, readApiDocument, type ApiDocument } from '../../../../../renderer/pages/api/api-document.ts';

const BASE_URL = 'http://demo.vivarium.localhost:8080/v1';
const SERVERS = [{ url: BASE_URL, description: 'production' as const }];

function read(text: string): ApiDocument {
  const document = readApiDocument(text);
  if (document === undefined) throw new Error('It is no OpenAPI document.');
  return document;
}

const served = read(openApiText(Object.values(OPERATIONS), SERVERS));
const operation = (id: string, document = served) => {
  const found = operationsOf(document).find((candidate) => candidate.id === id);
  if (found === undefined) throw new Error(`There is no ${id}.`);
  return found;
};

/** An invented document around one operation. */
const made = (node: unknown, rest: object = {}) =>
  read(
    JSON.stringify({ openapi: '3.1.0', info: { title: 'T', version: '1' }, paths: { '/a': { get: node } }, ...rest }),
  );

/** An operation `a` with a JSON body of this schema. */
const withBody = (schema: unknown) => ({
  operationId: 'a',
  requestBody: { content: { 'application/json': { schema } } },
});

describe('the served document', () => {
  it('has its operations under their tags, and no tag without operations', () => {
    expect(served.groups.map(({ tag, operations }) => [tag, operations.map(({ id }) => id)])).toEqual([
      ['animals', ['listPets', 'createPet', 'getPet']],
      ['Store', ['listOrders']],
    ]);
  });

  it('has int64 bounds exact to the last digit', () => {
    const [petId] = operation('getPet').details().parameters;
    const schema = { type: 'integer', format: 'int64' };
    expect(petId).toMatchObject({ name: 'petId', in: 'path', required: true, schema });
    // Only bounds that are exact to the last digit are those of the format.
    expect(petId?.schema.constraints).toEqual([]);
    const half = made(withBody({ type: 'integer', format: 'int32', minimum: -2147483648, maximum: 5 }));
    const { body } = operation('a', half).details();
    expect(body?.schema.constraints).toEqual(['from -2147483648 to 5']);
  });

  it('has parameters with their constraints', () => {
    const [limit, status] = operation('listPets').details().parameters;
    expect(limit?.schema).toMatchObject({ constraints: ['from 1 to 100', 'default 20'], default: '20' });
    expect(status?.schema.choices).toEqual(['available', 'pending', 'sold']);
  });

  it('has a body with its fields, and an example', () => {
    const { body } = operation('createPet').details();
    expect(body).toMatchObject({ mediaType: 'application/json', required: true, schema: { name: 'NewPet' } });
    expect(body?.schema.properties.map(({ name, required }) => [name, required])).toEqual([
      ['name', true],
      ['categoryId', true],
      ['status', false],
    ]);
    expect(body?.example).toBe('{"name":"Biscuit","categoryId":1,"status":"available"}');
  });

  it('has responses with headers that are described once, and an array by its items', () => {
    const [ok, ...others] = operation('listPets').details().responses;
    expect(ok).toMatchObject({ status: '200', content: { schema: { name: 'Pets', type: 'array of Pet' } } });
    expect(ok?.headers.map(({ name }) => name)).toEqual([
      'X-RateLimit-Limit',
      'X-RateLimit-Remaining',
      'X-RateLimit-Reset',
      'Link',
    ]);
    expect(ok?.headers[0]).toMatchObject({ description: expect.stringContaining('limit') as string, example: '60' });
    expect(others.map(({ status }) => status)).toEqual(['400', '401', '429', '500', '503']);
  });

  it('shows getPet as deprecated, with the day of its removal, and no operation with a stability', () => {
    expect(operation('getPet')).toMatchObject({ deprecated: true, sunset: '2030-12-05' });
    expect(operation('listPets')).toMatchObject({ deprecated: false, sunset: undefined, secured: true });
    expect(operationsOf(served).flatMap(({ stability }) => stability ?? [])).toEqual([]);
  });
});

describe('an invented document', () => {
  it('may mark operations with x-stability', () => {
    const text = openApiText([{ ...OPERATIONS.listPets, stability: 'beta' }], SERVERS);
    expect(operation('listPets', read(text)).stability).toBe('beta');
  });

  it.each([
    [{ format: 'int64', minimum: '-9223372036854775807', maximum: '5' }, 'from -9223372036854775807 to 5'],
    [{ minimum: '0' }, 'from 0'],
    [{ exclusiveMinimum: '0', maximum: '9007199254740993' }, 'to 9007199254740993, more than 0'],
    [{ minLength: '1' }, 'at least 1 character'],
    [{ maxLength: '1000', pattern: '"a,b"' }, 'at most 1000 characters, matches a,b'],
    [{ minItems: '1', maxItems: '2' }, '1 to 2 items'],
    [{ multipleOf: '0.5', default: 'false' }, 'a multiple of 0.5, default false'],
  ])('describes the constraints of a value in words: %j', (rules, words) => {
    const schema = Object.entries(rules).map(
      ([name, value]) => `"${name}":${/^[a-z]/.test(value) && value !== 'false' ? JSON.stringify(value) : value}`,
    );
    const document = read(`{"openapi":"3.1.0","components":{"schemas":{"X":{${schema.join(',')}}}}}`);
    expect(document.schemas[0]?.read().constraints.join(', ')).toBe(words);
  });

  it('without tags, operation ids and security is still shown', () => {
    const [group] = made({ responses: {} }).groups;
    expect(group).toMatchObject({
      tag: 'Operations',
      operations: [{ id: 'get /a', method: 'GET', path: '/a', secured: false }],
    });
  });

  it('may put an operation under two tags, and it remains one operation', () => {
    const document = made({ operationId: 'a', tags: ['x', 'y'] });
    expect(document.groups.map(({ operations }) => operations.length)).toEqual([1, 1]);
    expect(operationsOf(document)).toHaveLength(1);
  });

  it('may define parameters of a path once, and override them in an operation', () => {
    const rest = { name: 'id', in: 'query' };
    const get = { operationId: 'a', parameters: [{ ...rest, description: 'of the operation' }] };
    const parameters = [{ $ref: '#/components/parameters/id' }, { ...rest, description: 'of the path' }];
    const document = made(undefined, {
      openapi: '3.0.3',
      paths: { '/a/{id}': { parameters, get } },
      components: { parameters: { id: { name: 'id', in: 'path', required: true } } },
    });
    const found = operation('a', document).details().parameters;
    expect(found.map((each) => [each.in, each.required, each.description])).toEqual([
      ['path', true, undefined],
      ['query', false, 'of the operation'],
    ]);
  });

  it.each([
    ['that refers to itself', { $ref: '#/components/schemas/Tree' }],
    ['that refers to nothing', { $ref: '#/components/schemas/None' }],
    ['that refers in a circle', { $ref: '#/components/schemas/Round' }],
    ['that refers to another file', { $ref: 'other.yaml#/a' }],
    ['that is not a schema', 7],
  ])('may have a schema %s', (_what, schema) => {
    const children = Array.from({ length: 20 }, (_, n) => [`child${n}`, { $ref: '#/components/schemas/Tree' }]);
    const Tree = { type: 'object', properties: Object.fromEntries(children) as unknown };
    const Round = { $ref: '#/components/schemas/Round' };
    const document = made(withBody(schema), { components: { schemas: { Tree, Round } } });
    expect(operation('a', document).details().body?.mediaType).toBe('application/json');
  });

  it('may compose a schema from others', () => {
    const allOf = [
      { type: 'object', required: ['b'], properties: { b: { type: 'string' } } },
      { properties: { c: { type: ['integer', 'null'] } } },
    ];
    const document = made(withBody({ allOf }));
    expect(operation('a', document).details().body?.schema).toMatchObject({
      type: 'object',
      properties: [
        { name: 'b', required: true, schema: { type: 'string' } },
        { name: 'c', required: false, schema: { type: 'integer or null' } },
      ],
    });
  });

  it.each(['', 'null', '[]', '{}', '{"swagger":"2.0"}', '{"openapi":"4.0.0"}', '{"openapi":3}', '<html>'])(
    'that is invalid is refused: %j',
    (text) => {
      expect(readApiDocument(text)).toBeUndefined();
    },
  );

  it.each([
    { paths: null },
    { paths: { '/a': null, '/b': { get: [] } }, tags: [1, { name: null }], components: 7 },
    {
      paths: { '/a': { get: { parameters: [null, 7, { name: 'x' }], responses: [1], requestBody: { content: [] } } } },
    },
  ])('with unexpected values is still shown: %j', (rest) => {
    const document = read(JSON.stringify({ openapi: '3.1.0', ...rest }));
    expect(() => operationsOf(document).map(({ details }) => details())).not.toThrow();
  });
});
