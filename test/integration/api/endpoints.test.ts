import { beforeEach, describe, expect, test } from 'vitest';
import { API_KEY, type ApiCall, call, callHttp2, DATASET, shareApiServer } from '../../support/api-server.ts';

const KEYLESS = { authorization: null };
const JSON_NEW_PET = '{"name":"Rex","categoryId":7}';
const NEXT = 'rel="next"';

interface Scenario extends ApiCall {
  title: string;
  status: number;
  /** Header values that must be present, and header names that must not. */
  has?: Record<string, string | RegExp>;
  lacks?: string;
  /** Texts that the body must and must not contain. */
  says?: string | string[];
  omits?: string | string[];
}

function row(title: string, request: string, status: number, more: Partial<Scenario> = {}): Scenario {
  const [method = '', path = ''] = request.split(' ');
  return { title, method, path, status, ...more };
}

const WWW = 'www-authenticate';
const PLAIN = { 'content-type': 'text/plain' };
const SCENARIOS = [
  // 4.1 List all animals
  row('lists animals', 'GET /v1/pets', 200, { says: ['[{"id":1,', '"id":20,'], omits: '"id":21,' }),
  row('lists at most limit', 'GET /v1/pets?limit=2', 200, { says: '"id":2,', omits: '"id":3,' }),
  row('lists all with the greatest limit', 'GET /v1/pets?limit=100', 200, { lacks: 'link', says: '"id":30,' }),
  row('leads to the next page', 'GET /v1/pets?limit=2&status=sold', 200, {
    has: { link: '<http://demo.vivarium.localhost:8080/v1/pets?limit=2&status=sold&after=6>; rel="next"' },
  }),
  row('continues after an id', 'GET /v1/pets?limit=1&after=29', 200, { lacks: 'link', says: '"id":30,' }),
  row('restricts to a status', 'GET /v1/pets?status=pending', 200, { says: 'pending', omits: ['sold', 'available'] }),
  row('ignores unknown parameters', 'GET /v1/pets?sort=name&limit=1', 200, { says: '"id":1,' }),
  row('refuses a limit of 0', 'GET /v1/pets?limit=0', 400, { says: ['invalid_request', 'limit', '1 to 100'] }),
  row('refuses a limit of 101', 'GET /v1/pets?limit=101', 400, { says: 'limit' }),
  row('refuses an unknown status', 'GET /v1/pets?status=lost', 400, { says: ['available', 'pending', 'sold'] }),
  row('refuses a repeated parameter', 'GET /v1/pets?limit=1&limit=1', 400, { says: ['limit', 'once'] }),
  row('refuses a malformed query', 'GET /v1/pets?status=%E0%A4', 400, { says: 'percent-encoding' }),
  row('refuses to list without a key', 'GET /v1/pets', 401, {
    headers: KEYLESS,
    has: { [WWW]: 'Bearer realm="Animal Store API"' },
    says: 'unauthorized',
  }),
  row('refuses to list with a wrong key', 'GET /v1/pets', 401, {
    headers: { authorization: 'Bearer viv_wrong' },
    has: { [WWW]: /error="invalid_token"/ },
    omits: 'viv_wrong',
  }),

  // 4.2 Add an animal
  row('adds an animal', 'POST /v1/pets', 201, {
    body: JSON_NEW_PET,
    lacks: 'location',
    says: '{"id":31,"name":"Rex","categoryId":7,"status":"available"}',
  }),
  row('adds an animal with a status, and U+FEFF in a text', 'POST /v1/pets', 201, {
    body: '{"name":"Rex","categoryId":7,"status":"sold","x":"\uFEFF"}',
    says: '"status":"sold"',
  }),
  row('keeps an int64 exact', 'POST /v1/pets', 201, {
    body: '{"name":"Rex","categoryId":-9223372036854775808}',
    says: '"categoryId":-9223372036854775808,',
  }),
  row('names every missing field', 'POST /v1/pets', 400, { body: '{}', says: ['name', 'categoryId', 'missing'] }),
  row('refuses a number beyond int64', 'POST /v1/pets', 400, {
    body: '{"name":"Rex","categoryId":9223372036854775808}',
    says: 'categoryId',
  }),
  row('refuses no body', 'POST /v1/pets', 400, { says: 'empty' }),
  row('refuses bytes other than UTF-8', 'POST /v1/pets', 400, { body: Buffer.from([0x7b, 0xff, 0x7d]), says: 'UTF-8' }),
  row('refuses a byte order mark', 'POST /v1/pets', 400, { body: `\uFEFF${JSON_NEW_PET}`, says: 'byte order mark' }),
  row('refuses UTF-16', 'POST /v1/pets', 400, { body: Buffer.from(JSON_NEW_PET, 'utf16le'), says: 'JSON' }),
  row('refuses deep nesting', 'POST /v1/pets', 400, { body: '{"x":' + '['.repeat(1_000_000), says: 'nests' }),
  row('refuses another media type', 'POST /v1/pets', 415, {
    body: JSON_NEW_PET,
    headers: PLAIN,
    has: { accept: 'application/json' },
    says: 'text/plain',
  }),
  row('refuses a media type it cannot read', 'POST /v1/pets', 415, {
    body: JSON_NEW_PET,
    headers: { 'content-type': 'json' },
    has: { accept: 'application/json' },
  }),
  row('refuses a body without a media type', 'POST /v1/pets', 415, {
    body: JSON_NEW_PET,
    headers: { 'content-type': null },
    says: 'Content-Type',
  }),
  row('refuses an encoded body', 'POST /v1/pets', 415, {
    body: JSON_NEW_PET,
    headers: { 'content-encoding': 'gzip' },
    has: { 'accept-encoding': 'identity' },
    says: 'gzip',
  }),
  row('refuses to add without a key, before it reads the body', 'POST /v1/pets', 401, {
    body: 'nonsense',
    headers: { ...KEYLESS, 'content-type': 'text/plain' },
    says: 'unauthorized',
  }),

  // 4.3 Get an animal (deprecated)
  row('gets an animal', 'GET /v1/pets/6', 200, {
    has: {
      deprecation: '@1764892800',
      sunset: 'Thu, 05 Dec 2030 00:00:00 GMT',
      link: '<http://demo.vivarium.localhost:8080/v1/pets>; rel="successor-version"',
    },
    says: '{"id":6,"name":"Pet 6","categoryId":3,"status":"sold"}',
  }),
  row('does not find an animal', 'GET /v1/pets/999', 404, {
    has: { deprecation: /^@/, sunset: /2030/, link: /successor-version/ },
    says: ['not_found', '999'],
  }),
  row('refuses a wrong id', 'GET /v1/pets/abc', 400, { has: { deprecation: /^@/, sunset: /2030/ }, says: 'petId' }),
  row('refuses an endless id', `GET /v1/pets/${'9'.repeat(5000)}`, 400, { says: 'petId' }),
  row('refuses to get without a key', 'GET /v1/pets/6', 401, {
    headers: KEYLESS,
    has: { deprecation: /^@/, [WWW]: /^Bearer/ },
  }),

  // 4.4 Other endpoints
  row('lists orders', 'GET /v1/store/orders', 200, {
    says: '[{"id":1,"petId":9007199254740993,"quantity":2,"status":"placed","createdAt":"2026-11-20T09:00:00.000Z"}]',
  }),
  row('lists no orders without a key', 'GET /v1/store/orders', 401, { headers: KEYLESS, has: { [WWW]: /^Bearer/ } }),
  row('shows its description without a key', 'GET /v1/openapi.json', 200, {
    headers: KEYLESS,
    says: ['"openapi":"3.1.0"', 'http://demo.vivarium.localhost:8080/v1'],
  }),

  // Paths and methods
  row('decodes the path', 'GET /v1/%70ets?limit=1', 200, { says: '"id":1,' }),
  row('has nothing at the root', 'GET /', 404, { says: 'http://demo.vivarium.localhost:8080/v1' }),
  row('has nothing outside of /v1', 'GET /pets', 404, { headers: KEYLESS, says: 'did you mean' }),
  row('tells a trailing slash apart', 'GET /v1/pets/', 404, { lacks: 'deprecation', says: 'did you mean' }),
  row('tells a doubled slash apart', 'GET /v1//pets', 404),
  row('tells case apart', 'GET /v1/PETS', 404),
  row('refuses a malformed path', 'GET /v1/pets/%zz', 400, { says: 'percent-encoding' }),
  row('has no DELETE, key or not', 'DELETE /v1/pets/6', 405, {
    headers: KEYLESS,
    has: { allow: 'GET, HEAD, OPTIONS' },
    says: ['method_not_allowed', 'DELETE'],
  }),
  row('has no PUT with a body it does not read', 'PUT /v1/pets', 405, {
    body: 'nonsense',
    headers: { 'content-type': '%' },
    has: { allow: 'GET, HEAD, POST, OPTIONS' },
  }),
  row('has no uncommon method', 'PROPFIND /v1/pets', 405, { has: { allow: 'GET, HEAD, POST, OPTIONS' } }),
  row('has nothing to POST to elsewhere', 'POST /v1/cats', 404, { body: 'nonsense', says: 'openapi.json' }),
  row('answers HEAD like GET, without the body', 'HEAD /v1/pets?limit=2', 200, {
    has: { 'content-length': /^[1-9]/, link: /next/ },
  }),
  row('answers HEAD of a missing animal', 'HEAD /v1/pets/999', 404, { has: { 'content-length': /^[1-9]/ } }),
  row('answers OPTIONS with what is allowed', 'OPTIONS /v1/pets', 204, {
    headers: KEYLESS,
    has: { allow: 'GET, HEAD, POST, OPTIONS' },
    lacks: 'content-type',
  }),
  row('ignores the body of a GET', 'GET /v1/pets?limit=1', 200, { body: 'nonsense', headers: PLAIN, says: '"id":1,' }),
];

