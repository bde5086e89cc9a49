import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, test } from 'vitest';
import { type ApiCall, AUTHORIZATION, call, DATASET, RATE, shareApiServer } from '../../support/api-server.ts';

type Json = Record<string, unknown>;
interface Operation extends Json {
  operationId: string;
  parameters?: { name: string; in: string }[];
  requestBody?: { content: Record<string, { schema: Json; example: unknown }> };
  responses: Record<
    string,
    { description: string; headers: Record<string, { $ref: string }>; content: Record<string, { example: unknown }> }
  >;
}
interface Document extends Json {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Json>; headers: Record<string, { schema: Json; example: unknown }> };
}

const ID = 'http://example.org/openapi.json';
const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);

const server = await shareApiServer();
for (const id of [-(2n ** 63n), -1n, 0n, 1n, 2n ** 53n + 1n, 2n ** 63n - 1n])
  server.store.pets.put(DATASET, { id, name: `Zoë 🐈 ${id}`, categoryId: -id - 1n, status: 'pending' });
const order = { id: 1n, petId: 2n ** 63n - 1n, quantity: 1, status: 'placed' } as const;
server.store.orders.put(DATASET, { ...order, createdAtMs: server.clock.now() });
const document = JSON.parse((await call(server.port, { path: '/v1/openapi.json' })).text) as Document;
ajv.addSchema({ $id: ID, ...document });

const pointer = (...parts: string[]): string =>
  `${ID}#/${parts.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`;
const schemaOf = (path: string, method: string, status: string): string =>
  pointer('paths', path, method, 'responses', status, 'content', 'application/json', 'schema');

function expectValid(schemaPointer: string, value: unknown): void {
  const validate = ajv.compile({ $ref: schemaPointer });
  validate(value);
  expect(validate.errors ?? []).toEqual([]);
}

interface Case extends ApiCall {
  /** `get /pets`, as the document has it. */
  of: string;
  status: number;
  prepare?: () => unknown;
}

const row = (of: string, status: number, path: string, more: Partial<Case> = {}): Case => ({
  ...{ of, status, path: `/v1${path}`, method: of.split(' ', 1)[0]?.toUpperCase() },
  ...more,
});

const NEW_PET = '{"name":"Rex","categoryId":9223372036854775807}';
const refuse = () =>
  server.decide({ refusal: { code: 'api_key_banned', retryAfterSeconds: 600, message: 'Wait.' }, rate: RATE });
const fail = () => server.store.pets.failWith(new Error('broken'));
const sunset = () => server.clock.set(Date.UTC(2030, 11, 5));
const KEYLESS = { authorization: null };
const CASES = [
  row('get /pets', 200, '/pets?limit=100'),
  row('get /pets', 200, '/pets?limit=1'),
  row('get /pets', 400, '/pets?limit=x'),
  row('get /pets', 401, '/pets', { headers: KEYLESS }),
  row('get /pets', 429, '/pets', { prepare: refuse }),
  row('get /pets', 500, '/pets?limit=99', { prepare: fail }),
  row('post /pets', 201, '/pets', { body: NEW_PET }),
  row('post /pets', 400, '/pets', { body: '{}' }),
  row('post /pets', 401, '/pets', { body: NEW_PET, headers: { authorization: 'Bearer x' } }),
  row('post /pets', 413, '/pets', { body: 'x'.repeat(2 ** 20 + 1) }),
  row('post /pets', 415, '/pets', { body: NEW_PET, headers: { 'content-encoding': 'br' } }),
  row('post /pets', 500, '/pets', { body: NEW_PET, prepare: fail }),
  row('get /pets/{petId}', 200, '/pets/-9223372036854775808'),
  row('get /pets/{petId}', 400, '/pets/x'),
  row('get /pets/{petId}', 401, '/pets/1', { headers: KEYLESS }),
  row('get /pets/{petId}', 404, '/pets/5'),
  row('get /pets/{petId}', 410, '/pets/1', { prepare: sunset }),
  row('get /store/orders', 200, '/store/orders'),
  row('get /store/orders', 401, '/store/orders', { headers: KEYLESS }),
];

