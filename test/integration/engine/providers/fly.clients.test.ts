import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { FLY } from '../../../../main/providers/fly/provider.ts';
import { checkCoverage, type Driven } from '../../../support/providers/coverage.ts';
import { startProviderEngine, type Connected, type ProviderEngine } from '../../../support/providers/engine.ts';
import { testFlows } from '../../../support/providers/flows.ts';

const TARGET = 'shop.vivarium.localhost';
const WWW = 'www.acme.test';

/** The operations that were called with success. */
const driven: Driven = new Set();

interface Requirements {
  acme_challenge: { name: string; target: string };
  ownership: { name: string; app_value: string };
}
interface Detail {
  status: string;
  dns_requirements: Requirements;
  certificates: { expires_at: string }[];
  [member: string]: unknown;
}

/** The certificates of an app, as the documentation’s curl commands ask for them. */
function appOf(connected: Connected, app: string) {
  const rest = connected.rest(`https://api.machines.dev/v1/apps/${app}/certificates`, driven);
  async function ask(method: string, path: string, asked?: object) {
    const { status, body } = await rest<Detail>(method, path, asked);
    return { status, body };
  }
  const one = (hostname: string): string => `/${encodeURIComponent(hostname)}`;
  return {
    ask,
    create: (hostname: string) => ask('POST', '/acme', { hostname }),
    show: async (hostname: string) => (await ask('GET', one(hostname))).body,
    check: async (hostname: string) => (await ask('POST', `${one(hostname)}/check`)).body,
    remove: (hostname: string) => ask('DELETE', one(hostname)),
    list: async (query = '') => (await ask('GET', query)).body as unknown as Page,
  };
}

interface Page {
  certificates: { hostname: string; status: string }[];
  next_cursor?: string;
  total_count: number;
}

