import { describe, expect } from 'vitest';
import { demoTest } from '../../support/engine-test.ts';
import type { ApiExchange } from '../../../main/contract/api.ts';
import type { Engine } from '../../support/engine.ts';
import { startUpstream } from '../../support/upstream-server.ts';

const it = demoTest
  .extend('keyId', ({ engine }) => engine.app.demoKey()?.keyId ?? '')
  .extend(
    'send',
    ({ call, projectId }) =>
      (input: Record<string, unknown>) =>
        call('api.send', { projectId, ...input }),
  );

const usedBy = async (engine: Engine, projectId: string): Promise<Record<string, number>> =>
  Object.fromEntries(
    (await engine.call('limits.usage', { projectId })).map(({ caller, minute }) => [caller, minute.used]),
  );

const headerOf = ({ headers }: ApiExchange['response'], name: string): string | undefined =>
  headers.find((field) => field.name === name)?.value;

it('api.describe returns the document as the listener serves it, and is not counted', async ({ engine, projectId }) => {
  for (const environment of ['production', 'staging'] as const) {
    const described = await engine.call('api.describe', { projectId, environment });
    expect(await usedBy(engine, projectId)).toEqual({});
    const host = new URL(described.baseUrl).hostname;
    const served = await engine.api({ path: '/v1/openapi.json', host, key: null });
    expect(described.document).toBe(served.text);
    expect(described.document).toContain('9223372036854775807');
    await engine.call('limits.reset', { projectId });
  }
});

it('an upstream’s document is neither counted nor recorded, and requests can be sent to it', async ({ engine }) => {
  const served = { '/openapi.json': '{"openapi":"3.1.0","x":9007199254740993}' };
  const upstream = await startUpstream((request, response) => {
    const text = (served as Record<string, string>)[request.url ?? ''];
    response.writeHead(text === undefined ? 404 : 200).end(text ?? `nothing at ${request.url}`);
  });
  const { id: projectId } = await engine.call('projects.create', {
    name: 'Shop',
    target: { kind: 'upstream', url: upstream.url, limited: true, host: 'keep' },
  });
  const describe = () => engine.call('api.describe', { projectId });
  expect(await describe()).toMatchObject({ document: served['/openapi.json'] });
  for (const text of ['<html>', '{"swagger":"2.0"}', '[']) {
    served['/openapi.json'] = text;
    expect(await describe()).toMatchObject({ document: null });
  }
  // No client has sent these.
  expect(await usedBy(engine, projectId)).toEqual({});
  expect(await engine.call('traffic.list', { projectId })).toMatchObject({ items: [] });
  expect(upstream.requests[0]?.headers.host).toMatch(/^shop\.vivarium\.localhost:\d+$/);
  const { request, response } = await engine.call('api.send', { projectId, path: '/a?b' });
  expect(request.url).toMatch(/^http:\/\/shop\.vivarium\.localhost:\d+\/a\?b$/);
  expect([response.status, response.body]).toEqual([404, 'nothing at /a?b']);
  await engine.call('projects.update', { projectId, target: { kind: 'upstream', url: 'http://127.0.0.1:1' } });
  expect(await describe()).toMatchObject({ document: null });
});

