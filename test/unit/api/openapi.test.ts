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

interface Shown {
  operationId: string;
  tags: string[];
  deprecated?: boolean;
  'x-sunset'?: string;
  'x-stability'?: string;
  parameters?: { name: string; in: string; required: boolean; example: unknown; schema: Record<string, unknown> }[];
  requestBody?: { required: boolean; content: Record<string, { schema: unknown; example: unknown }> };
  responses: Record<
    string,
    { headers: Record<string, unknown>; content: Record<string, { schema: unknown; example: unknown }> }
  >;
}

interface Document {
  openapi: string;
  info: { version: string };
  servers: unknown;
  tags: { name: string }[];
  security: unknown;
  paths: Record<string, Record<string, Shown>>;
  components: {
    schemas: Record<string, Record<string, unknown>>;
    securitySchemes: unknown;
    headers: Record<string, unknown>;
  };
}

const documentOf = (operations: readonly Operation[]): Document =>
  JSON.parse(openApiText(operations, SERVERS)) as Document;
const document = documentOf(Object.values(OPERATIONS));
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

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
    const shown = document.paths[path]?.[method];
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
    expect(document.paths['/pets']?.['get']?.parameters).toMatchObject([
      {
        name: 'limit',
        in: 'query',
        required: false,
        schema: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
      },
      { name: 'status', in: 'query', required: false, schema: ref('PetStatus') },
      { name: 'after', in: 'query', required: false, schema: { type: 'integer', format: 'int64' } },
    ]);
    expect(document.paths['/pets/{petId}']?.['get']?.parameters).toMatchObject([
      { name: 'petId', in: 'path', required: true, schema: { type: 'integer', format: 'int64' } },
    ]);
  });

  test('shows the resources of the specification', () => {
    const { schemas } = document.components;
    expect(schemas['PetStatus']).toEqual({ type: 'string', enum: ['available', 'pending', 'sold'] });
    expect(schemas['NewPet']).toMatchObject({
      properties: {
        name: { type: 'string' },
        categoryId: { type: 'integer', format: 'int64' },
        status: ref('PetStatus'),
      },
      required: ['name', 'categoryId'],
    });
    expect(schemas['Pet']).toMatchObject({
      properties: { id: { type: 'integer', format: 'int64' } },
      required: ['id', 'name', 'categoryId'],
    });
    expect(schemas['Pets']).toEqual({ type: 'array', items: ref('Pet') });
    expect(schemas['Error']).toMatchObject({
      properties: { code: { type: 'string' }, message: { type: 'string' }, status: { type: 'integer' } },
      required: ['code', 'message', 'status'],
    });
    expect(document.paths['/pets']?.['post']?.requestBody).toMatchObject({
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
    const shown = Object.values(document.paths).flatMap((item) => Object.values(item));
    for (const { operationId, parameters = [], requestBody, responses } of shown) {
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
    const all = Object.values(document.paths).flatMap((item) => Object.values(item));
    expect(all.filter(({ deprecated }) => deprecated).map(({ operationId }) => operationId)).toEqual(['getPet']);
    expect(all.flatMap((shown) => shown['x-sunset'] ?? [])).toEqual(['2030-12-05']);
    for (const [status, { headers }] of Object.entries(document.paths['/pets/{petId}']?.['get']?.responses ?? {})) {
      const retirement = ['Deprecation', 'Sunset', 'Link'].filter((name) => name in headers);
      expect(retirement).toHaveLength(status === '429' ? 0 : 3);
    }
  });

  test('documents every other header where it is sent', () => {
    const responses = document.paths['/pets']?.['post']?.responses ?? {};
    expect(responses['401']?.headers).toHaveProperty('WWW-Authenticate');
    expect(responses['415']?.headers).toHaveProperty('Accept');
    expect(responses['429']?.headers).toHaveProperty('Retry-After');
    expect(document.paths['/pets']?.['get']?.responses['200']?.headers).toHaveProperty('Link');
    for (const item of Object.values(document.paths).flatMap((paths) => Object.values(paths))) {
      for (const { headers } of Object.values(item.responses)) {
        for (const name of Object.keys(headers)) expect(document.components.headers).toHaveProperty(name);
      }
    }
  });

  test('marks no operation as unstable', () => {
    expect(openApiText(Object.values(OPERATIONS), SERVERS)).not.toContain('x-stability');
  });

  test.each(['experimental', 'beta'] as const)('carries the stability marker %s of an operation', (stability) => {
    const madeUp: Operation = {
      operationId: 'listToys',
      method: 'GET',
      path: '/toys',
      tags: ['Store'],
      summary: 'List the toys',
      description: 'Made up.',
      query: z.object({ color: z.string().optional() }),
      success: { status: 200, description: 'Toys.', schema: z.array(z.string()), example: [], headers: [] },
      failures: [401],
      stability,
    };
    expect(documentOf([madeUp]).paths['/toys']?.['get']).toMatchObject({
      'x-stability': stability,
      parameters: [{ name: 'color', in: 'query', required: false, schema: { type: 'string' } }],
      responses: { 200: { content: { 'application/json': { schema: { type: 'array', items: { type: 'string' } } } } } },
    });
  });
});