describe('Fly’s Machines API, by bare fetch at its hard-coded host', () => {
  let engine: ProviderEngine;
  let connected: Connected;
  let mine: ReturnType<typeof appOf>;
  beforeEach(async () => {
    engine = await startProviderEngine();
    connected = await engine.connect('fly', 'shop', ['blog']);
    mine = appOf(connected, connected.env['FLY_APP_NAME'] ?? '');
  });
  afterAll(() => checkCoverage('bare `fetch`, as Fly has no client for npm', FLY, driven));

  testFlows({
    engine: () => engine,
    target: TARGET,
    attach: (hostname) => mine.create(hostname),
    check: () => mine.check(WWW),
    read: () => mine.show(WWW),
    expiry: async () => (await mine.show(WWW)).certificates[0]?.expires_at,
    answers: {
      attached: {
        status: 201,
        body: {
          ...{ hostname: WWW, configured: false, status: 'pending_validation', certificates: [] },
          dns_requirements: { a: ['127.0.0.1'], cname: TARGET, ownership: { name: `_fly-ownership.${WWW}` } },
        },
      },
      wrong: {
        status: 'pending_validation',
        validation: { http_configured: false },
        validation_errors: expect.arrayContaining([expect.objectContaining({ message: expect.any(String) })]),
        dns_records: { cname: ['elsewhere.acme.test'], a: [], ownership_txt: null },
      },
      right: {
        ...{ configured: true, status: 'active', validation_errors: [] },
        validation: { dns_configured: false, alpn_configured: true, http_configured: true },
        dns_records: { cname: [TARGET], resolved_addresses: ['127.0.0.1'] },
      },
      waits: { status: 'pending_validation' },
      forbidden: {
        ...{ configured: true, status: 'pending_validation' },
        validation_errors: [
          { code: null, message: `CAA record for ${WWW} prevents issuance`, timestamp: expect.any(String) },
        ],
      },
      issuing: { configured: true, status: 'pending_validation' },
      ready: { status: 'active', validation_errors: [] },
      expired: { status: 'pending_validation' },
    },
    async once() {
      const { certificates } = await mine.show(WWW);
      expect(certificates).toMatchObject([{ source: 'fly', status: 'active', issued: [{ type: 'ecdsa' }] }]);
      expect((await engine.domain(WWW)).persona).toMatchObject({ id: 'fly', certificate: 'Ready' });
    },
  });

  it('asks whose an apex is, since its addresses are those of all apps', async () => {
    await mine.create('acme.test');
    await engine.put('acme.test', '@', 'A', '127.0.0.1');
    const waiting = await mine.check('acme.test');
    expect(waiting).toMatchObject({
      status: 'pending_ownership',
      configured: false,
      validation: { http_configured: true, ownership_txt_configured: false },
    });
    const { app_value: value } = waiting.dns_requirements.ownership;
    await engine.put('acme.test', '_fly-ownership', 'TXT', value);
    expect(await mine.check('acme.test')).toMatchObject({
      status: 'active',
      validation: { ownership_txt_configured: true },
      dns_records: { ownership_txt: value },
    });
  });

  it('takes a wildcard with the delegation, without which it is not validated', async () => {
    const wildcard = '*.acme.test';
    const { acme_challenge: challenge } = (await mine.create(wildcard)).body.dns_requirements;
    expect(challenge.name).toBe('_acme-challenge.acme.test');
    await engine.put('acme.test', '*', 'CNAME', TARGET);
    expect(await mine.check(wildcard)).toMatchObject({ configured: true, status: 'pending_validation' });
    await engine.put('acme.test', '_acme-challenge', 'CNAME', challenge.target);
    expect(await mine.check(wildcard)).toMatchObject({
      status: 'active',
      validation: { dns_configured: true },
      dns_records: { acme_challenge_cname: challenge.target },
    });
  });

  it('keeps a hostname that another app has until it is proven, and moves it then', async () => {
    const theirs = appOf(await engine.connect('fly', 'rival'), 'rival');
    await theirs.create(WWW);
    const { status, body } = await mine.create(WWW);
    expect([status, body.status]).toEqual([201, 'pending_ownership']);
    expect((await mine.list()).certificates).toMatchObject([{ hostname: WWW, status: 'pending_ownership' }]);
    const { name, app_value: value } = body.dns_requirements.ownership;
    await engine.put('acme.test', name.replace('.acme.test', ''), 'TXT', value);
    // A question only reads.
    await engine.call('providers.ask', { hostname: WWW, provider: 'fly' });
    expect((await theirs.show(WWW)).status).toBe('pending_validation');
    expect((await mine.check(WWW)).status).toBe('pending_validation');
    expect(await theirs.ask('GET', `/${WWW}`)).toMatchObject({ status: 404, body: { error: 'Certificate not found' } });
    await engine.put('acme.test', 'www', 'CNAME', TARGET);
    expect((await mine.check(WWW)).status).toBe('active');
    // Removed, it is free; the record alone gives it to no other app.
    expect(await mine.remove(WWW)).toEqual({ status: 204, body: null });
    await theirs.create(WWW);
    expect((await theirs.check(WWW)).status).toBe('pending_validation');
  });

  it('removes a claim, and refuses a hostname twice', async () => {
    const theirs = appOf(await engine.connect('fly', 'rival'), 'rival');
    await theirs.create(WWW);
    await mine.create(WWW);
    const twice = { status: 422, body: { error: 'Hostname already exists on app' } };
    expect(await mine.create(WWW)).toEqual(twice);
    expect((await mine.remove(WWW)).status).toBe(204);
    expect((await mine.ask('GET', `/${WWW}`)).status).toBe(404);
    expect((await theirs.show(WWW)).status).toBe('pending_validation');
    expect(await theirs.create(WWW)).toEqual(twice);
    expect((await mine.create('192.0.2.1')).status).toBe(422);
    expect((await mine.ask('POST', '/acme', { hostname: 7 })).status).toBe(400);
    expect((await appOf(connected, 'rival').ask('GET', '')).status).toBe(404);
  });

  it('has pages that end, and a filter', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) await mine.create(`${name}.acme.test`);
    const seen: string[] = [];
    let cursor: string | undefined = '';
    while (cursor !== undefined) {
      const page: Page = await mine.list(`?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`);
      expect(page.total_count).toBe(5);
      seen.push(...page.certificates.map(({ hostname }) => hostname));
      cursor = page.next_cursor;
    }
    expect(seen).toEqual(['a', 'b', 'c', 'd', 'e'].map((name) => `${name}.acme.test`));
    expect((await mine.list('?filter=c.ac')).certificates).toMatchObject([{ hostname: 'c.acme.test' }]);
    expect((await mine.ask('GET', '?limit=none')).status).toBe(400);
    expect((await mine.ask('GET', '?cursor=none')).status).toBe(400);
  });

  it('refuses more than a request a second for an action, and other tokens', async () => {
    await mine.create(WWW);
    const all = 'https://api.machines.dev/v1/apps/shop/certificates';
    const check = () => connected.rest(all)('POST', `/${WWW}/check`);
    const show = async () => {
      for (let count = 0; count <= 60; count++) expect((await mine.ask('GET', `/${WWW}`)).status).toBe(200);
    };
    const refused = await engine.beyond(check, { calls: 60, waitS: 0, by: 'PT1M1S', other: show });
    expect(refused.body).toEqual({ error: expect.any(String) });
    expect(await connected.refused(all, { authorization: 'FlyV1 fm2_lJPECAAAAAAAAGSd' })).toEqual([
      [401, { error: 'Authenticate: token validation error' }],
      [401, { error: expect.stringContaining('takes its own tokens only') }],
    ]);
  });

  it('answers 501 with the name of what is not emulated, also at the older API', async () => {
    const upload = await mine.ask('POST', '/custom', { hostname: WWW, fullchain: 'PEM', private_key: 'PEM' });
    expect(upload).toMatchObject({
      status: 501,
      body: { status: 'not_emulated', operation: 'App_Certificates_custom_create' },
    });
    const { token, fetch } = connected;
    const headers = { authorization: `Bearer ${token}` };
    const machines = await fetch('https://api.machines.dev/v1/apps/shop/machines', { headers });
    expect(await machines.json()).toMatchObject({ operation: 'GET /v1/apps/shop/machines' });
    const older = await fetch('https://api.fly.io/graphql', { method: 'POST', headers, body: '{}' });
    expect(older.status).toBe(501);
    expect(await older.json()).toMatchObject({ operation: 'POST /graphql' });
  });
});