describe('api.send', () => {
  it('sends with a key, counts for it, and shows no secret', async ({ engine, projectId, keyId, send }) => {
    const exchange = await send({ path: '/pets?limit=2', keyId });
    expect(exchange.response).toMatchObject({ status: 200, reason: 'OK', httpVersion: '1.1', cut: false });
    expect(JSON.parse(exchange.response.body)).toHaveLength(2);
    expect(headerOf(exchange.response, 'X-RateLimit-Remaining')).toBe('59');
    expect(exchange.request).toMatchObject({ method: 'GET', body: null });
    expect(exchange.request.headers).toContainEqual({ name: 'Authorization', value: 'Bearer $VIVARIUM_KEY' });
    expect(await usedBy(engine, projectId)).toEqual({ [`key:${keyId}`]: 1 });
    expect(JSON.stringify(exchange)).not.toContain('viv_');
  });

  it('preserves an int64 in both directions', async ({ keyId, send }) => {
    const body = '{"name": "Rex", "categoryId": 9223372036854775807}';
    const headers = { 'Content-Type': 'application/json' };
    const { request, response } = await send({ method: 'POST', path: '/pets', keyId, headers, body });
    expect(response.status).toBe(201);
    expect(response.body).toContain('"categoryId":9223372036854775807');
    expect(request.body).toBe(body);
  });

  it('sends without a key as an address, and is refused with 401', async ({ engine, projectId, send }) => {
    const { response } = await send({ path: '/pets' });
    expect([response.status, headerOf(response, 'WWW-Authenticate')]).toEqual([401, expect.stringContaining('Bearer')]);
    expect(await usedBy(engine, projectId)).toEqual({ 'address:127.0.0.1': 1 });
  });

  it('sends a secret unchanged, valid or not', async ({ engine, send }) => {
    const secret = engine.app.demoKey()?.secret ?? '';
    expect((await send({ path: '/pets', secret })).response.status).toBe(200);
    const wrong = await send({ path: '/pets', secret: 'viv_wrong' });
    expect(wrong.response.status).toBe(401);
    expect(JSON.stringify(wrong)).not.toContain('viv_wrong');
    expect(JSON.stringify(engine.log)).not.toContain(secret);
  });

  it('goes to the named environment, and returns every status unchanged', async ({ keyId, send }) => {
    const staging = await send({ environment: 'staging', path: '/pets?limit=0', keyId });
    expect(staging.request.url).toMatch(/^http:\/\/demo-staging\.vivarium\.localhost:\d+\/v1\/pets\?limit=0$/);
    expect(staging.response.status).toBe(400);
    expect((await send({ path: '/../../etc/passwd', keyId })).response.status).toBe(404);
    const empty = await send({ method: 'POST', path: '/pets', keyId });
    expect([empty.response.status, empty.request.headers.at(-2)]).toEqual([
      400,
      { name: 'Content-Length', value: '0' },
    ]);
    const head = await send({ method: 'HEAD', path: '/pets', keyId });
    expect([head.response.status, head.response.body]).toEqual([200, '']);
  });

  it('tells which limit refused it, which an upstream cannot say', async ({ engine, keyId, send }) => {
    await engine.call('clock.freeze');
    for (let sent = 0; sent < 60; sent++) await engine.api();
    expect((await send({ path: '/pets', keyId })).refusal).toBe('rate_limit_exceeded');
    const upstream = await startUpstream((_request, response) => {
      response.writeHead(429).end('{"code":"api_key_banned"}');
    });
    const target = { kind: 'upstream', url: upstream.url, limited: true, host: 'keep' };
    const { id: projectId } = await engine.call('projects.create', { name: 'Shop', target });
    const answer = await engine.call('api.send', { projectId, path: '/' });
    expect([answer.response.status, answer.refusal]).toEqual([429, undefined]);
  });

  it('is subject to limits and bans like any client', async ({ engine, keyId, send }) => {
    await engine.call('clock.freeze');
    for (let request = 0; request < 60; request++) await engine.api();
    const { response } = await send({ path: '/pets', keyId });
    expect([response.status, headerOf(response, 'Retry-After')]).toEqual([429, '60']);
  });

  it('refuses a revoked key, or a key of another project, by its name', async ({ engine, keyId, send }) => {
    const projects = await engine.call('projects.list');
    const other = projects.find(({ slug }) => slug !== 'demo')?.id ?? '';
    const [foreign] = await engine.call('keys.list', { projectId: other });
    const foreignId = foreign?.id ?? (await engine.call('keys.create', { projectId: other })).id;
    await expect(send({ path: '/pets', keyId: foreignId })).rejects.toMatchObject({
      code: 'invalid_request',
      issues: [{ path: 'keyId', message: expect.stringContaining('another project') }],
    });
    await engine.call('keys.revoke', { keyId });
    await expect(send({ path: '/pets', keyId })).rejects.toMatchObject({
      issues: [{ path: 'keyId', message: expect.stringContaining('revoked') }],
    });
    await expect(send({ path: '/pets', keyId: 'key_nobody' })).rejects.toMatchObject({ code: 'not_found' });
  });

  const REFUSED: readonly [Record<string, unknown>, string][] = [
    [{ path: 'pets' }, 'path'],
    [{ path: '//evil.example/ x' }, 'path'],
    [{ path: '/pets\r\nHost: evil.example' }, 'path'],
    [{ path: '/päts' }, 'path'],
    [{ path: '/pets#top' }, 'path'],
    [{ path: '/pets', method: 'CONNECT' }, 'method'],
    [{ path: '/pets', headers: { Host: 'evil.example' } }, 'headers'],
    [{ path: '/pets', headers: { 'transfer-encoding': 'chunked' } }, 'headers'],
    [{ path: '/pets', headers: { Authorization: 'Basic x' } }, 'headers'],
    [{ path: '/pets', headers: { 'X-Y': 'a\r\nX-Z: b' } }, 'headers'],
    [{ path: '/pets', headers: { 'X Y': 'a' } }, 'headers'],
    [{ path: '/pets', headers: Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`x-${i}`, 'a'])) }, 'headers'],
    [{ path: '/pets', secret: 'a b' }, 'secret'],
    [{ path: '/pets', secret: 'a', keyId: 'key_a' }, 'secret'],
    [{ path: '/pets', url: 'http://evil.example' }, 'url'],
  ];

  it('refuses what it cannot send, and names the place', async ({ send }) => {
    for (const [input, path] of REFUSED) {
      await expect(send(input), JSON.stringify(input)).rejects.toMatchObject({
        code: 'invalid_request',
        issues: [{ path }],
      });
    }
  });

  it('connects only to its own listener, with any path', async ({ keyId, send }) => {
    const { request, response } = await send({ path: '//evil.example/pets', keyId });
    expect(new URL(request.url).hostname).toBe('demo.vivarium.localhost');
    expect([response.status, response.body]).toEqual([404, expect.stringContaining('not_found')]);
  });
});
