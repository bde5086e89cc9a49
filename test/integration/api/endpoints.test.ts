import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  API_KEY,
  call,
  callHttp2,
  DATASET,
  startApiServer,
  type ApiCall,
  type ApiServer,
} from '../../support/api-server.ts';

const KEYLESS = { authorization: null };
const JSON_NEW_PET = '{"name":"Rex","categoryId":7}';
const NEXT = 'rel="next"';

interface Scenario extends ApiCall {
  title: string;
  status: number;
  /** Header values that must be present, and header names that must not. */
  has?: Record<string, string | RegExp>;
  lacks?: string[];
  /** Texts that the body must and must not contain. */
  contains?: string[];
  omits?: string[];
}

const WWW = 'www-authenticate';
const SCENARIOS: Scenario[] = [
  // 4.1 List all animals
  { title: 'lists animals', path: '/v1/pets', status: 200, contains: ['[{"id":1,', '"id":20,'], omits: ['"id":21,'] },
  { title: 'lists at most limit', path: '/v1/pets?limit=2', status: 200, contains: ['"id":2,'], omits: ['"id":3,'] },
  {
    title: 'lists all with the greatest limit',
    path: '/v1/pets?limit=100',
    status: 200,
    contains: ['"id":30,'],
    lacks: ['link'],
  },
  {
    title: 'leads to the next page',
    path: '/v1/pets?limit=2&status=sold',
    status: 200,
    has: { link: '<http://demo.vivarium.localhost:8080/v1/pets?limit=2&status=sold&after=6>; rel="next"' },
  },
  {
    title: 'continues after an id',
    path: '/v1/pets?limit=1&after=29',
    status: 200,
    contains: ['"id":30,'],
    lacks: ['link'],
  },
  {
    title: 'restricts to a status',
    path: '/v1/pets?status=pending',
    status: 200,
    contains: ['pending'],
    omits: ['sold', 'available'],
  },
  { title: 'ignores unknown parameters', path: '/v1/pets?sort=name&limit=1', status: 200, contains: ['"id":1,'] },
  {
    title: 'refuses a limit of 0',
    path: '/v1/pets?limit=0',
    status: 400,
    contains: ['invalid_request', 'limit', '1 to 100'],
  },
  { title: 'refuses a limit of 101', path: '/v1/pets?limit=101', status: 400, contains: ['limit'] },
  {
    title: 'refuses an unknown status',
    path: '/v1/pets?status=lost',
    status: 400,
    contains: ['available', 'pending', 'sold'],
  },
  { title: 'refuses a repeated parameter', path: '/v1/pets?limit=1&limit=1', status: 400, contains: ['limit', 'once'] },
  { title: 'refuses a malformed query', path: '/v1/pets?status=%E0%A4', status: 400, contains: ['percent-encoding'] },
  {
    title: 'refuses to list without a key',
    path: '/v1/pets',
    headers: KEYLESS,
    status: 401,
    contains: ['unauthorized'],
    has: { [WWW]: 'Bearer realm="Animal Store API"' },
  },
  {
    title: 'refuses to list with a wrong key',
    path: '/v1/pets',
    headers: { authorization: 'Bearer viv_wrong' },
    status: 401,
    has: { [WWW]: /error="invalid_token"/ },
    omits: ['viv_wrong'],
  },

  // 4.2 Add an animal
  {
    title: 'adds an animal',
    method: 'POST',
    path: '/v1/pets',
    body: JSON_NEW_PET,
    status: 201,
    contains: ['{"id":31,"name":"Rex","categoryId":7,"status":"available"}'],
    lacks: ['location'],
  },
  {
    title: 'adds an animal with a status',
    method: 'POST',
    path: '/v1/pets',
    body: '{"name":"Rex","categoryId":7,"status":"sold"}',
    status: 201,
    contains: ['"status":"sold"'],
  },
  {
    title: 'keeps an int64 exact',
    method: 'POST',
    path: '/v1/pets',
    body: '{"name":"Rex","categoryId":-9223372036854775808}',
    status: 201,
    contains: ['"categoryId":-9223372036854775808,'],
  },
  {
    title: 'names every missing field',
    method: 'POST',
    path: '/v1/pets',
    body: '{}',
    status: 400,
    contains: ['name', 'categoryId', 'missing'],
  },
  {
    title: 'refuses a number beyond int64',
    method: 'POST',
    path: '/v1/pets',
    body: '{"name":"Rex","categoryId":9223372036854775808}',
    status: 400,
    contains: ['categoryId'],
  },
  { title: 'refuses no body', method: 'POST', path: '/v1/pets', status: 400, contains: ['empty'] },
  {
    title: 'refuses bytes that are not UTF-8',
    method: 'POST',
    path: '/v1/pets',
    body: Buffer.from([0x7b, 0xff, 0x7d]),
    status: 400,
    contains: ['UTF-8'],
  },
  {
    title: 'refuses a byte order mark',
    method: 'POST',
    path: '/v1/pets',
    body: `\uFEFF${JSON_NEW_PET}`,
    status: 400,
    contains: ['byte order mark'],
  },
  {
    title: 'refuses UTF-16',
    method: 'POST',
    path: '/v1/pets',
    body: Buffer.from(JSON_NEW_PET, 'utf16le'),
    status: 400,
    contains: ['JSON'],
  },
  {
    title: 'refuses deep nesting',
    method: 'POST',
    path: '/v1/pets',
    body: '{"x":' + '['.repeat(1_000_000),
    status: 400,
    contains: ['nests'],
  },
  {
    title: 'refuses another media type',
    method: 'POST',
    path: '/v1/pets',
    body: JSON_NEW_PET,
    headers: { 'content-type': 'text/plain' },
    status: 415,
    has: { accept: 'application/json' },
    contains: ['text/plain'],
  },
  {
    title: 'refuses a media type it cannot read',
    method: 'POST',
    path: '/v1/pets',
    body: JSON_NEW_PET,
    headers: { 'content-type': 'json' },
    status: 415,
    has: { accept: 'application/json' },
  },
  {
    title: 'refuses a body without a media type',
    method: 'POST',
    path: '/v1/pets',
    body: JSON_NEW_PET,
    headers: { 'content-type': null },
    status: 415,
    contains: ['Content-Type'],
  },
  {
    title: 'refuses an encoded body',
    method: 'POST',
    path: '/v1/pets',
    body: JSON_NEW_PET,
    headers: { 'content-encoding': 'gzip' },
    status: 415,
    has: { 'accept-encoding': 'identity' },
    contains: ['gzip'],
  },
  {
    title: 'refuses to add without a key, before it reads the body',
    method: 'POST',
    path: '/v1/pets',
    body: 'nonsense',
    headers: { ...KEYLESS, 'content-type': 'text/plain' },
    status: 401,
    contains: ['unauthorized'],
  },

  // 4.3 Get an animal (deprecated)
  {
    title: 'gets an animal',
    path: '/v1/pets/6',
    status: 200,
    contains: ['{"id":6,"name":"Pet 6","categoryId":3,"status":"sold"}'],
    has: {
      deprecation: '@1764892800',
      sunset: 'Thu, 05 Dec 2030 00:00:00 GMT',
      link: '<http://demo.vivarium.localhost:8080/v1/pets>; rel="successor-version"',
    },
  },
  {
    title: 'does not find an animal',
    path: '/v1/pets/999',
    status: 404,
    contains: ['not_found', '999'],
    has: { deprecation: /^@/, sunset: /2030/, link: /successor-version/ },
  },
  {
    title: 'refuses an id that is none',
    path: '/v1/pets/abc',
    status: 400,
    contains: ['petId'],
    has: { deprecation: /^@/, sunset: /2030/ },
  },
  { title: 'refuses an endless id', path: `/v1/pets/${'9'.repeat(5000)}`, status: 400, contains: ['petId'] },
  {
    title: 'refuses to get without a key',
    path: '/v1/pets/6',
    headers: KEYLESS,
    status: 401,
    has: { deprecation: /^@/, [WWW]: /^Bearer/ },
  },

  // 4.4 Other endpoints
  {
    title: 'lists orders',
    path: '/v1/store/orders',
    status: 200,
    contains: [
      '[{"id":1,"petId":9007199254740993,"quantity":2,"status":"placed","createdAt":"2026-11-20T09:00:00.000Z"}]',
    ],
  },
  {
    title: 'refuses to list orders without a key',
    path: '/v1/store/orders',
    headers: KEYLESS,
    status: 401,
    has: { [WWW]: /^Bearer/ },
  },
  {
    title: 'shows its description without a key',
    path: '/v1/openapi.json',
    headers: KEYLESS,
    status: 200,
    contains: ['"openapi":"3.1.0"', 'http://demo.vivarium.localhost:8080/v1'],
  },

  // Paths and methods
  { title: 'decodes the path', path: '/v1/%70ets?limit=1', status: 200, contains: ['"id":1,'] },
  { title: 'has nothing at the root', path: '/', status: 404, contains: ['http://demo.vivarium.localhost:8080/v1'] },
  { title: 'has nothing outside of /v1', path: '/pets', headers: KEYLESS, status: 404, contains: ['did you mean'] },
  {
    title: 'tells a trailing slash apart',
    path: '/v1/pets/',
    status: 404,
    contains: ['did you mean'],
    lacks: ['deprecation'],
  },
  { title: 'tells a doubled slash apart', path: '/v1//pets', status: 404 },
  { title: 'tells case apart', path: '/v1/PETS', status: 404 },
  { title: 'refuses a malformed path', path: '/v1/pets/%zz', status: 400, contains: ['percent-encoding'] },
  {
    title: 'has no DELETE, key or not',
    method: 'DELETE',
    path: '/v1/pets/6',
    headers: KEYLESS,
    status: 405,
    has: { allow: 'GET, HEAD, OPTIONS' },
    contains: ['method_not_allowed', 'DELETE'],
  },
  {
    title: 'has no PUT with a body it does not read',
    method: 'PUT',
    path: '/v1/pets',
    body: 'nonsense',
    headers: { 'content-type': '%' },
    status: 405,
    has: { allow: 'GET, HEAD, POST, OPTIONS' },
  },
  {
    title: 'has no method that HTTP does not know well',
    method: 'PROPFIND',
    path: '/v1/pets',
    status: 405,
    has: { allow: 'GET, HEAD, POST, OPTIONS' },
  },
  {
    title: 'has nothing to POST to elsewhere',
    method: 'POST',
    path: '/v1/cats',
    body: 'nonsense',
    status: 404,
    contains: ['openapi.json'],
  },
  {
    title: 'answers HEAD like GET, without the body',
    method: 'HEAD',
    path: '/v1/pets?limit=2',
    status: 200,
    has: { 'content-length': /^[1-9]/, link: /next/ },
  },
  {
    title: 'answers HEAD of a missing animal',
    method: 'HEAD',
    path: '/v1/pets/999',
    status: 404,
    has: { 'content-length': /^[1-9]/ },
  },
  {
    title: 'answers OPTIONS with what is allowed',
    method: 'OPTIONS',
    path: '/v1/pets',
    headers: KEYLESS,
    status: 204,
    has: { allow: 'GET, HEAD, POST, OPTIONS' },
    lacks: ['content-type'],
  },
  {
    title: 'ignores the body of a GET',
    path: '/v1/pets?limit=1',
    body: 'nonsense',
    headers: { 'content-type': 'text/plain' },
    status: 200,
    contains: ['"id":1,'],
  },
];

