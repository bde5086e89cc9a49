import { describe, expect, it } from 'vitest';
import { startEngine } from '../../support/engine.ts';
import { startUpstream } from '../../support/upstream-server.ts';

describe('a project with an upstream', () => {
  it('deploys when the upstream answers, and says what to do when it does not', async () => {
    const engine = await startEngine({ empty: true });
    const upstream = await startUpstream((_request, response) => response.writeHead(404).end());
    const { id: projectId } = (await engine.call('projects.create', {
      name: 'Shop',
      target: { kind: 'upstream', url: 'http://127.0.0.1:1' },
    })) as { id: string };
    expect(await engine.call('deploys.create', { projectId })).toMatchObject({
      status: 'failed',
      reason: expect.stringContaining(
        'Nothing listens at the upstream http://127.0.0.1:1. Start your server there',
      ) as string,
    });
    await engine.call('projects.update', { projectId, target: { kind: 'upstream', url: upstream.url } });
    expect(await engine.call('deploys.create', { projectId })).toMatchObject({ status: 'succeeded' });
  });

  it('does not deploy when it leads in circles', async () => {
    const engine = await startEngine({ empty: true });
    const { port } = engine.app.runtime.http;
    const { id: projectId } = (await engine.call('projects.create', {
      name: 'Shop',
      target: { kind: 'upstream', url: `http://shop.vivarium.localhost:${port}` },
    })) as { id: string };
    expect(await engine.call('deploys.create', { projectId })).toMatchObject({
      status: 'failed',
      reason: expect.stringContaining('leads back to a hostname that is served here') as string,
    });
  });

  it('is served at both hostnames, at its root, counted in the status, and limited where it says so', async () => {
    const engine = await startEngine({ empty: true });
    const upstream = await startUpstream((request, response) => response.end(`${request.headers['x-forwarded-host']}`));
    const { id: projectId, baseUrl } = (await engine.call('projects.create', {
      name: 'Shop',
      target: { kind: 'upstream', url: upstream.url },
    })) as { id: string; baseUrl: { production: string } };
    const port = engine.app.runtime.http.port;
    expect(baseUrl.production).toBe(`http://shop.vivarium.localhost:${port}`);
    for (const host of ['shop.vivarium.localhost', 'shop-staging.vivarium.localhost']) {
      const answer = await engine.api({ host, path: '/' });
      expect([answer.status, answer.text]).toEqual([200, `${host}:${port}`]);
      expect(answer.headers['x-ratelimit-limit']).toBeUndefined();
    }
    expect(await engine.call('status.get')).toMatchObject({ counts: { requests: 2 } });
    await engine.call('projects.update', { projectId, target: { kind: 'upstream', url: upstream.url, limited: true } });
    const limited = await engine.api({ host: 'shop.vivarium.localhost', path: '/', key: null });
    expect(limited.headers).toMatchObject({ 'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '59' });
  });
});
