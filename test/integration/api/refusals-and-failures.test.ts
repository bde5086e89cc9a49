import { beforeEach, describe, expect, test } from 'vitest';
import { VivariumError } from '../../../main/contract/errors.ts';
import { call, callHttp2, DATASET, RATE, startApiServer } from '../../support/api-server.ts';
import type { ApiCall, ApiServer } from '../../support/api-server.ts';

let server: ApiServer;
beforeEach(async () => {
  server = await startApiServer();
  server.store.pets.put(DATASET, { id: 1n, name: 'Rex', categoryId: 1n, status: 'sold' });
});

const NEW_PET: ApiCall = { method: 'POST', path: '/v1/pets', body: '{"name":"a","categoryId":1}' };

describe('a refused request', () => {
  const refusal = { code: 'rate_limit_exceeded', retryAfterSeconds: 42, message: 'Wait 42 s.' } as const;
  const rate = { limit: 60, remaining: 0, resetAtMs: 1_795_165_259_001 };

  test.each<[string, ApiCall]>([
    ['a list', { path: '/v1/pets' }],
    ['a list without a key', { path: '/v1/pets', headers: { authorization: null } }],
    ['a new pet', NEW_PET],
    ['a body that is not JSON', { ...NEW_PET, body: 'x', headers: { 'content-type': 'text/plain' } }],
    ['an unknown path', { path: '/nowhere' }],
    ['a malformed path', { path: '/v1/%zz' }],
    ['an unknown method', { method: 'DELETE', path: '/v1/pets' }],
    ['the description', { path: '/v1/openapi.json' }],
  ])('is answered 429 and has no effect: %s', async (_title, request) => {
    server.decide({ refusal, rate });
    for (const reply of [await call(server.port, request), await callHttp2(server.http2Port, request)]) {
      expect(reply).toMatchObject({
        status: 429,
        headers: {
          'retry-after': '42',
          'x-ratelimit-limit': '60',
          'x-ratelimit-remaining': '0',
          'x-ratelimit-reset': '1795165260',
        },
      });
      expect(JSON.parse(reply.text)).toEqual({ code: 'rate_limit_exceeded', message: 'Wait 42 s.', status: 429 });
    }
    server.decide({ refusal: null, rate: RATE });
    expect(JSON.parse((await call(server.port, { path: '/v1/pets' })).text)).toHaveLength(1);
  });

  test('names the ban if a ban is the reason', async () => {
    server.decide({ refusal: { ...refusal, code: 'api_key_banned' }, rate });
    expect(JSON.parse((await call(server.port, { path: '/v1/pets' })).text)).toMatchObject({ code: 'api_key_banned' });
  });
});

describe('getPet at its sunset', () => {
  const SUNSET_MS = Date.UTC(2030, 11, 5);

  test('is answered until the last millisecond on the app’s clock, and with 410 from then on', async () => {
    await server.clock.set(SUNSET_MS - 1);
    server.clock.freeze();
    expect((await call(server.port, { path: '/v1/pets/1' })).status).toBe(200);
    await server.clock.set(SUNSET_MS);
    const gone = await call(server.port, { path: '/v1/pets/1' });
    expect(gone).toMatchObject({
      status: 410,
      headers: {
        sunset: 'Thu, 05 Dec 2030 00:00:00 GMT',
        deprecation: '@1764892800',
        link: expect.stringContaining('successor-version'),
      },
    });
    expect(JSON.parse(gone.text)).toMatchObject({ code: 'gone', message: expect.stringContaining('GET /pets') });
    await server.clock.set(SUNSET_MS - 1);
    expect((await call(server.port, { path: '/v1/pets/1' })).status).toBe(200);
  });

  test.each<[string, ApiCall, number]>([
    ['a missing key comes first', { path: '/v1/pets/1', headers: { authorization: null } }, 401],
    ['a malformed id no longer matters', { path: '/v1/pets/abc' }, 410],
    ['an unknown id no longer matters', { path: '/v1/pets/999' }, 410],
    ['HEAD is gone too', { method: 'HEAD', path: '/v1/pets/1' }, 410],
    ['the list is unaffected', { path: '/v1/pets' }, 200],
    ['other methods are still unknown', { method: 'DELETE', path: '/v1/pets/1' }, 405],
  ])('%s', async (_title, request, status) => {
    await server.clock.set(SUNSET_MS);
    expect((await call(server.port, request)).status).toBe(status);
  });
});

describe('a failure of the store', () => {
  test.each<[string, ApiCall]>([
    ['list', { path: '/v1/pets' }],
    ['get', { path: '/v1/pets/1' }],
    ['create', NEW_PET],
    ['orders', { path: '/v1/store/orders' }],
  ])('is answered with 500 and logged in full, and the answer reveals nothing: %s', async (_title, request) => {
    server.store.pets.failWith(new TypeError('secret detail in /home/x/vivarium.db'));
    const reply = await call(server.port, request);
    expect(reply).toMatchObject({ status: 500, headers: { 'x-ratelimit-limit': '60' } });
    expect(JSON.parse(reply.text)).toMatchObject({ code: 'internal_error', status: 500 });
    expect(reply.text).not.toMatch(/secret|vivarium\.db|TypeError/);
    expect(server.lines).toMatchObject([
      {
        level: 'error',
        fields: { error: expect.objectContaining({ message: 'secret detail in /home/x/vivarium.db' }) as Error },
      },
    ]);
  });

  test.each<[string, ApiCall]>([
    ['list', { path: '/v1/pets' }],
    ['create', NEW_PET],
  ])('that is a catalogued error keeps its code, status and message: %s', async (_title, request) => {
    server.store.pets.failWith(new VivariumError('unavailable', 'The data folder is full; free some space.'));
    const reply = await call(server.port, request);
    expect(reply.status).toBe(503);
    expect(JSON.parse(reply.text)).toEqual({
      code: 'unavailable',
      message: 'The data folder is full; free some space.',
      status: 503,
    });
  });

  test('that prevents even the error answer ends the response, is logged, and does not affect later requests', async () => {
    server.cors(null as unknown as '*');
    await expect(call(server.port, { path: '/v1/pets' })).rejects.toThrow('socket hang up');
    expect(server.lines).toMatchObject([{ level: 'error', message: 'An answer could not be written' }]);
    server.cors('*');
    expect((await call(server.port, { path: '/v1/pets' })).status).toBe(200);
  });

  test('does not affect later requests', async () => {
    server.store.pets.failWith(new Error('once'));
    expect((await call(server.port, { path: '/v1/pets' })).status).toBe(500);
    expect((await call(server.port, { path: '/v1/pets' })).status).toBe(200);
  });
});

describe('the API in its process', () => {
  test('answers a health check', async () => {
    await expect(server.api.probe(DATASET)).resolves.toBeUndefined();
  });

  test('fails a health check with the reason', async () => {
    server.store.pets.failWith(new VivariumError('unavailable', 'The data folder is full.'));
    await expect(server.api.probe(DATASET)).rejects.toThrow('The API answered 503: The data folder is full.');
  });

  test('answers 503 once it is closed, and fails health checks', async () => {
    server.api.close();
    const reply = await call(server.port, { path: '/v1/pets' });
    expect(reply).toMatchObject({ status: 503, headers: { 'x-ratelimit-limit': '60' } });
    expect(JSON.parse(reply.text)).toMatchObject({ code: 'unavailable' });
    await expect(server.api.probe(DATASET)).rejects.toThrow('closed');
  });
});
