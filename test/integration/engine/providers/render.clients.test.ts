import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { RENDER } from '../../../../main/providers/render/provider.ts';
import { checkCoverage, type Driven } from '../../../support/providers/coverage.ts';
import { startProviderEngine, type Connected, type ProviderEngine } from '../../../support/providers/engine.ts';

const TARGET = 'shop.vivarium.localhost';
const WWW = 'www.acme.test';
const DOCS = 'docs.acme.test';

/** The operations that were called with success. */
const driven: Driven = new Set();

interface CustomDomain {
  id: string;
  name: string;
  verificationStatus: string;
  redirectForName: string;
}
interface Row {
  cursor: string;
  customDomain: CustomDomain;
}

/** The custom domains of a service. */
function serviceOf(connected: Connected) {
  const service = connected.env['RENDER_SERVICE_ID'] ?? '';
  const rest = connected.rest(`https://api.render.com/v1/services/${service}/custom-domains`, driven);
  const ask = <Body = CustomDomain>(method: string, path: string, body?: object) => rest<Body>(method, path, body);
  return {
    ask,
    create: (name: string) => ask<CustomDomain[]>('POST', '', { name }),
    get: async (name: string) => (await ask('GET', `/${name}`)).body,
    verify: (name: string) => ask('POST', `/${name}/verify`),
    remove: (name: string) => ask('DELETE', `/${name}`),
    list: async (query = '') => (await ask<Row[]>('GET', query)).body,
  };
}

