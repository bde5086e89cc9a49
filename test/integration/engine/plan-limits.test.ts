import { describe, expect } from 'vitest';
import { engineTest } from '../../support/engine-test.ts';
import { type ApiRequest, type Engine, startEngine, restarted } from '../../support/engine.ts';

/** Sends `times` requests one after the other; returns the last answer. */
async function ask(engine: Engine, times: number, options: ApiRequest = {}) {
  let answer = await engine.api(options);
  for (let request = 1; request < times; request++) answer = await engine.api(options);
  return answer;
}

const it = engineTest({}, async (engine) => {
  await engine.call('clock.freeze');
  return engine;
});

describe('a key on the Free plan', () => {
  it('gets sixty answers in a minute, counted down, and is then refused until the minute ends', async ({ engine }) => {
    const sentMs = Date.now();
    const first = await engine.api();
    expect(first.status).toBe(200);
    expect(first.headers).toMatchObject({ 'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '59' });
    // In real time, which the client waits by.
    const resetSeconds = Number(first.headers['x-ratelimit-reset']);
    expect(resetSeconds).toBeGreaterThanOrEqual(Math.ceil(sentMs / 1000 + 60));
    expect(resetSeconds).toBeLessThanOrEqual(Math.ceil(Date.now() / 1000 + 60));
    const sixtieth = await ask(engine, 59);
    expect(sixtieth.status).toBe(200);
    expect(sixtieth.headers['x-ratelimit-remaining']).toBe('0');

    const refused = await engine.api();
    expect(refused.status).toBe(429);
    expect(refused.json).toMatchObject({ code: 'rate_limit_exceeded', status: 429 });
    expect(refused.headers).toMatchObject({
      'x-ratelimit-limit': '60',
      'x-ratelimit-remaining': '0',
      'retry-after': '60',
    });

    await engine.call('clock.advance', { by: 'PT59.999S' });
    expect((await engine.api()).headers['retry-after']).toBe('1');
    await engine.call('clock.advance', { by: 'PT0.001S' });
    expect((await engine.api()).status).toBe(200);
  });

  it('is counted in both environments and for every operation, with errors but not preflights', async ({ engine }) => {
    await engine.api({ host: 'demo-staging.vivarium.localhost' });
    await engine.api({ path: '/v1/nothing' });
    await engine.api({ method: 'POST', body: {} });
    await engine.api({
      method: 'OPTIONS',
      key: null,
      headers: { origin: 'http://a.test', 'access-control-request-method': 'GET' },
    });
    expect((await engine.api()).headers['x-ratelimit-remaining']).toBe('56');
  });

  it('is banned for ten minutes after twenty refusals, and a ban can be lifted', async ({ engine }) => {
    await ask(engine, 60);
    expect((await ask(engine, 20)).json).toMatchObject({ code: 'rate_limit_exceeded' });
    const banned = await engine.api();
    expect(banned.json).toMatchObject({ code: 'api_key_banned', status: 429 });
    expect(banned.headers['retry-after']).toBe('600');

    await engine.call('clock.advance', { by: 'PT5M' });
    expect((await engine.api()).headers['retry-after']).toBe('300');
    const usage = await engine.call('limits.usage', { projectId: 'demo' });
    const [key] = await engine.call('keys.list', { projectId: 'demo' });
    expect(usage.find((caller) => caller.bannedUntil !== undefined)).toMatchObject({
      keyId: engine.app.demoKey()?.keyId,
      key: { name: key?.name, prefix: key?.prefix },
    });

    const keyId = engine.app.demoKey()?.keyId;
    expect(await engine.call('limits.unban', { keyId })).toEqual({ keyId, lifted: true });
    expect((await engine.api()).status).toBe(200);
  });

  it('gets its plan’s new limits at once, and keeps its used counts', async ({ engine }) => {
    await ask(engine, 61);
    await engine.call('projects.update', { projectId: 'demo', plan: 'pro' });
    const answer = await engine.api();
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({ 'x-ratelimit-limit': '300', 'x-ratelimit-remaining': '239' });
  });

  it('starts again from zero when its counters are reset', async ({ engine }) => {
    await ask(engine, 61);
    await engine.call('limits.reset', { projectId: 'demo' });
    expect((await engine.api()).headers['x-ratelimit-remaining']).toBe('59');
  });

  it('keeps counters and ban across a restart', async () => {
    const engine = await startEngine();
    await engine.call('clock.freeze');
    await ask(engine, 85);
    const again = await restarted(engine);
    const answer = await again.api();
    expect(answer.json).toMatchObject({ code: 'api_key_banned' });
  });
});

describe('without a valid key', () => {
  it('the address is counted, limited like the Free plan on any plan, and never banned', async ({ engine }) => {
    await engine.call('projects.update', { projectId: 'demo', plan: 'business' });
    const first = await engine.api({ key: null });
    expect(first.status).toBe(401);
    expect(first.headers['x-ratelimit-limit']).toBe('60');
    expect(await engine.call('limits.usage', { projectId: 'demo' })).toMatchObject([
      { minute: { limit: 60, used: 1 } },
    ]);
    await ask(engine, 59, { key: `viv_${'0'.repeat(32)}` });
    const refused = await ask(engine, 40, { key: null });
    expect(refused.json).toMatchObject({ code: 'rate_limit_exceeded' });
    expect((await engine.api()).status).toBe(200);
  });

  it('a key of another project is not valid', async ({ engine }) => {
    const other = await engine.call('projects.create', { name: 'Other' });
    const key = await engine.call('keys.create', { projectId: other.id });
    expect((await engine.api({ key: key.secret })).status).toBe(401);
    expect((await engine.api({ key: key.secret, host: 'other.vivarium.localhost' })).status).toBe(200);
  });
});

it('Enterprise has individually agreed limits, and requires them', async ({ engine }) => {
  await expect(engine.call('projects.update', { projectId: 'demo', plan: 'enterprise' })).rejects.toMatchObject({
    code: 'invalid_request',
    issues: [{ path: 'limits' }],
  });
  await engine.call('projects.update', { projectId: 'demo', plan: 'enterprise', limits: { perMinute: 5, perDay: 3 } });
  const answer = await engine.api();
  expect(answer.headers).toMatchObject({ 'x-ratelimit-limit': '3', 'x-ratelimit-remaining': '2' });
});
