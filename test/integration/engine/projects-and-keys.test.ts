import { existsSync, statSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { demoTest as it } from '../../support/engine-test.ts';
import { startEngine, track, restarted } from '../../support/engine.ts';

describe('the first start', () => {
  it('creates a demo project on Free with a key and thirty pets in each environment', async ({ engine, call, api }) => {
    const demo = await engine.demo();
    expect(demo).toMatchObject({ name: 'Demo', slug: 'demo', plan: 'free', limits: { perMinute: 60, perDay: 1000 } });
    for (const environment of ['production', 'staging']) {
      expect(await call('pets.list', { projectId: demo.id, environment })).toMatchObject({ total: 30 });
    }
    expect(await call('deploys.list', { projectId: demo.id })).toMatchObject([{ status: 'succeeded' }]);
    expect((await api({ path: '/v1/pets?limit=100' })).json).toHaveLength(30);
  });

  it('keeps the demo key in a file that only its owner can read', async () => {
    const { dataDir } = await startEngine();
    const modes = ['demo-key.json', 'control-token', 'runtime.json', 'ca/root-key.pem'].map(
      (name) => statSync(join(dataDir, name)).mode & 0o777,
    );
    expect(modes).toEqual([0o600, 0o600, 0o600, 0o600]);
  });

  it('is followed by a second start with the same key and token', async () => {
    const first = await startEngine();
    const key = first.app.demoKey();
    const second = await restarted(first);
    expect(second.app.demoKey()).toEqual(key);
    expect((await second.api()).status).toBe(200);
    expect(second.app.runtime.control.token).toBe(first.app.runtime.control.token);
  });

  it('is not repeated for a removed demo project', async () => {
    const first = await startEngine();
    await first.call('projects.remove', { projectId: (await first.demo()).id });
    const second = await restarted(first);
    await expect(second.demo()).rejects.toThrow('no project demo');
    expect(second.app.demoKey()).toBeNull();
  });

  it('creates no demo with --empty, not even at the next start', async () => {
    const first = await startEngine({ empty: true });
    expect(await first.call('projects.list')).toEqual([]);
    const second = await restarted(first);
    expect(await second.call('projects.list')).toEqual([]);
  });
});

it('a reference may be the slug or name of a project, or the name of a key', async ({ call, projectId }) => {
  await call('projects.create', { name: 'My app', slug: 'app' });
  for (const reference of [projectId, 'demo', 'Demo']) {
    expect(await call('projects.get', { projectId: reference })).toMatchObject({ id: projectId });
    expect(await call('pets.list', { projectId: reference, limit: 1 })).toMatchObject({ total: 30 });
  }
  const { id } = await call('keys.create', { projectId: 'My app', name: 'CI' });
  expect(await call('limits.unban', { keyId: 'CI' })).toEqual({ keyId: id, lifted: false });
  expect(await call('keys.revoke', { keyId: 'CI' })).toMatchObject({ id, name: 'CI' });
  await expect(call('keys.revoke', { keyId: 'CI' })).rejects.toThrow('No API key "CI"');
  await expect(call('pets.list', { projectId: 'demo2' })).rejects.toThrow('Did you mean "demo"?');
});

describe('a key', () => {
  it('shows its secret once and its prefix later', async ({ call, projectId }) => {
    const created = await call('keys.create', { projectId, name: ' CI ' });
    expect(created.secret).toMatch(/^viv_[0-9A-Za-z]{32}$/);
    const listed = await call('keys.list', { projectId });
    expect(listed[0]).toMatchObject({ id: created.id, name: 'CI', prefix: created.secret.slice(0, 8) });
    expect(JSON.stringify(listed)).not.toContain(created.secret.slice(8));
  });

  it('shows its last use, across a restart', async () => {
    const engine = await startEngine();
    const { id: projectId } = await engine.demo();
    await engine.call('clock.freeze');
    const lastUse = async () => (await engine.call('keys.list', { projectId }))[0]?.lastUsedAt;
    expect(await lastUse()).toBeUndefined();
    await engine.api();
    const { now } = await engine.call('clock.get');
    expect(await lastUse()).toBe(now);
    const again = await restarted(engine);
    expect((await again.call('keys.list', { projectId }))[0]?.lastUsedAt).toBe(now);
  });

  it('is unauthorized from the moment it is revoked, and the readable demo key is deleted', async ({ engine }) => {
    const { call, api } = engine;
    const key = engine.app.demoKey();
    expect((await api()).status).toBe(200);
    await call('keys.revoke', { keyId: key?.keyId });
    const answer = await api({ key: key?.secret ?? null });
    expect(answer.status).toBe(401);
    expect(answer.headers['www-authenticate']).toContain('Bearer');
    expect(engine.app.demoKey()).toBeNull();
    expect(existsSync(join(engine.dataDir, 'demo-key.json'))).toBe(false);
  });

  it('keeps the time of its revocation when it is revoked again', async ({ engine, call }) => {
    const { keyId } = engine.app.demoKey() ?? {};
    const { revokedAt } = await call('keys.revoke', { keyId });
    await call('clock.advance', { by: 'PT1H' });
    expect(revokedAt).toBeDefined();
    expect(await call('keys.revoke', { keyId })).toMatchObject({ revokedAt });
  });
});

describe('a project', () => {
  it('is served at its hostnames as soon as it is created', async ({ engine, call, api }) => {
    const project = await call('projects.create', { name: 'Café Mühle' });
    const { port } = engine.app.runtime.http;
    expect(project).toMatchObject({
      slug: 'cafe-muhle',
      baseUrl: {
        production: `http://cafe-muhle.vivarium.localhost:${port}/v1`,
        staging: `http://cafe-muhle-staging.vivarium.localhost:${port}/v1`,
      },
    });
    const { secret } = await call('keys.create', { projectId: project.id });
    expect((await api({ host: 'cafe-muhle.vivarium.localhost', key: secret })).json).toEqual([]);
  });

  it('stops at once when it is removed: its hostname, its keys, its open connections', async ({ engine }) => {
    const { call, api } = engine;
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    track(() => agent.destroy());
    const { secret } = engine.app.demoKey() ?? { secret: '' };
    await api({ agent });
    const [socket] = Object.values(agent.freeSockets).flat();
    const closed = new Promise((resolve) => socket?.once('close', resolve));
    await call('projects.remove', { projectId: (await engine.demo()).id });
    await closed;
    expect((await api({ key: secret })).status).toBe(404);
  });

  it('moves when its slug is changed', async ({ call, api, projectId }) => {
    await call('projects.update', { projectId, slug: 'shop' });
    expect((await api()).status).toBe(404);
    expect((await api({ host: 'shop.vivarium.localhost' })).status).toBe(200);
  });

  it.for([
    [{ name: '' }, 'name'],
    [{ name: 'x', slug: 'Not A Label' }, 'slug'],
    [{ name: 'x', slug: 'cname' }, 'slug'],
    [{ name: 'x', slug: 'demo' }, 'slug'],
    [{ name: 'x', slug: 'x-staging' }, 'slug'],
    [{ name: 'x', plan: 'gold' }, 'plan'],
    [{ name: 'x', plan: 'free', limits: { perMinute: 1, perDay: 1 } }, 'limits'],
    [{ name: 'x', plan: 'enterprise', limits: { perMinute: 0, perDay: 1 } }, 'limits.perMinute'],
    [{ name: 'x', target: { kind: 'upstream', url: 'ftp://127.0.0.1' } }, 'target.url'],
  ])('%j is refused at %s', async ([input, path], { call }) => {
    const before = await call('projects.list');
    await expect(call('projects.create', input)).rejects.toMatchObject({ issues: [{ path }] });
    expect(await call('projects.list')).toEqual(before);
  });
});

describe('the clock', () => {
  it('keeps offset and freeze across a restart, and reports them', async () => {
    const first = await startEngine();
    await first.call('clock.advance', { by: 'PT48H' });
    const frozen = await first.call('clock.freeze');
    const second = await restarted(first);
    expect(await second.call('clock.get')).toMatchObject({ now: frozen.now, frozen: true });
    const status = await second.call('status.get');
    expect(status.warnings.join()).toContain('clock is frozen');
    expect(await second.call('clock.reset')).toMatchObject({ offset: 'PT0S', frozen: false });
  });

  it('moves the Sunset of getPet along', async ({ call, api }) => {
    expect((await api({ path: '/v1/pets/1' })).status).toBe(200);
    await call('clock.set', { to: '2030-12-05T00:00:00.000Z' });
    const gone = await api({ path: '/v1/pets/1' });
    expect(gone.status).toBe(410);
    expect(gone.json).toMatchObject({ code: 'gone' });
  });
});

describe('settings', () => {
  it('change the duration of a ban and the origins that may call, and are kept', async () => {
    const first = await startEngine();
    await first.call('settings.update', { banAfter: 1, banDuration: 'PT1M', cors: ['http://app.test'] });
    const second = await restarted(first);
    expect(await second.call('settings.get')).toMatchObject({
      banAfter: 1,
      banDuration: 'PT1M',
      cors: ['http://app.test'],
    });
    const answer = await second.api({ headers: { origin: 'http://app.test' } });
    expect(answer.headers['access-control-allow-origin']).toBe('http://app.test');
    expect((await second.api({ headers: { origin: 'http://b.test' } })).headers).not.toHaveProperty(
      'access-control-allow-origin',
    );
  });

  it.for([
    [{ banAfter: 0 }, 'banAfter'],
    [{ banDuration: '10 months' }, 'banDuration'],
    [{ propagation: '2 months' }, 'propagation'],
    [{ resolver: 'ns.example:53' }, 'resolver'],
    [{ resolver: '[::g]:53' }, 'resolver'],
    [{ cors: 'http://a.test' }, 'cors'],
    [{ colour: 'green' }, 'colour'],
  ])('%j is refused at "%s"', async ([input, path], { call }) => {
    await expect(call('settings.update', input)).rejects.toMatchObject({ code: 'invalid_request', issues: [{ path }] });
  });
});