describe('Render’s API, by bare fetch at its hard-coded host', () => {
  let engine: ProviderEngine;
  let mine: ReturnType<typeof serviceOf>;
  beforeEach(async () => {
    engine = await startProviderEngine();
    mine = serviceOf(await engine.connect('render', 'shop', ['blog']));
  });
  afterAll(() => checkCoverage('bare `fetch`, as npm has no client of Render’s', RENDER, driven));

  const statusOf = async (name: string): Promise<string> => (await mine.get(name)).verificationStatus;
  const isChecked = (name: string) => expect.poll(async () => (await engine.domain(name)).lastCheckedAt).toBeDefined();

  it('attaches, is unverified with a wrong record, and verified with a certificate when it is right', async () => {
    const { status, body } = await mine.create(DOCS);
    expect(status).toBe(201);
    expect(body).toMatchObject([
      {
        ...{
          id: expect.stringMatching(/^cdm-[0-9a-f]{20}$/),
          name: DOCS,
          domainType: 'subdomain',
          publicSuffix: 'test',
        },
        ...{ redirectForName: '', verificationStatus: 'unverified', server: { name: 'shop' } },
      },
    ]);
    const { id } = await engine.put('acme.test', 'docs', 'CNAME', 'elsewhere.acme.test');
    await isChecked(DOCS);
    expect(await mine.verify(DOCS)).toMatchObject({ status: 202, body: null });
    expect(await statusOf(DOCS)).toBe('unverified');
    expect((await engine.domain(DOCS)).persona?.state).toBe('DNS update needed');
    await engine.call('records.update', { id, value: TARGET });
    await mine.verify(DOCS);
    await expect.poll(() => statusOf(DOCS)).toBe('verified');
    await expect.poll(async () => (await engine.domain(DOCS)).certificate.state).toBe('issued');
    expect((await engine.domain(DOCS)).persona?.state).toBe('Verified');
    expect(await mine.get(body[0]?.id ?? '')).toEqual(await mine.get(DOCS));
    expect((await mine.create('a.acme.co.uk')).body).toMatchObject([{ publicSuffix: 'co.uk' }]);
  });

  it('adds the apex of www, which redirects to it with a certificate of its own, and removes both', async () => {
    await engine.put('acme.test', '@', 'A', '127.0.0.1');
    await engine.put('acme.test', 'www', 'CNAME', TARGET);
    const { body } = await mine.create(WWW);
    expect(body).toMatchObject([
      { name: WWW, domainType: 'subdomain', redirectForName: '' },
      { name: 'acme.test', domainType: 'apex', redirectForName: WWW },
    ]);
    for (const name of [WWW, 'acme.test']) await expect.poll(() => statusOf(name)).toBe('verified');
    await expect.poll(async () => (await engine.domain('acme.test')).serving).toEqual({ http: true, https: true });
    expect(await engine.call('domains.export', { projectId: 'shop' })).toMatchObject({
      redirects: [{ from: 'acme.test', to: WWW, status: 301 }],
    });
    expect((await mine.remove(WWW)).status).toBe(204);
    expect(await mine.list()).toEqual([]);
    expect((await mine.create('acme.test')).body).toMatchObject([
      { name: 'acme.test', redirectForName: '' },
      { name: WWW, redirectForName: 'acme.test' },
    ]);
    await mine.remove(WWW);
    const names = async () => (await mine.list()).map(({ customDomain: { name } }) => name);
    expect(await names()).toEqual(['acme.test']);
    const elsewhere = { from: 'acme.test', to: 'https://other.test', status: 301 };
    await engine.call('domains.setRedirects', { projectId: 'shop', redirects: [elsewhere] });
    await mine.create(WWW);
    await mine.remove(WWW);
    expect(await names()).toEqual(['acme.test']);
  });

  it('is verified while CAA forbids its certificate, which the dashboard says', async () => {
    const { id } = await engine.put('acme.test', '@', 'CAA', '0 issue "other-ca.example"');
    await engine.put('acme.test', 'docs', 'CNAME', TARGET);
    await mine.create(DOCS);
    await expect.poll(() => statusOf(DOCS)).toBe('verified');
    const words = `CAA record for ${DOCS} prevents issuance`;
    const forbids = async () => (await engine.domain(DOCS)).checks.find(({ code }) => code === 'caa_forbids')?.words;
    await expect.poll(forbids).toBe(words);
    expect((await engine.domain(DOCS)).persona?.certificate).toBe('Certificate Pending');
    await engine.call('records.remove', { id });
    await mine.verify(DOCS);
    await expect.poll(async () => (await engine.domain(DOCS)).certificate.state).toBe('issued');
  });

  it('waits for a record that takes an hour to propagate, and is unverified again when it leads elsewhere', async () => {
    await engine.call('settings.update', { propagation: 'PT1H' });
    await mine.create(DOCS);
    const { id } = await engine.put('acme.test', 'docs', 'CNAME', TARGET);
    await isChecked(DOCS);
    expect(await statusOf(DOCS)).toBe('unverified');
    await engine.call('clock.advance', { by: 'P1DT1H' });
    expect(await statusOf(DOCS)).toBe('verified');
    await engine.call('records.update', { id, value: 'elsewhere.acme.test' });
    await engine.call('clock.advance', { by: 'P1DT2H' });
    expect(await statusOf(DOCS)).toBe('unverified');
  });

  it('refuses a hostname that another service has, until it is removed there', async () => {
    const theirs = serviceOf(await engine.connect('render', 'rival'));
    await theirs.create('acme.test');
    const refused = await mine.create(WWW);
    expect([refused.status, refused.body]).toEqual([409, { id: 'conflict', message: `domain already exists: ${WWW}` }]);
    await theirs.remove('acme.test');
    expect((await mine.create(WWW)).status).toBe(201);
    expect((await mine.create(WWW)).status).toBe(409);
    // Beside an apex that is in use already, `www` comes alone.
    await mine.remove(WWW);
    await theirs.create('acme.test');
    await theirs.remove(WWW);
    expect((await mine.create(WWW)).body).toMatchObject([{ name: WWW }]);
  });

  it('has pages that end, and filters', async () => {
    const names = ['a', 'b', 'c', 'd', 'e'].map((name) => `${name}.acme.test`);
    for (const name of names) await mine.create(name);
    await mine.create('acme.test');
    const seen: string[] = [];
    let page = await mine.list('?limit=3');
    while (page.length > 0) {
      seen.push(...page.map(({ customDomain: { name } }) => name));
      page = await mine.list(`?limit=3&cursor=${page.at(-1)?.cursor ?? ''}`);
    }
    expect(seen).toEqual([...names, 'acme.test', WWW]);
    const found = async (query: string) => (await mine.list(query)).map(({ customDomain: { name } }) => name);
    expect(await found('?name=a.acme.test&name=b.acme.test')).toEqual(names.slice(0, 2));
    expect(await found('?domainType=apex')).toEqual(['acme.test']);
    expect(await found('?verificationStatus=verified')).toEqual([]);
    expect(await found('?createdAfter=2099-01-01T00:00:00Z')).toEqual([]);
    for (const query of ['?limit=none', '?cursor=none', '?createdBefore=none'])
      expect((await mine.ask('GET', query)).status).toBe(400);
  });

  it('refuses texts that are no hostname, and what is not there', async () => {
    for (const name of ['192.0.2.1', '', 7]) expect((await mine.ask('POST', '', { name })).status).toBe(400);
    expect(await mine.ask('GET', `/${WWW}`)).toMatchObject({ status: 404, body: { id: 'not_found' } });
    const blog = await engine.connect('render', 'blog');
    const elsewhere = serviceOf({ ...blog, env: { RENDER_SERVICE_ID: 'srv-none' } });
    expect((await elsewhere.ask('GET', '')).status).toBe(404);
  });

  it('refuses more than 50 changes of domains in an hour', async () => {
    const first = await mine.create(DOCS);
    expect(first.headers.get('ratelimit-limit')).toBe('50');
    expect(first.headers.get('ratelimit-remaining')).toBe('49');
    const show = async () => expect((await mine.ask('GET', `/${DOCS}`)).status).toBe(200);
    const limit = { calls: 49, waitS: 3_000, by: 'PT1H1S' };
    const refused = await engine.beyond(() => mine.verify(DOCS), { ...limit, other: show });
    expect(refused.body).toMatchObject({ id: 'rate_limited', message: expect.any(String) });
    const waits = Number(refused.headers.get('ratelimit-reset')) - Date.now() / 1_000;
    expect(waits).toBeCloseTo(3_600, -3);
    expect((await mine.remove(DOCS)).headers.get('ratelimit-limit')).toBe('30');
  });

  it('refuses other tokens, and answers 501 with the name of what is not emulated', async () => {
    const blog = await engine.connect('render', 'blog');
    const all = 'https://api.render.com/v1/services';
    expect(await blog.refused(all, { authorization: 'Bearer rnd_0123456789abcdefghijABCDEFGH' })).toMatchObject([
      [401, { id: 'unauthorized', message: 'Unauthorized' }],
      [401, { message: expect.stringContaining('takes its own tokens only') }],
    ]);
    const body = { id: 'not_emulated', operation: 'GET /v1/services' };
    expect(await blog.rest(all)('GET', '')).toMatchObject({ status: 501, body });
  });
});
