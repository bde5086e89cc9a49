import { beforeEach, describe, expect, test } from 'vitest';
import { call, callHttp2, RATE, shareApiServer } from '../../support/api-server.ts';

const PAGE = 'http://localhost:5173';
const server = await shareApiServer();
beforeEach(() => {
  server.cors('*');
  server.decide({ refusal: null, rate: RATE });
});

const preflight = (path: string, headers: Record<string, string> = {}) => ({
  method: 'OPTIONS',
  path,
  headers: { authorization: null, origin: PAGE, 'access-control-request-method': 'POST', ...headers },
});

describe('with the setting "*"', () => {
  test('any page may read every answer, including errors', async () => {
    for (const path of ['/v1/pets', '/v1/pets/999', '/nowhere']) {
      const { headers } = await call(server.port, { path, headers: { origin: PAGE } });
      expect(headers['access-control-allow-origin']).toBe('*');
      expect(headers['access-control-expose-headers']).toBe(
        'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, Link, WWW-Authenticate, ' +
          'Deprecation, Sunset, Allow, Accept, Accept-Encoding, RateLimit, RateLimit-Policy',
      );
      expect(headers).not.toHaveProperty('vary');
    }
  });

  test('a preflight is answered without a key, with the methods of the path and the requested headers', async () => {
    const request = preflight('/v1/pets', { 'access-control-request-headers': 'authorization,content-type,x-trace' });
    for (const reply of [await call(server.port, request), await callHttp2(server.http2Port, request)]) {
      expect(reply).toMatchObject({
        status: 204,
        text: '',
        headers: {
          'access-control-allow-origin': '*',
          'access-control-allow-methods': 'GET, HEAD, POST, OPTIONS',
          'access-control-allow-headers': 'authorization,content-type,x-trace',
          'access-control-max-age': '600',
          'x-ratelimit-limit': '60',
        },
      });
    }
  });

  test.each<[string, Record<string, string>]>([
    ['none', {}],
    ['malformed', { 'access-control-request-headers': 'a b' }],
    ['endless', { 'access-control-request-headers': 'x'.repeat(4000) }],
  ])('a preflight whose headers are %s is offered the usual ones', async (_title, headers) => {
    const reply = await call(server.port, preflight('/v1/pets', headers));
    expect(reply.headers['access-control-allow-headers']).toBe('Authorization, Content-Type');
  });

  test('a preflight for an unknown path succeeds, so that the page can read the 404', async () => {
    expect((await call(server.port, preflight('/v1/none'))).status).toBe(204);
  });

  test('a preflight is answered even when requests are refused', async () => {
    server.decide({ refusal: { code: 'rate_limit_exceeded', retryAfterSeconds: 1, message: 'Wait.' }, rate: RATE });
    expect((await call(server.port, preflight('/v1/pets'))).status).toBe(204);
  });
});

describe('with a list of origins', () => {
  beforeEach(() => server.cors([PAGE, 'https://example.org']));

  test('a listed page may read the answer', async () => {
    const { headers } = await call(server.port, { path: '/v1/pets', headers: { origin: PAGE } });
    expect(headers).toMatchObject({ 'access-control-allow-origin': PAGE, vary: 'Origin' });
    expect(headers).toHaveProperty('access-control-expose-headers');
  });

  test.each([['http://localhost:5174'], ['null'], ['https://example.org.evil.example'], [null]])(
    'the origin %s may not read the answer',
    async (origin) => {
      const { status, headers } = await call(server.port, { path: '/v1/pets', headers: { origin } });
      expect(status).toBe(200);
      expect(headers['vary']).toBe('Origin');
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
    },
  );

  test('a preflight from an unlisted page gets no permission', async () => {
    const reply = await call(server.port, preflight('/v1/pets', { origin: 'https://evil.example' }));
    expect(reply.status).toBe(204);
    expect(Object.keys(reply.headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
  });

  test('a preflight from a listed page gets permission', async () => {
    const reply = await call(server.port, preflight('/v1/pets'));
    expect(reply.headers).toMatchObject({
      'access-control-allow-origin': PAGE,
      'access-control-allow-methods': 'GET, HEAD, POST, OPTIONS',
      vary: 'Origin',
    });
  });
});

test('with an empty list no page may read any answer', async () => {
  server.cors([]);
  const { headers } = await call(server.port, { path: '/v1/pets', headers: { origin: PAGE } });
  expect(Object.keys(headers).filter((name) => /^(access-control-|vary)/.test(name))).toEqual([]);
});

test.each<[string, Record<string, string>, string, boolean]>([
  [
    'OPTIONS with origin and requested method',
    { origin: PAGE, 'access-control-request-method': 'GET' },
    'OPTIONS',
    true,
  ],
  ['OPTIONS without origin', { 'access-control-request-method': 'GET' }, 'OPTIONS', false],
  ['OPTIONS without requested method', { origin: PAGE }, 'OPTIONS', false],
  ['GET', { origin: PAGE, 'access-control-request-method': 'GET' }, 'GET', false],
])('%s is a preflight: %j', (_title, headers, method, expected) => {
  expect(server.api.isPreflight({ method, headers } as Parameters<typeof server.api.isPreflight>[0])).toBe(expected);
});