const server = await shareApiServer();
const order = { id: 1n, petId: 9007199254740993n, quantity: 2, status: 'placed' } as const;
server.store.orders.put(DATASET, { ...order, createdAtMs: server.clock.now() });

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
    expect({ status, text }).toEqual({ status: scenario.status, text: expect.any(String) });
    expect(headers).toMatchObject({
      'x-ratelimit-limit': '60',
      'x-ratelimit-remaining': '41',
      'x-ratelimit-reset': '1795165260',
      'cache-control': 'no-store',
      'access-control-allow-origin': '*',
      'access-control-expose-headers': expect.stringMatching(/X-RateLimit-Limit.*Retry-After.*Link.*Sunset/),
    });
    for (const [name, value] of Object.entries(scenario.has ?? {})) {
      if (typeof value === 'string') expect(headers[name]).toBe(value);
      else expect(headers[name]).toMatch(value);
    }
    if (scenario.lacks !== undefined) expect(headers).not.toHaveProperty(scenario.lacks);
    for (const part of [scenario.says ?? []].flat()) expect(text).toContain(part);
    for (const part of [scenario.omits ?? []].flat()) expect(text).not.toContain(part);
    expect(text).not.toContain(API_KEY);
    if (scenario.method === 'HEAD' || status === 204) return expect(text).toBe('');
    expect(headers['content-type']).toBe('application/json');
    expect(headers['content-length']).toBe(String(Buffer.byteLength(text)));
    if (status >= 400)
      expect(JSON.parse(text)).toEqual({ code: expect.any(String), message: expect.any(String), status });
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