let server: ApiServer;
beforeAll(async () => {
  server = await startApiServer();
  server.store.orders.put(DATASET, {
    id: 1n,
    petId: 9007199254740993n,
    quantity: 2,
    status: 'placed',
    createdAtMs: server.clock.now(),
  });
});
afterAll(() => server.close());

// Each test starts from 30 pets, so every added one has the number 31.
beforeEach(() => {
  server.store.pets.clear(DATASET);
  const statuses = ['sold', 'available', 'pending'] as const;
  for (let id = 1n; id <= 30n; id++) {
    const status = statuses[Number(id) % 3] ?? 'sold';
    server.store.pets.put(DATASET, { id, name: `Pet ${id}`, categoryId: id / 2n, status });
  }
});

describe.each([
  ['HTTP/1.1', (scenario: Scenario) => call(server.port, scenario)],
  ['HTTP/2', (scenario: Scenario) => callHttp2(server.http2Port, scenario)],
])('over %s, the API', (_protocol, send) => {
  test.each(SCENARIOS)('$title', async (scenario) => {
    const { status, headers, text } = await send(scenario);
    expect({ status, text }).toEqual({ status: scenario.status, text: expect.any(String) as string });
    expect(headers).toMatchObject({
      'x-ratelimit-limit': '60',
      'x-ratelimit-remaining': '41',
      'x-ratelimit-reset': '1795165260',
      'cache-control': 'no-store',
      'access-control-allow-origin': '*',
      'access-control-expose-headers': expect.stringMatching(/X-RateLimit-Limit.*Retry-After.*Link.*Sunset/) as string,
    });
    for (const [name, value] of Object.entries(scenario.has ?? {})) {
      if (typeof value === 'string') expect(headers[name]).toBe(value);
      else expect(headers[name]).toMatch(value);
    }
    for (const name of scenario.lacks ?? []) expect(headers).not.toHaveProperty(name);
    for (const part of scenario.contains ?? []) expect(text).toContain(part);
    for (const part of scenario.omits ?? []) expect(text).not.toContain(part);
    expect(text).not.toContain(API_KEY);
    if (scenario.method === 'HEAD' || status === 204) return expect(text).toBe('');
    expect(headers['content-type']).toBe('application/json');
    expect(headers['content-length']).toBe(String(Buffer.byteLength(text)));
    if (status >= 400)
      expect(JSON.parse(text)).toEqual({
        code: expect.any(String) as string,
        message: expect.any(String) as string,
        status,
      });
  });

  test('follows Link through all animals, each exactly once', async () => {
    const ids: bigint[] = [];
    let path: string | null = '/v1/pets?limit=7';
    while (path !== null) {
      const reply = await send({ title: '', status: 200, path });
      for (const [, id] of reply.text.matchAll(/"id":(\d+)/g)) ids.push(BigInt(id ?? ''));
      const next = /<http:\/\/demo\.vivarium\.localhost:8080([^>]+)>; rel="next"/.exec(
        String(reply.headers['link'] ?? ''),
      );
      expect(String(reply.headers['link'] ?? NEXT)).toContain(NEXT);
      path = next?.[1] ?? null;
    }
    expect(ids).toEqual(Array.from({ length: 30 }, (_, index) => BigInt(index + 1)));
  });

  test('finds an added animal by the returned id, exact to the last digit', async () => {
    server.store.pets.put(DATASET, { id: 9007199254740992n, name: 'Last', categoryId: 1n, status: 'sold' });
    const added = await send({ title: '', status: 201, method: 'POST', path: '/v1/pets', body: JSON_NEW_PET });
    expect(added.text).toContain('"id":9007199254740993,');
    const found = await send({ title: '', status: 200, path: '/v1/pets/9007199254740993' });
    expect(found.text).toBe(added.text);
  });
});
