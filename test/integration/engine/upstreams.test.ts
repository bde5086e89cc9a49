import { createServer } from 'node:https';
import { describe, expect } from 'vitest';
import { emptyTest as it } from '../../support/engine-test.ts';
import { startEngine } from '../../support/engine.ts';
import { startProgram } from '../../support/program.ts';
import { createTestCertificates } from '../../support/proxy/proxy-certificates.ts';
import { sendRaw } from '../../support/proxy/proxy-raw.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { listen } from '../../support/ports.ts';
import { startUpstream } from '../../support/upstream-server.ts';

describe('a project with an upstream', () => {
  it('deploys if the upstream answers, and otherwise tells what to do', async ({ call }) => {
    const upstream = await startUpstream((_request, response) => response.writeHead(404).end());
    const { id: projectId } = await call('projects.create', {
      name: 'Shop',
      target: { kind: 'upstream', url: 'http://127.0.0.1:1' },
    });
    expect(await call('deploys.create', { projectId })).toMatchObject({
      status: 'failed',
      reason: expect.stringContaining('Nothing is listening at 127.0.0.1:1. Start your server there'),
    });
    await call('projects.update', { projectId, target: { kind: 'upstream', url: upstream.url } });
    expect(await call('deploys.create', { projectId })).toMatchObject({ status: 'succeeded' });
  });

  it('deploys by checking the path that its target names', async ({ call }) => {
    const upstream = await startUpstream(({ url }, response) => {
      // No answer yet.
      response.writeEarlyHints({ link: '</style.css>; rel=preload; as=style' });
      response.writeHead(url === '/live?x' ? 200 : 503).end();
    });
    const target = { kind: 'upstream', url: `${upstream.url}/base` };
    const { id: projectId } = await call('projects.create', { name: 'Shop', target });
    const deploy = () => call('deploys.create', { projectId });
    expect(await deploy()).toMatchObject({ status: 'failed', reason: expect.stringContaining('503') });
    await call('projects.update', { projectId, target: { ...target, checkPath: '/live?x' } });
    expect(await deploy()).toMatchObject({ status: 'succeeded' });
    expect(upstream.requests.map(({ url }) => url)).toEqual(['/base', '/live?x']);
  });

  it.for([
    ['its own hostname', 'shop.vivarium.localhost'],
    ['Vivarium’s own address', '127.0.0.1'],
    ['a hostname that is not served', 'nobody.vivarium.localhost'],
  ])('does not deploy if it leads back to %s', async ([_what, host], { engine, call, api }) => {
    const { port } = engine.app.runtime.http;
    const { id: projectId } = await call('projects.create', {
      name: 'Shop',
      target: { kind: 'upstream', url: `http://${host}:${port}` },
    });
    expect(await call('deploys.create', { projectId })).toMatchObject({
      status: 'failed',
      reason: expect.stringContaining('leads back to this Vivarium (508)'),
    });
    const answer = await api({ host: 'shop.vivarium.localhost', path: '/' });
    expect(answer.status).toBe(508);
  });

  it.for([
    ...['localhost', 'LOCALHOST.', 'any.localhost', '127.0.0.1', '127.1', '127.8.8.8', '2130706433'],
    ...['0x7f.0.0.1', '0.0.0.0', '[::1]', '[::]', '[::ffff:127.0.0.1]'],
  ])('cannot be this Vivarium’s own control port, as %s', async (host, { engine, call }) => {
    const { port } = new URL(engine.app.runtime.control.url);
    const target = { kind: 'upstream', url: `http://${host}:${port}` };
    const refusal = { code: 'invalid_request', message: expect.stringMatching(/^target: .* control port/) };
    await expect(call('projects.create', { name: 'Shop', target })).rejects.toMatchObject(refusal);
    expect(await call('projects.list')).toEqual([]);
    const { id: projectId } = await call('projects.create', { name: 'Shop' });
    await expect(call('projects.update', { projectId, target })).rejects.toMatchObject(refusal);
    const text = `vivarium: 1\nprojects: {shop: {target: 'http://${host}:${port}'}}`;
    await expect(call('world.apply', { text })).rejects.toThrow('control port');
  });

  it('may be another machine’s server, or another port of this one', async ({ engine, call }) => {
    const { port } = new URL(engine.app.runtime.control.url);
    for (const [index, url] of [`http://192.0.2.1:${port}`, `http://127.0.0.1:${Number(port) + 1}`].entries()) {
      const target = { kind: 'upstream', url };
      expect(await call('projects.create', { name: `Shop ${index}`, target })).toMatchObject({ target });
    }
  });

  it('is not forwarded to where the control port has moved since: neither page, procedures nor WebSocket', async () => {
    const dataDir = temporaryFolder();
    const upstream = await startUpstream((_request, response) => response.end('once a server'));
    const before = await startEngine({ empty: true, dataDir });
    const target = { kind: 'upstream', url: upstream.url.replace('127.0.0.1', 'localhost') };
    const { id: projectId } = await before.call('projects.create', { name: 'Shop', target });
    await before.stop();
    upstream.server.close();
    for (const socket of upstream.sockets) socket.destroy();
    const engine = await startEngine({ empty: true, dataDir, controlPort: Number(new URL(upstream.url).port) });
    const { http, control } = engine.app.runtime;
    for (const path of ['/', '/healthz', '/api/openapi.json', '/sign-in']) {
      const answer = await engine.api({ host: 'shop.vivarium.localhost', path, key: control.token });
      expect([path, answer.status, answer.json]).toMatchObject([path, 508, { code: 'loop_detected' }]);
    }
    const body = {};
    const called = {
      host: 'shop.vivarium.localhost',
      path: '/api/projects/list',
      method: 'POST',
      key: control.token,
      body,
    };
    expect((await engine.api(called)).status).toBe(508);
    const socket = `GET /rpc HTTP/1.1\r\nHost: shop.vivarium.localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: vivarium, token.${control.token}\r\n\r\n`;
    expect((await sendRaw(http.port, socket)).status).toBe(508);
    expect(await engine.call('deploys.create', { projectId })).toMatchObject({
      status: 'failed',
      reason: expect.stringContaining('leads back to this Vivarium (508)'),
    });
  });

  it('is served at both hostnames and its root URL, counted in the status, and limited if configured', async () => {
    const engine = await startEngine({ empty: true });
    const { call, api } = engine;
    const upstream = await startUpstream((request, response) => response.end(`${request.headers['x-forwarded-host']}`));
    const { id: projectId, baseUrl } = await call('projects.create', {
      name: 'Shop',
      target: { kind: 'upstream', url: upstream.url },
    });
    const port = engine.app.runtime.http.port;
    expect(baseUrl.production).toBe(`http://shop.vivarium.localhost:${port}`);
    for (const host of ['shop.vivarium.localhost', 'shop-staging.vivarium.localhost']) {
      const answer = await api({ host, path: '/' });
      expect([answer.status, answer.text]).toEqual([200, `${host}:${port}`]);
      expect(answer.headers['x-ratelimit-limit']).toBeUndefined();
    }
    expect(await call('status.get')).toMatchObject({ counts: { requests: 2 } });
    await call('projects.update', { projectId, target: { kind: 'upstream', url: upstream.url, limited: true } });
    const limited = await api({ host: 'shop.vivarium.localhost', path: '/', key: null });
    expect(limited.headers).toMatchObject({ 'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '59' });
    const target = { kind: 'upstream', url: upstream.url, limited: true, withoutKey: 'plan' };
    await call('projects.update', { projectId, plan: 'enterprise', limits: { perMinute: 2, perDay: 9 }, target });
    const held = { host: 'shop.vivarium.localhost', path: '/', key: null };
    expect((await api(held)).headers).toMatchObject({ 'x-ratelimit-limit': '2', 'x-ratelimit-remaining': '0' });
    expect((await api(held)).status).toBe(429);
    expect(await call('limits.usage', { projectId })).toMatchObject([{ minute: { limit: 2, used: 2 } }]);
  });

  it('is trusted over HTTPS if the system trusts its certificate’s issuer', async () => {
    const certificates = createTestCertificates(['localhost']);
    const server = createServer(
      { SNICallback: (name, done) => done(null, certificates.contextFor(name) ?? undefined) },
      (_request, response) => response.end('over TLS'),
    );
    // Where OpenSSL, and therefore Node, looks for the system's authorities.
    const program = await startProgram(['--empty'], { env: { SSL_CERT_FILE: certificates.trustFile } });
    const { call, runtime } = program;
    const url = `https://localhost:${(await listen(server)).port}`;
    const { id: projectId } = await call('projects.create', { name: 'Shop', target: { kind: 'upstream', url } });
    expect(await call('deploys.create', { projectId })).toMatchObject({ status: 'succeeded' });
    expect(await call('doctor.run', { areas: ['upstreams'] })).toMatchObject({ checks: [{ status: 'ok' }] });
    const { text } = await sendRaw(
      runtime.http.port,
      'GET / HTTP/1.1\r\nHost: shop.vivarium.localhost\r\nConnection: close\r\n\r\n',
    );
    expect(text).toContain('over TLS');
  });
});
