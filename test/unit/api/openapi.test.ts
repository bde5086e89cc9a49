import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { openApiText } from '../../../main/api/openapi.ts';
import type { Operation } from '../../../main/api/operation.ts';
import { OPERATIONS } from '../../../main/api/operations.ts';
import { parseExactJson } from '../../../main/base/text/exact-json.ts';

const BASE_URL = 'http://demo.vivarium.localhost:8080/v1';
const SERVERS = [
  { url: BASE_URL, description: 'production' as const },
  { url: 'http://demo-staging.vivarium.localhost:8080/v1', description: 'staging' as const },
];

type Contents = Record<string, { schema: unknown; example: unknown }>;

interface Shown {
  operationId: string;
  deprecated?: boolean;
  'x-sunset'?: string;
  parameters?: { schema: Record<string, unknown>; example: unknown }[];
  requestBody?: { content: Contents };
  responses: Record<string, { headers: Record<string, unknown>; content: Contents }>;
}

interface Document {
  tags: { name: string }[];
  paths: Record<string, Record<string, Shown>>;
  components: { schemas: Record<string, unknown>; headers: Record<string, unknown> };
}

const documentOf = (operations: readonly Operation[]): Document =>
  JSON.parse(openApiText(operations, SERVERS)) as Document;
const document = documentOf(Object.values(OPERATIONS));
const operations = Object.values(document.paths).flatMap((item) => Object.values(item));
const shownAt = (path: string, method: string) => document.paths[path]?.[method];
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const INT64 = { type: 'integer', format: 'int64' };
const parameter = (place: string, name: string, schema: object) => ({
  name,
  in: place,
  required: place === 'path',
  schema,
});

