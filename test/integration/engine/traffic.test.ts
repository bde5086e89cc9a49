import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe, expect } from 'vitest';
import { demoTest as it, emptyTest } from '../../support/engine-test.ts';
import { WebSocket, WebSocketServer } from 'ws';
import type { TrafficEntry } from '../../../main/contract/traffic.ts';
import { type Engine, startEngine, track } from '../../support/engine.ts';
import { startUpstream } from '../../support/upstream-server.ts';

const list = (engine: Engine, input: object = {}) => engine.call('traffic.list', input);
const get = (engine: Engine, id: string | undefined) => engine.call('traffic.get', { id });

/** An entry exists when its response has ended, a moment after the client has read it. */
async function entries(engine: Engine, count: number, input: object = {}): Promise<TrafficEntry[]> {
  await expect.poll(async () => (await list(engine, input)).items.length).toBe(count);
  return (await list(engine, input)).items;
}

describe('traffic', () => {
  it('records every request with its question, answer and counts, and redacts secrets', async ({ engine, api }) => {
    const secret = engine.app.demoKey()?.secret ?? '';
    await api({ method: 'POST', body: '{"name":"Rex","categoryId":9007199254740993}' });
    const [entry] = await entries(engine, 1);
    const detail = await get(engine, entry?.id);
    expect(detail).toMatchObject({
      method: 'POST',
      target: '/v1/pets',
      status: 201,
      stage: 'target',
      answeredBy: 'api',
      aborted: false,
      rate: { limit: 60, remaining: 59 },
      requestBody: { text: '{"name":"Rex","categoryId":9007199254740993}', encoding: 'utf8', cut: false },
    });
    expect(detail.responseBody?.text).toContain('9007199254740993');
    expect(detail.responseHeaders).toContainEqual({ name: 'X-RateLimit-Limit', value: '60' });
    expect(JSON.stringify(detail)).not.toContain(secret);
  });

  it('records what reached no project, and can be filtered', async ({ engine, api, projectId }) => {
    await api();
    await api({ host: 'nobody.test' });
    await api({ path: '/v1/nope' });
    await entries(engine, 3);
    expect((await entries(engine, 1, { filter: 'stage:route' }))[0]).toMatchObject({
      status: 404,
      answeredBy: 'proxy',
    });
    expect((await entries(engine, 2, { filter: 'status:4xx' })).map(({ target }) => target)).toEqual([
      '/v1/nope',
      '/v1/pets',
    ]);
    const [known] = await entries(engine, 2, { projectId });
    expect(known).toMatchObject({ projectId, project: 'demo' });
    await expect(list(engine, { filter: 'status:9' })).rejects.toMatchObject({ issues: [{ path: 'filter' }] });
    const page = await list(engine, { limit: 1 });
    expect([page.items.length, page.next]).toEqual([1, page.items[0]?.id]);
    expect((await list(engine, { limit: 1, before: page.next })).items[0]?.target).toBe('/v1/pets');
  });

  it('names the stage that refused a request, though the built-in API writes the answer', async ({ engine }) => {
    const { call, api } = engine;
    const { id: projectId } = await engine.demo();
    await call('projects.update', { projectId, plan: 'enterprise', limits: { perMinute: 1, perDay: 100 } });
    for (let count = 0; count < 2; count++) await api();
    await api({ key: null });
    await entries(engine, 3);
    const found = async (filter: string) => {
      const [entry] = await entries(engine, 1, { filter });
      const detail = await get(engine, entry?.id);
      return [detail.status, detail.stage, detail.answeredBy, detail.timings.map(({ part }) => part)];
    };
    const before = [['stages', 'receiving']];
    expect(await found('stage:limit')).toEqual([429, 'limit', 'proxy', ...before]);
    expect(await found('stage:identify')).toEqual([401, 'identify', 'proxy', ...before]);
    expect(await found('stage:api')).toEqual([200, 'target', 'api', ['stages', 'waiting', 'receiving']]);
  });

  it('sends a request again with the key of the original, and counts it', async ({ engine, call, api }) => {
    await api({ method: 'POST', body: { name: 'Twin', categoryId: 1 } });
    const [entry] = await entries(engine, 1);
    const again = await call('traffic.replay', { id: entry?.id });
    expect(again).toMatchObject({ status: 201, replayOf: entry?.id, keyId: entry?.keyId, rate: { remaining: 58 } });
    expect(again.requestBody?.text).toBe('{"name":"Twin","categoryId":1}');
    // The prefix is that of the original key, not of the token that replaces the key.
    const credentials = `Bearer ${engine.app.demoKey()?.secret.slice(0, 8)}…`;
    expect(again.requestHeaders).toContainEqual({ name: 'Authorization', value: credentials });
    await entries(engine, 1, { filter: 'is:replay' });
  });

  it('sends a request that was recorded elsewhere, and records it', async ({ engine, call }) => {
    const [key] = await call('keys.list', { projectId: (await engine.demo()).id });
    const sent = await call('traffic.send', {
      hostname: 'demo.vivarium.localhost',
      method: 'POST',
      target: '/v1/pets',
      headers: [
        { name: 'X-Mine', value: 'yes' },
        { name: 'Content-Type', value: 'application/json' },
      ],
      body: '{"name":"Rex","categoryId":1}',
      keyId: key?.id,
    });
    expect(sent).toMatchObject({ status: 201, stage: 'target', keyId: key?.id, rate: { remaining: 59 } });
    expect(sent.requestHeaders).toContainEqual({ name: 'X-Mine', value: 'yes' });
    expect([sent.replayOf, await entries(engine, 1)]).toMatchObject([undefined, [{ id: sent.id }]]);
    const redacted = { hostname: 'nobody.test', headers: [{ name: 'Cookie', value: 'session=…' }] };
    await expect(call('traffic.send', redacted)).rejects.toMatchObject({ code: 'invalid_request' });
    const unknown = await call('traffic.send', { hostname: 'nobody.test' });
    expect(unknown).toMatchObject({ method: 'GET', target: '/', status: 404, stage: 'route' });
  });

  it('sends a changed request again, with the original of what was redacted', async ({ engine, call, api }) => {
    await api({ method: 'POST', body: { name: 'Rex', categoryId: 1 }, headers: { Cookie: 'session=secret' } });
    const [first] = await entries(engine, 1);
    const { requestHeaders } = await get(engine, first?.id);
    const replay = (edits: object) => call('traffic.replay', { id: first?.id, ...edits });
    const again = await replay({
      method: 'PUT',
      target: '/v1/pets/1?x=1',
      hostname: 'demo-staging.vivarium.localhost',
      body: '{"name":"Max","categoryId":2}',
      headers: [...requestHeaders, { name: 'X-Mine', value: 'yes' }],
    });
    expect(again).toMatchObject({
      method: 'PUT',
      target: '/v1/pets/1?x=1',
      environment: 'staging',
      keyId: first?.keyId,
      replayOf: first?.id,
      requestBody: { text: '{"name":"Max","categoryId":2}' },
    });
    expect(again.requestHeaders).toContainEqual({ name: 'X-Mine', value: 'yes' });
    const upstream = await startUpstream((request, response) => response.end(request.url));
    await call('projects.update', {
      projectId: (await engine.demo()).id,
      target: { kind: 'upstream', url: upstream.url },
    });
    const withoutKey = await replay({ headers: requestHeaders, keyId: null });
    expect([withoutKey.keyId, upstream.requests.at(-1)?.headers.authorization]).toEqual([undefined, undefined]);
    expect(upstream.requests.at(-1)?.headers.cookie).toBe('session=secret');
    for (const edits of [{ method: 'CONNECT' }, { target: 'x' }, { headers: [{ name: 'X', value: 'a\r\nb: c' }] }]) {
      await expect(replay(edits)).rejects.toMatchObject({ code: 'invalid_request' });
    }
  });

  it('tells why something cannot be sent again', async ({ engine, call, api }) => {
    await api();
    const [entry] = await entries(engine, 1);
    await call('keys.revoke', { keyId: entry?.keyId });
    await expect(call('traffic.replay', { id: entry?.id })).rejects.toMatchObject({ code: 'conflict' });
    await call('traffic.clear');
    await expect(call('traffic.replay', { id: entry?.id })).rejects.toMatchObject({ code: 'not_found' });
  });

  it('records nothing while recording is off, and no bodies while bodies are off', async ({ engine, call, api }) => {
    await call('settings.update', { traffic: { record: false, bodies: true } });
    await api();
    await call('settings.update', { traffic: { record: true, bodies: false } });
    await api();
    const [entry] = await entries(engine, 1);
    expect(await get(engine, entry?.id)).toMatchObject({ responseBody: null, status: 200 });
    expect(entry?.responseBytes).toBeGreaterThan(100);
  });

  it('counts all requests, whether or not they are recorded', async () => {
    // Of its own, because the series count the requests of the other tests, too.
    const engine = await startEngine();
    const { call, api } = engine;
    const { id: projectId } = await engine.demo();
    await call('settings.update', { traffic: { record: false, bodies: true } });
    for (const path of ['/v1/pets', '/v1/nope']) await api({ path });
    await api({ host: 'nobody.test' });
    await api({ host: 'localhost', path: '/root.crl' });
    const summary = (input: object) => call('traffic.summary', input);
    const sum = (counts: number[]) => counts.reduce((total, count) => total + count, 0);
    expect((await summary({ projectId })).whole.requests).toBe(2);
    // A step has to end first.
    await expect.poll(async () => sum((await summary({ projectId })).requests)).toBe(2);
    const mine = await summary({ projectId, minutes: 1 });
    expect([mine.requests.length, sum(mine.statuses['2xx']), sum(mine.statuses['4xx'])]).toEqual([12, 1, 1]);
    expect(mine.quotaUsed.some((used) => used !== null && used > 0.01)).toBe(true);
    expect(mine.whole.p50).toBeGreaterThan(0);
    expect((await summary({})).whole.requests).toBe(3);
    const { since, until } = { since: new Date(Date.parse(mine.until) - 58_000).toISOString(), until: mine.until };
    const part = await summary({ since, until });
    expect([part.whole.requests, part.requests.length]).toEqual([3, 12]);
    expect((await summary({ since: '2020-01-01T00:00:00.000Z', until })).requests).toHaveLength(360);
    expect((await summary({ until: since })).whole.requests).toBe(0);
    const minuteBefore = new Date(Date.parse(since) - 60_000).toISOString();
    expect((await summary({ since: minuteBefore, until: since })).requests).toHaveLength(12);
    await expect(summary({ minutes: 31 })).rejects.toMatchObject({ issues: [{ path: 'minutes' }] });
  });

  it('streams new entries in batches', async ({ engine, api }) => {
    const abort = new AbortController();
    track(() => abort.abort());
    const stream = await engine.app.services.traffic.watch({ filter: 'method:POST' }, { signal: abort.signal });
    const next = stream[Symbol.asyncIterator]().next();
    await api();
    await api({ method: 'POST', body: { name: 'Seen', categoryId: 1 } });
    const { value } = (await next) as { value: { entries: TrafficEntry[]; missed: number } };
    expect(value.entries.map(({ method }) => method)).toEqual(['POST']);
  });

  emptyTest('records what went through to an upstream, including streamed bodies', async ({ engine, call, api }) => {
    const upstream = await startUpstream((request, response) => {
      request.resume();
      request.on('end', () => {
        response.write('first ');
        response.end('x'.repeat(100_000));
      });
    });
    await call('projects.create', { name: 'Shop', target: { kind: 'upstream', url: upstream.url } });
    await api({ host: 'shop.vivarium.localhost', method: 'POST', path: '/up', body: 'hello', key: null });
    const [entry] = await entries(engine, 1);
    const detail = await get(engine, entry?.id);
    expect(detail).toMatchObject({
      answeredBy: 'upstream',
      upstream: upstream.url,
      requestBytes: 5,
      responseBytes: 100_006,
      responseBody: { bytes: 100_006, cut: true },
    });
    expect(detail.responseBody?.text.length).toBe(64 * 1024);
    await expect(call('traffic.har')).resolves.toMatchObject({ log: { version: '1.2', entries: [{}] } });
  });

  emptyTest('exports one archive, or parts that add up to the same', async ({ engine, call, api }) => {
    for (const path of ['/a', '/b', '/c', '/d', '/e']) await api({ path, host: 'nobody.test', key: null });
    await entries(engine, 5);
    type Part = { log: { version: string; entries: { request: { url: string } }[] }; next?: string };
    const whole = await call('traffic.har', { filter: '-path:/c' });
    expect([whole.log.entries.length, whole.next]).toEqual([4, undefined]);
    const parts: Part[] = [];
    do {
      const after = parts.at(-1)?.next;
      parts.push((await call('traffic.har', { filter: '-path:/c', limit: 2, after })) as Part);
    } while (parts.at(-1)?.next !== undefined);
    expect(parts.map(({ log }) => log.entries.length)).toEqual([2, 2]);
    expect(parts.flatMap(({ log }) => log.entries)).toEqual(whole.log.entries);
    await expect(call('traffic.har', { after: 'trf_earlier_1' })).rejects.toMatchObject({ code: 'not_found' });
  });

  emptyTest('lists a request from its start, and keeps its id to the end', async ({ engine, call, api }) => {
    let finish: () => void = () => undefined;
    const upstream = await startUpstream((_request, response) => {
      response.setHeader('Content-Type', 'text/event-stream');
      response.write('event: tick\ndata: 1\n\n');
      finish = () => void response.end('data: 2\n\n');
    });
    await call('projects.create', { name: 'Shop', target: { kind: 'upstream', url: upstream.url } });
    const asked = api({ host: 'shop.vivarium.localhost', path: '/slow', key: null });
    const running = async () => (await call('traffic.running', {})).items;
    await expect.poll(async () => (await running()).map(({ status }) => status)).toEqual([200]);
    const [begun] = await running();
    expect(begun).toMatchObject({ target: '/slow', running: true, aborted: false, responseBytes: 21 });
    expect(await call('traffic.running', { filter: 'path:/else' })).toEqual({ items: [] });
    expect(await get(engine, begun?.id)).toMatchObject({
      running: true,
      responseBody: { text: 'event: tick\ndata: 1\n\n' },
    });
    await expect(call('traffic.replay', { id: begun?.id })).rejects.toMatchObject({ code: 'conflict' });
    finish();
    await asked;
    const [ended] = await entries(engine, 1);
    expect([ended?.id, ended?.running, ended?.responseBytes]).toEqual([begun?.id, undefined, 30]);
    expect(await get(engine, begun?.id)).toMatchObject({ id: begun?.id, responseBytes: 30 });
    expect(await running()).toEqual([]);
  });

  emptyTest(
    'records the frames of a WebSocket in both directions, shown while it is open and afterwards',
    async ({ engine, call }) => {
      const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
      track(() => server.close());
      await once(server, 'listening');
      // The first message comes in one piece with the answer.
      server.on('headers', (_fields, { socket }) => {
        socket.cork();
        setImmediate(() => socket.uncork());
      });
      server.on('connection', (socket) => {
        socket.send('welcome');
        socket.on('message', (data: Buffer) => socket.send(`${data} {"token":"abc"}`));
      });
      const { port } = server.address() as AddressInfo;
      await call('projects.create', {
        name: 'Shop',
        target: { kind: 'upstream', url: `http://127.0.0.1:${port}` },
      });
      const socket = new WebSocket(`ws://127.0.0.1:${engine.app.runtime.http.port}/chat`, {
        headers: { host: 'shop.vivarium.localhost' },
      });
      expect(String((await once(socket, 'message'))[0])).toBe('welcome');
      socket.send('hello');
      await once(socket, 'message');
      const running = async () => (await call('traffic.running', {})).items;
      await expect.poll(async () => (await running()).length).toBe(1);
      const [begun] = await running();
      const open = await get(engine, begun?.id);
      expect(open).toMatchObject({ status: 101, running: true, requestBytes: 11, answeredBy: 'upstream' });
      expect(open.responseHeaders).toContainEqual({ name: 'upgrade', value: 'websocket' });
      expect(open.frames?.items.map(({ from, kind, text }) => [from, kind, text])).toEqual([
        ['upstream', 'text', 'welcome'],
        ['client', 'text', 'hello'],
        ['upstream', 'text', 'hello {"token":"…"}'],
      ]);
      socket.close();
      const [ended] = await entries(engine, 1);
      const detail = await get(engine, ended?.id);
      expect(detail.frames?.items.map(({ kind }) => kind)).toEqual(['text', 'text', 'text', 'close', 'close']);
      const [, waiting] = detail.timings;
      expect(waiting?.ms).toBeLessThan(detail.durationMs);
    },
  );

  it('records a small body of an upstream byte for byte', async () => {
    const body = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    const engine = await startEngine({ empty: true });
    const upstream = await startUpstream((_request, response) => {
      response.setHeader('Content-Length', body.length).end(body);
    });
    await engine.call('projects.create', { name: 'Shop', target: { kind: 'upstream', url: upstream.url } });
    await engine.api({ host: 'shop.vivarium.localhost', path: '/bytes', key: null });
    const [entry] = await entries(engine, 1);
    expect((await get(engine, entry?.id)).responseBody).toMatchObject({
      bytes: 256,
      encoding: 'base64',
      text: body.toString('base64'),
    });
  });

  emptyTest('distinguishes a failed upstream from one that answered with that status', async ({ engine }) => {
    const { call, api } = engine;
    const upstream = await startUpstream((request, response) => {
      if (request.url === '/reset') request.socket.destroy();
      else response.writeHead(502).end('mine');
    });
    await call('projects.create', { name: 'Shop', target: { kind: 'upstream', url: upstream.url } });
    for (const path of ['/reset', '/own']) await api({ host: 'shop.vivarium.localhost', path, key: null });
    const [own, reset] = await entries(engine, 2);
    expect([own, reset].map((entry) => [entry?.status, entry?.answeredBy])).toEqual([
      [502, 'upstream'],
      [502, 'proxy'],
    ]);
    expect((await get(engine, reset?.id)).explanation).toContain(`The upstream ${upstream.url} closed the connection`);
  });
});