describe('the API answers as its document describes', () => {
  test.each(CASES)('$of $status', async ({ of, status, prepare, ...request }) => {
    const [method = '', path = ''] = of.split(' ');
    await prepare?.();
    const reply = await call(server.port, request);
    server.decide({ refusal: null, rate: RATE });
    await server.clock.reset();
    expect(reply.status).toBe(status);
    const described = document.paths[path]?.[method]?.responses[status];
    expect(described).toBeDefined();
    expectValid(schemaOf(path, method, String(status)), JSON.parse(reply.text));
    const names = Object.keys(described?.headers ?? {});
    for (const name of names) {
      const value = reply.headers[name.toLowerCase()];
      const optional = name === 'Link' || name.startsWith('Accept');
      if (value === undefined && optional) continue;
      const { type } = document.components.headers[name]?.schema ?? {};
      expectValid(pointer('components', 'headers', name, 'schema'), type === 'integer' ? Number(value) : value);
    }
    const ordinary = /^(date|connection|keep-alive|content-(type|length)|cache-control|access-control-.*)$/;
    const sent = Object.keys(reply.headers).filter((name) => !ordinary.test(name));
    expect(names.map((name) => name.toLowerCase())).toEqual(expect.arrayContaining(sent));
  });

  test.each<[string, boolean]>([
    [NEW_PET, true],
    ['{"name":"Rex","categoryId":-9223372036854775808}', true],
    ['{"name":"Rex","categoryId":1.0,"status":"sold"}', true],
    ['{"name":"Rex","categoryId":1,"unknown":{"a":[1]}}', true],
    [`{"name":"${'🐈'.repeat(1000)}","categoryId":1}`, true],
    ['{"name":"Rex","categoryId":9223372036854779904}', false],
    ['{"name":"Rex","categoryId":1.5}', false],
    ['{"name":"Rex","categoryId":"1"}', false],
    ['{"name":"Rex"}', false],
    ['{"categoryId":1}', false],
    ['{"name":"","categoryId":1}', false],
    ['{"name":" \\t","categoryId":1}', false],
    [`{"name":"${'x'.repeat(1001)}","categoryId":1}`, false],
    ['{"name":null,"categoryId":1}', false],
    ['{"name":"Rex","categoryId":1,"status":"lost"}', false],
    ['{"name":"Rex","categoryId":1,"status":null}', false],
    ['[]', false],
    ['null', false],
  ])('a validator that reads the document agrees with the API on %s', async (body, valid) => {
    const validate = ajv.compile({ $ref: pointer('components', 'schemas', 'NewPet') });
    expect(validate(JSON.parse(body))).toBe(valid);
    const { status } = await call(server.port, { method: 'POST', path: '/v1/pets', body });
    expect(status).toBe(valid ? 201 : 400);
  });
});

describe('the OpenAPI 3.1 document', () => {
  const operations = (): [string, string, Operation][] =>
    Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]): [string, string, Operation] => [path, method, operation]),
    );

  test('contains only schemas of JSON Schema 2020-12', () => {
    const schemas = [
      ...Object.values(document.components.schemas),
      ...Object.values(document.components.headers).map(({ schema }) => schema),
    ];
    for (const schema of schemas) expect(ajv.validateSchema(schema)).toBe(true);
  });

  test('contains no dangling reference', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path]) => path ?? '');
    expect(references.length).toBeGreaterThan(20);
    for (const path of references) {
      const found = path.split('/').reduce<unknown>((value, part) => (value as Json | undefined)?.[part], document);
      expect([path, found]).toEqual([path, expect.anything()]);
    }
  });

  test('has unique operation ids, and path parameters that match the path', () => {
    const ids = operations().map(([, , { operationId }]) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [path, , { parameters = [] }] of operations()) {
      const inPath = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name);
      expect(inPath).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
    }
  });

  test('has a description for every response, and valid examples', () => {
    for (const [path, method, operation] of operations()) {
      for (const [status, { description, content }] of Object.entries(operation.responses)) {
        expect(description).not.toBe('');
        expectValid(schemaOf(path, method, status), content['application/json']?.example);
      }
      const body = operation.requestBody?.content['application/json'];
      if (body !== undefined) expectValid(pointer('components', 'schemas', 'NewPet'), body.example);
    }
    for (const [name, { example }] of Object.entries(document.components.headers)) {
      expectValid(pointer('components', 'headers', name, 'schema'), example);
    }
  });

  test('is served without a key', async () => {
    expect((await call(server.port, { path: '/v1/openapi.json', headers: { authorization: null } })).status).toBe(200);
    expect(AUTHORIZATION.authorization).toMatch(/^Bearer /);
  });
});