describe('the OpenAPI document', () => {
  test('has the version, tags, server and security of the specification', () => {
    expect(document).toMatchObject({
      openapi: '3.1.0',
      info: { version: '1.0.0' },
      servers: SERVERS,
      security: [{ apiKey: [] }],
      components: { securitySchemes: { apiKey: { type: 'http', scheme: 'bearer' } } },
    });
    expect(document.tags.map(({ name }) => name)).toEqual(['animals', 'Store', 'Pets']);
  });

  test('has the address of its first server in examples', () => {
    const url = 'http://shop.vivarium.localhost:36247/v1';
    const text = openApiText(Object.values(OPERATIONS), [{ url, description: 'production' }]);
    expect(text).toContain(`<${url}/pets?limit=20&after=20>`);
    expect(text).not.toContain('demo.vivarium.localhost');
  });

  test.each<[string, string, string, string[], string[]]>([
    ['/pets', 'get', 'listPets', ['animals'], ['200', '400', '401', '429', '500', '503']],
    ['/pets', 'post', 'createPet', ['animals'], ['201', '400', '401', '413', '415', '429', '500', '503']],
    ['/pets/{petId}', 'get', 'getPet', ['animals'], ['200', '400', '401', '404', '410', '429', '500', '503']],
    ['/store/orders', 'get', 'listOrders', ['Store'], ['200', '401', '429', '500', '503']],
  ])('shows %s %s as %s', (path, method, operationId, tags, statuses) => {
    const shown = shownAt(path, method);
    expect(shown).toMatchObject({ operationId, tags });
    expect(Object.keys(shown?.responses ?? {})).toEqual(statuses);
    for (const [status, response] of Object.entries(shown?.responses ?? {})) {
      expect(Object.keys(response.headers)).toEqual(
        expect.arrayContaining(['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset']),
      );
      if (Number(status) >= 400) expect(response.content['application/json']?.schema).toEqual(ref('Error'));
    }
  });

  test('shows the parameters of the specification', () => {
    expect(shownAt('/pets', 'get')?.parameters).toMatchObject([
      parameter('query', 'limit', { type: 'integer', minimum: 1, maximum: 100, default: 20 }),
      parameter('query', 'status', ref('PetStatus')),
      parameter('query', 'after', INT64),
    ]);
    expect(shownAt('/pets/{petId}', 'get')?.parameters).toMatchObject([parameter('path', 'petId', INT64)]);
  });

  test('shows the resources of the specification', () => {
    const { schemas } = document.components;
    expect(schemas['PetStatus']).toEqual({ type: 'string', enum: ['available', 'pending', 'sold'] });
    expect(schemas['NewPet']).toMatchObject({
      properties: { name: { type: 'string' }, categoryId: INT64, status: ref('PetStatus') },
      required: ['name', 'categoryId'],
    });
    expect(schemas['Pet']).toMatchObject({ properties: { id: INT64 }, required: ['id', 'name', 'categoryId'] });
    expect(schemas['Pets']).toEqual({ type: 'array', items: ref('Pet') });
    expect(schemas['Error']).toMatchObject({
      properties: { code: { type: 'string' }, message: { type: 'string' }, status: { type: 'integer' } },
      required: ['code', 'message', 'status'],
    });
    expect(shownAt('/pets', 'post')?.requestBody).toMatchObject({
      required: true,
      content: { 'application/json': { schema: ref('NewPet') } },
    });
  });

  test('has an example for each parameter, body and response, which the same schema accepts', () => {
    const ajv = addFormats.default(new Ajv2020({ strict: false }));
    const faultOf = (schema: unknown, example: unknown) => {
      const whole = { ...(schema as object), components: document.components };
      return ajv.validate(whole, example) ? null : ajv.errorsText();
    };
    for (const { operationId, parameters = [], requestBody, responses } of operations) {
      const bodies = [...(requestBody === undefined ? [] : [requestBody]), ...Object.values(responses)];
      for (const { schema, example } of [...parameters, ...bodies.flatMap(({ content }) => Object.values(content))]) {
        expect(example, operationId).toBeDefined();
        expect(faultOf(schema, example), operationId).toBeNull();
      }
    }
  });

  test('has the bounds of int64 exact to the last digit', () => {
    const text = openApiText(Object.values(OPERATIONS), SERVERS);
    const exact = parseExactJson(text) as unknown as Document;
    expect(exact.components.schemas['Pet']).toMatchObject({
      properties: { id: { minimum: -9223372036854775808n, maximum: 9223372036854775807n } },
    });
    expect(text).not.toContain('9223372036854775808e');
    expect(text).not.toContain('9223372036854776000');
  });

  test('marks only getPet as deprecated, with its headers', () => {
    expect(operations.filter(({ deprecated }) => deprecated).map(({ operationId }) => operationId)).toEqual(['getPet']);
    expect(operations.flatMap((shown) => shown['x-sunset'] ?? [])).toEqual(['2030-12-05']);
    for (const [status, { headers }] of Object.entries(shownAt('/pets/{petId}', 'get')?.responses ?? {})) {
      const retirement = ['Deprecation', 'Sunset', 'Link'].filter((name) => name in headers);
      expect(retirement).toHaveLength(status === '429' ? 0 : 3);
    }
  });

  test('documents every other header where it is sent', () => {
    const responses = shownAt('/pets', 'post')?.responses ?? {};
    expect(responses['401']?.headers).toHaveProperty('WWW-Authenticate');
    expect(responses['415']?.headers).toHaveProperty('Accept');
    expect(responses['429']?.headers).toHaveProperty('Retry-After');
    expect(shownAt('/pets', 'get')?.responses['200']?.headers).toHaveProperty('Link');
    const named = operations.flatMap((shown) => Object.values(shown.responses).map(({ headers }) => headers));
    for (const name of named.flatMap(Object.keys)) expect(document.components.headers).toHaveProperty(name);
  });

  test('marks no operation as unstable', () => {
    expect(openApiText(Object.values(OPERATIONS), SERVERS)).not.toContain('x-stability');
  });

  test.each(['experimental', 'beta'] as const)('carries the stability marker %s of an operation', (stability) => {
    const madeUp: Operation = {
      ...{ operationId: 'listToys', method: 'GET', path: '/toys', tags: ['Store'] },
      summary: 'List the toys',
      description: 'Made up.',
      query: z.object({ color: z.string().optional() }),
      success: { status: 200, description: 'Toys.', schema: z.array(z.string()), example: [], headers: [] },
      failures: [401],
      stability,
    };
    expect(documentOf([madeUp]).paths['/toys']?.['get']).toMatchObject({
      'x-stability': stability,
      parameters: [parameter('query', 'color', { type: 'string' })],
      responses: { 200: { content: { 'application/json': { schema: { type: 'array', items: { type: 'string' } } } } } },
    });
  });
});
