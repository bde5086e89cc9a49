import Cloudflare from 'cloudflare';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { CLOUDFLARE } from '../../../../main/providers/cloudflare/provider.ts';
import { checkCoverage, type Driven } from '../../../support/providers/coverage.ts';
import {
  refusesBy,
  startProviderEngine,
  type Connected,
  type ProviderEngine,
} from '../../../support/providers/engine.ts';
import { testFlows } from '../../../support/providers/flows.ts';

const TARGET = 'shop.vivarium.localhost';
const WWW = 'www.acme.test';
const HTTP = { method: 'http', type: 'dv' } as const;

/** The operations that the client has called with success. */
const driven: Driven = new Set();

function clientOf({ token, fetch }: Connected): Cloudflare {
  return new Cloudflare({
    apiToken: token,
    maxRetries: 0,
    async fetch(input: string | URL | Request, init?: RequestInit) {
      const response = await fetch(input, init);
      const { method, url } = new Request(input, init);
      if (response.ok) driven.add(`${method} ${new URL(url).pathname}`);
      return response;
    },
  });
}

/** The status and the first error of a refused call. */
const refuses = refusesBy((thrown) => {
  if (!(thrown instanceof Cloudflare.APIError)) throw thrown;
  const { errors } = thrown.error as { errors: object[] };
  return { ...errors[0], status: thrown.status };
});

const isReady = (ssl: object) => 'status' in ssl && ssl.status === 'active' && !('validation_errors' in ssl);

describe('Cloudflare for SaaS, by cloudflare at its hard-coded host', () => {
  let engine: ProviderEngine;
  let mine: Cloudflare;
  let zone_id: string;
  beforeEach(async () => {
    engine = await startProviderEngine();
    const connected = await engine.connect('cloudflare', 'shop', ['blog']);
    mine = clientOf(connected);
    zone_id = connected.env['CLOUDFLARE_ZONE_ID'] ?? '';
  });
  afterAll(() => checkCoverage('cloudflare 7.3.0', CLOUDFLARE, driven));

  const add = (hostname: string, more: object = {}) =>
    mine.customHostnames.create({ zone_id, hostname, ssl: HTTP, ...more });
  const get = (id: string) => mine.customHostnames.get(id, { zone_id });
  const refresh = (id: string, ssl: object = HTTP) => mine.customHostnames.edit(id, { zone_id, ssl });
  /** A hostname whose records are right, and that is active. */
  async function active(hostname = WWW) {
    const { id } = await add(hostname);
    await engine.put('acme.test', hostname.replace('.acme.test', ''), 'CNAME', TARGET);
    await refresh(id);
    return id;
  }

  testFlows({
    engine: () => engine,
    target: TARGET,
    attach: add,
    check: ({ id }) => refresh(id),
    read: ({ id }) => get(id),
    expiry: async ({ id }) => (await get(id)).ssl?.expires_on,
    scheduled: 'PT3M',
    answers: {
      attached: { hostname: WWW, status: 'pending', ssl: { status: 'initializing', method: 'http' } },
      wrong: {
        status: 'pending',
        verification_errors: ['custom hostname does not CNAME to this zone.'],
        ownership_verification: { type: 'txt', name: `_cf-custom-hostname.${WWW}` },
        ssl: { status: 'pending_validation' },
      },
      right: { status: 'active', ssl: { status: 'active', hosts: [WWW] } },
      waits: { status: 'pending' },
      forbidden: {
        status: 'active',
        ssl: {
          status: 'pending_validation',
          validation_errors: [
            { message: 'CAA records block issuance. Please remove all CAA records or add records for this authority.' },
          ],
        },
      },
      issuing: { status: 'active', ssl: { status: 'pending_issuance' } },
      ready: { status: 'active', ssl: expect.toSatisfy(isReady) },
      expired: { ssl: { status: 'expired' } },
    },
    async once({ id }) {
      const ready = await get(id);
      expect(ready.id).toBe(id);
      expect(ready).not.toHaveProperty('ownership_verification');
      expect(await refresh(id)).toEqual(ready);
    },
  });

  it('asks for a TXT record where the hostname is in use elsewhere, and moves it once that is visible', async () => {
    const theirs = clientOf(await engine.connect('cloudflare', 'rival'));
    const [zone] = (await theirs.zones.list({ name: 'rival.vivarium.localhost' })).result;
    const used = { zone_id: zone?.id ?? '', hostname: WWW, ssl: HTTP };
    const { id: before } = await theirs.customHostnames.create(used);
    await add('own.acme.test');
    const claimed = await add(WWW);
    expect(claimed).toMatchObject({ status: 'pending', ssl: { status: 'pending_validation' } });
    expect(await refresh(claimed.id)).toMatchObject({ status: 'pending' });
    const { name = '', value = '' } = claimed.ownership_verification ?? {};
    await engine.put('acme.test', name.replace('.acme.test', ''), 'TXT', value);
    // A question about another hostname of the zone only reads.
    await engine.call('providers.ask', { hostname: 'own.acme.test', provider: 'cloudflare' });
    expect(await theirs.customHostnames.get(before, used)).toMatchObject({ id: before });
    expect(await get(claimed.id)).toMatchObject({ id: claimed.id, status: 'active' });
    expect((await engine.domain(WWW)).instructions[0]?.value).toBe(TARGET);
    await refuses(theirs.customHostnames.get(before, used), 404, 1436);
  });

  it('moves a hostname whose CNAME leads to the own zone, and no apex, whose addresses are those of all', async () => {
    const theirs = clientOf(await engine.connect('cloudflare', 'rival'));
    const [zone] = (await theirs.zones.list({ name: 'rival.vivarium.localhost' })).result;
    const claim = (hostname: string) => theirs.customHostnames.create({ zone_id: zone?.id ?? '', hostname, ssl: HTTP });
    await add('acme.test');
    await add(WWW);
    await engine.put('acme.test', '@', 'ALIAS', 'rival.vivarium.localhost');
    await engine.put('acme.test', 'www', 'CNAME', 'rival.vivarium.localhost');
    expect((await claim('acme.test')).status).toBe('pending');
    expect((await claim(WWW)).status).toBe('active');
    const names = (await mine.customHostnames.list({ zone_id })).result.map(({ hostname }) => hostname);
    expect(names).toEqual(['acme.test']);
  });

  it('validates the certificate of a hostname that does not lead here yet by its own TXT record', async () => {
    const { id, ownership_verification: proof } = await add(WWW, { ssl: { method: 'txt', type: 'dv' } });
    await engine.put('acme.test', '_cf-custom-hostname.www', 'TXT', proof?.value ?? '');
    const waiting = await refresh(id, { method: 'txt', type: 'dv' });
    expect(waiting).toMatchObject({ status: 'active', ssl: { status: 'pending_validation' } });
    const [record] = waiting.ssl?.validation_records ?? [];
    expect(record?.txt_name).toBe(`_acme-challenge.${WWW}`);
    await engine.put('acme.test', '_acme-challenge.www', 'TXT', record?.txt_value ?? '');
    expect((await get(id)).ssl?.status).toBe('active');
  });

  it('takes the delegation of a certificate with a wildcard, which HTTP cannot validate', async () => {
    const wildcard = { ...HTTP, method: 'txt', wildcard: true };
    const { id } = await add(WWW, { ssl: wildcard });
    await engine.put('acme.test', 'www', 'CNAME', TARGET);
    const waiting = await refresh(id, wildcard);
    expect(waiting).toMatchObject({ status: 'active', ssl: { wildcard: true, status: 'pending_validation' } });
    const [record] = waiting.ssl?.dcv_delegation_records ?? [];
    await engine.put('acme.test', '_acme-challenge.www', 'CNAME', record?.cname_target ?? '');
    expect(await get(id)).toMatchObject({ ssl: { status: 'active', hosts: [WWW, `*.${WWW}`] } });
    expect((await engine.domain(`*.${WWW}`)).projectId).toBe((await engine.domain(WWW)).projectId);
    expect((await mine.customHostnames.list({ zone_id })).result).toHaveLength(1);
    await mine.customHostnames.delete(id, { zone_id });
    expect(await engine.call('domains.list', {})).toEqual([]);
  });

  it('wants an alias and the TXT record for an apex, whose addresses prove nothing', async () => {
    const { id, ownership_verification: proof } = await add('acme.test');
    await engine.put('acme.test', '@', 'ALIAS', TARGET);
    const waiting = await refresh(id);
    expect(waiting.status).toBe('pending');
    expect(waiting.verification_errors?.[0]).toMatch(/^None of the A or AAAA records are owned by this account/);
    await engine.put('acme.test', '_cf-custom-hostname', 'TXT', proof?.value ?? '');
    expect(await refresh(id)).toMatchObject({ status: 'active', ssl: { status: 'active' } });
  });

  it('is moved when its record leads elsewhere, deleted a week later, and pending again when asked', async () => {
    const id = await active();
    const [record] = await engine.call('records.list', { zone: 'acme.test' });
    await engine.call('records.update', { id: record?.id, value: 'elsewhere.acme.test' });
    await engine.call('clock.advance', { by: 'P1DT1H' });
    expect((await get(id)).status).toBe('moved');
    await engine.call('clock.advance', { by: 'P7D' });
    expect(await get(id)).toMatchObject({ status: 'deleted', ssl: { status: 'deleted' } });
    expect((await refresh(id)).status).toBe('pending');
    await engine.call('records.update', { id: record?.id, value: TARGET });
    expect((await refresh(id)).status).toBe('active');
  });

  it('is moved after 75 tries without a record, and blocked while the project has no plan for it', async () => {
    const { id } = await add(WWW);
    await engine.call('clock.advance', { by: 'P12D' });
    expect(await get(id)).toMatchObject({ status: 'moved', ssl: { status: 'validation_timed_out' } });
    expect((await refresh(id)).status).toBe('pending');
    for (const plan of ['pro', 'free']) await engine.call('projects.update', { projectId: 'shop', plan });
    expect(await get(id)).toMatchObject({ status: 'blocked', ssl: { status: 'inactive' } });
  });

  it('is free for another account once it is removed, which has to be proven again', async () => {
    const id = await active();
    expect(await mine.customHostnames.delete(id, { zone_id })).toEqual({ id });
    await refuses(get(id), 404, 1436);
    const theirs = clientOf(await engine.connect('cloudflare', 'rival'));
    const [zone] = (await theirs.zones.list({ name: 'rival.vivarium.localhost' })).result;
    const rival = { zone_id: zone?.id ?? '' };
    const taken = await theirs.customHostnames.create({ ...rival, hostname: WWW, ssl: HTTP });
    const dangling = await theirs.customHostnames.edit(taken.id, { ...rival, ssl: HTTP });
    expect(dangling).toMatchObject({
      status: 'pending',
      verification_errors: ['custom hostname does not CNAME to this zone.'],
    });
    const { name = '', value = '' } = taken.ownership_verification ?? {};
    await engine.put('acme.test', name.replace('.acme.test', ''), 'TXT', value);
    expect((await theirs.customHostnames.edit(taken.id, { ...rival, ssl: HTTP })).status).toBe('active');
  });

  it('has a quota, and pages that end', async () => {
    const quota = () => mine.customHostnames.quota.get({ zone_id });
    expect(await quota()).toEqual({ allocated: 100, used: 0, hard_cap: 100, exceeded: false });
    const names = Array.from({ length: 100 }, (_, index) => `t${index}.acme.test`);
    for (const name of names) await add(name);
    expect(await quota()).toMatchObject({ used: 100, exceeded: false });
    await refuses(add(WWW), 403, 1405);
    const seen: string[] = [];
    for await (const { hostname } of mine.customHostnames.list({ zone_id, per_page: 30 })) seen.push(hostname);
    expect(seen.toSorted()).toEqual(names.toSorted());
    const { result, result_info: info } = await mine.customHostnames.list({ zone_id, page: 5, per_page: 99 });
    expect(result).toEqual([]);
    expect(info).toMatchObject({ page: 5, per_page: 50, count: 0, total_count: 100, total_pages: 2 });
  });

  it('lists by hostname, status and identifier', async () => {
    const id = await active();
    await add('shop.acme.test');
    const names = async (query: object): Promise<string[]> =>
      (await mine.customHostnames.list({ zone_id, ...query })).result.map(({ hostname }) => hostname);
    expect(await names({ id })).toEqual([WWW]);
    expect(await names({ hostname: { contain: 'SHOP' } })).toEqual(['shop.acme.test']);
    expect(await names({ hostname: { exact: 'acme.test' } })).toEqual([]);
    expect(await names({ hostname_status: 'active' })).toEqual([WWW]);
    expect(await names({ ssl_status: 'pending_validation' })).toEqual(['shop.acme.test']);
    expect(await names({ direction: 'desc' })).toEqual(['shop.acme.test', WWW]);
    await refuses(names({ id, hostname: { exact: WWW } }), 400, 1438);
  });

  it.each<[what: string, hostname: string, ssl: object, code: number]>([
    ['an address', '192.0.2.1', HTTP, 1407],
    ['another alphabet', 'büro.acme.test', HTTP, 1408],
    ['an example', 'www.example.com', HTTP, 1411],
    ['another example', 'example.net', HTTP, 1411],
    ['a wildcard', '*.acme.test', HTTP, 1448],
    ['an unknown method', WWW, { ...HTTP, method: 'dns' }, 1432],
    ['an unknown type', WWW, { ...HTTP, type: 'ev' }, 1433],
    ['a method without a type', WWW, { method: 'http' }, 1440],
    ['an unknown bundle', WWW, { ...HTTP, bundle_method: 'all' }, 1449],
    ['a setting that is neither on nor off', WWW, { ...HTTP, settings: { http2: 'yes' } }, 1422],
    ['an unknown version of TLS', WWW, { ...HTTP, settings: { min_tls_version: '1.4' } }, 1425],
    ['settings as a list', WWW, { ...HTTP, settings: [] }, 1400],
  ])('refuses %s by its documented code', async (_what, hostname, ssl, code) => {
    await refuses(add(hostname, { ssl }), 400, code);
  });

  it('refuses a hostname twice, one that is not there, and an identifier that is none', async () => {
    await add(WWW);
    await refuses(add(WWW), 409, 1406, { message: 'Duplicate custom hostname found.' });
    await refuses(get('0d89c70d-ad9f-4843-b99f-6cc0252067e9'), 404, 1436);
    await refuses(get('none'), 400, 1435);
    await refuses(mine.customHostnames.list({ zone_id: '023e105f4ecef8ad9ca31a8372d0c353' }), 404, 7003);
  });

  it('keeps metadata and an origin of a hostname', async () => {
    const { id } = await add(WWW, { custom_metadata: { customer: '7' } });
    expect((await get(id)).custom_metadata).toEqual({ customer: '7' });
    await refuses(mine.customHostnames.edit(id, { zone_id, custom_origin_server: 'none.acme.test' }), 400, 1421);
    const changed = await mine.customHostnames.edit(id, { zone_id, custom_origin_server: TARGET });
    expect(changed).toMatchObject({ custom_metadata: { customer: '7' }, custom_origin_server: TARGET });
  });

  it('serves the hostnames of a local zone once its fallback origin has a record', async () => {
    const [account] = (await mine.accounts.list()).result;
    const zone = await mine.zones.create({ account: { id: account?.id ?? '' }, name: 'saas.test' });
    expect(zone).toMatchObject({ name: 'saas.test', status: 'active', account: { id: account?.id } });
    const saas = { zone_id: zone.id };
    const { fallbackOrigin } = mine.customHostnames;
    await refuses(fallbackOrigin.get(saas), 404, 1551);
    const { id } = await mine.customHostnames.create({ ...saas, hostname: WWW, ssl: HTTP });
    await engine.put('acme.test', 'www', 'CNAME', 'customers.saas.test');
    const origin = 'customers.saas.test';
    expect(await fallbackOrigin.update({ ...saas, origin })).toMatchObject({ origin, status: 'pending_deployment' });
    await mine.dns.records.create({ ...saas, type: 'CNAME', name: origin, content: TARGET, ttl: 1, proxied: true });
    expect(await fallbackOrigin.get(saas)).toMatchObject({ origin, status: 'active', errors: [] });
    const ready = await mine.customHostnames.edit(id, { ...saas, ssl: HTTP });
    expect(ready).toMatchObject({ status: 'active', ssl: { status: 'active' } });
    expect(await fallbackOrigin.delete(saas)).toMatchObject({ status: 'pending_deletion' });
    expect(await mine.customHostnames.get(id, saas)).toMatchObject({
      status: 'pending',
      verification_errors: ['Zone does not have a fallback origin set.'],
    });
    expect((await mine.customHostnames.list({ zone_id })).result).toEqual([]);
    await mine.zones.delete(saas);
    await refuses(mine.zones.get(saas), 404, 7003);
  });

  it('has a zone of another provider when its name servers are those that were assigned, and no other account has', async () => {
    const theirs = clientOf(await engine.connect('cloudflare', 'rival'));
    await engine.put('acme.test', 'www', 'A', '127.0.0.1');
    const zone = await mine.zones.create({ account: { id: '' }, name: 'Acme.test' });
    const other = await theirs.zones.create({ account: { id: '' }, name: 'acme.test' });
    expect(zone).toMatchObject({
      name: 'acme.test',
      status: 'pending',
      original_name_servers: ['ns.vivarium.localhost'],
    });
    expect([zone.activated_on, other.status]).toEqual([null, 'pending']);
    expect(new Set(zone.name_servers).size).toBe(2);
    expect(zone.name_servers.filter((server) => other.name_servers.includes(server))).toEqual([]);
    const acme = { zone_id: zone.id };
    const www = { ...acme, type: 'A', name: 'www', content: '127.0.0.2', ttl: 1 } as const;
    expect((await mine.dns.records.list(acme)).result).toEqual([]);
    await refuses(mine.dns.records.create(www), 400, 1021);
    const servers = [];
    for (const server of zone.name_servers) servers.push(await engine.put('acme.test', '@', 'NS', server));
    await mine.zones.activationCheck.trigger(acme);
    expect(await mine.zones.get(acme)).toMatchObject({ status: 'active', original_name_servers: null });
    expect((await theirs.zones.get(acme)).status).toBe('pending');
    await refuses(theirs.dns.records.create(www), 400, 1021);
    expect((await mine.dns.records.list(acme)).result).toMatchObject([{ name: 'www.acme.test', content: '127.0.0.1' }]);
    await engine.call('records.remove', { id: servers[0]?.id });
    expect((await mine.zones.list({ status: 'active' })).result.map(({ name }) => name)).not.toContain('acme.test');
    expect((await mine.zones.get(acme)).status as string).toBe('moved');
    for (const client of [mine, theirs]) await client.zones.delete(acme);
    expect(await engine.call('zones.list')).toMatchObject([{ name: 'acme.test' }]);
  });

  it('makes no zone over the records, or the domains, of others', async () => {
    const theirs = clientOf(await engine.connect('cloudflare', 'rival'));
    await engine.put('test', 'www.acme', 'A', '127.0.0.1');
    const zone = await mine.zones.create({ account: { id: '' }, name: 'acme.test' });
    expect(zone).toMatchObject({ status: 'pending', original_name_servers: [] });
    await add('www.acme.example');
    const other = await theirs.zones.create({ account: { id: '' }, name: 'acme.example' });
    expect(other.status).toBe('pending');
    expect(await engine.call('zones.list')).toMatchObject([{ name: 'test' }]);
    expect((await mine.zones.create({ account: { id: '' }, name: 'acme.example' })).status).toBe('active');
  });

  it('has a new zone once its name servers have propagated', async () => {
    await engine.call('settings.update', { propagation: 'PT1H' });
    const { id } = await mine.zones.create({ account: { id: '' }, name: 'saas.test' });
    expect((await mine.zones.get({ zone_id: id })).status).toBe('pending');
    await engine.call('clock.advance', { by: 'PT1H1M' });
    expect((await mine.zones.get({ zone_id: id })).status).toBe('active');
  });

  it.each<[what: string, name: string, code: number, type?: 'partial']>([
    ['a public suffix', 'co.uk', 1099],
    ['a top-level domain', 'test', 1099],
    ['an address', '127.0.0.1', 1099],
    ['the zone of a project', 'rival.vivarium.localhost', 1099],
    ['a subdomain', 'shop.acme.test', 1116],
    ['a wildcard', '*.acme.test', 1116],
    ['another type of zone', 'acme.test', 1104, 'partial'],
  ])('refuses %s as a zone', async (_what, name, code, type) => {
    const zone = mine.zones.create({ account: { id: '' }, name, ...(type !== undefined && { type }) });
    await refuses(zone, 400, code);
    expect(await engine.call('zones.list')).toEqual([]);
  });

  it('knows its zones and its token', async () => {
    await engine.call('zones.create', { name: 'theirs.test' });
    await mine.zones.create({ account: { id: '' }, name: 'acme.test' });
    const names: string[] = [];
    for await (const { name } of mine.zones.list({ order: 'name' })) names.push(name);
    expect(names).toEqual(['acme.test', 'blog.vivarium.localhost', TARGET]);
    const all = await mine.zones.list({});
    expect(all).toMatchObject({ result: [{ name: TARGET }, {}, {}], result_info: { total_pages: 1 } });
    expect((await mine.zones.list({ name: 'acme' })).result).toEqual([]);
    expect(await mine.zones.get({ zone_id })).toMatchObject({ name: TARGET, status: 'active' });
    expect(await mine.zones.activationCheck.trigger({ zone_id })).toEqual({ id: zone_id });
    expect(await mine.user.tokens.verify()).toMatchObject({ status: 'active' });
    await refuses(mine.zones.delete({ zone_id }), 400, 1097);
    const again = mine.zones.create({ account: { id: '' }, name: 'acme.test' });
    await refuses(again, 400, 1061, { message: 'acme.test already exists' });
  });

  it('writes the records of a zone', async () => {
    const zone = await mine.zones.create({ account: { id: '' }, name: 'acme.test' });
    const acme = { zone_id: zone.id };
    const { records } = mine.dns;
    const a = { ...acme, type: 'A', name: 'www.acme.test', content: '127.0.0.1', ttl: 1, comment: 'web' } as const;
    const made = await records.create(a);
    expect(made).toMatchObject({ name: 'www.acme.test', type: 'A', content: '127.0.0.1', ttl: 1, comment: 'web' });
    expect(await records.get(made.id, acme)).toEqual(made);
    await refuses(records.create(a), 400, 81058);
    await refuses(records.create({ ...acme, type: 'CNAME', name: 'www', content: 'x.test', ttl: 1 }), 400, 81053);
    await refuses(records.create({ ...a, name: 'shop', content: 'nowhere' }), 400, 1004);
    // Its library asks for more than its API does.
    const kept = await records.edit(made.id, { ...acme, name: 'www' } as Parameters<typeof records.edit>[1]);
    expect(kept).toMatchObject({ content: '127.0.0.1', ttl: 1, comment: 'web' });
    const edited = await records.edit(made.id, { ...acme, type: 'A', name: 'www', content: '127.0.0.2', ttl: 120 });
    expect(edited).toMatchObject({ id: made.id, content: '127.0.0.2', ttl: 120, comment: 'web' });
    const [own] = await engine.call('records.list', { zone: 'acme.test', name: 'www' });
    const whole = { ...a, content: '127.0.0.3', comment: undefined, ttl: undefined } as unknown as typeof a;
    const updated = await records.update(made.id, whole);
    expect(updated).toMatchObject({ id: made.id, content: '127.0.0.3', ttl: 1, comment: null });
    await engine.call('records.update', { id: own?.id, ttl: 600 });
    expect(await records.get(made.id, acme)).toMatchObject({ content: '127.0.0.3', ttl: 600 });
    const batch = await records.batch({
      ...acme,
      deletes: [{ id: made.id }],
      posts: [
        { type: 'MX', name: '@', content: 'mx.acme.test', priority: 10, ttl: 1 },
        { type: 'CAA', name: 'acme.test', data: { flags: 0, tag: 'issue', value: 'vivarium.localhost' }, ttl: 1 },
      ],
    });
    expect(batch.posts).toMatchObject([
      { name: 'acme.test', content: 'mx.acme.test', priority: 10 },
      { type: 'CAA', data: { flags: 0, tag: 'issue', value: 'vivarium.localhost' } },
    ]);
    const seen: string[] = [];
    for await (const { type } of records.list({ ...acme, per_page: 1 })) seen.push(type);
    expect(seen.toSorted()).toEqual(['CAA', 'MX']);
    expect(await records.export(acme)).toContain('\n@ 300 IN MX 10 mx\n');
    const [mx] = (await records.list({ ...acme, type: 'MX' })).result;
    expect(await records.delete(mx?.id ?? '', acme)).toEqual({ id: mx?.id });
    await refuses(records.get(made.id, acme), 404, 81044);
  });

  it('answers in the provider’s envelope, with its rate headers, by bare fetch', async () => {
    const blog = await engine.connect('cloudflare', 'blog');
    const api = 'https://api.cloudflare.com/client/v4';
    const good = await blog.rest(api)('GET', '/user/tokens/verify');
    expect(good.body).toMatchObject({ success: true, errors: [], result: { status: 'active' } });
    expect(good.headers.get('ratelimit')).toMatch(/^"default";r=1199;t=(?:299|300)$/);
    expect(good.headers.get('ratelimit-policy')).toBe('"default";q=1200;w=300');
    const foreign = { authorization: 'Bearer Sn3lZJTBX6kkg7OdcBUAxOO963GEIyGQqnFTOFYY' };
    const none = { code: 1000, message: 'Unable to extract bearer token' };
    expect(await blog.refused(`${api}/zones`, foreign)).toMatchObject([
      [401, { success: false, errors: [none], messages: expect.any(Array), result: null }],
      [403, { errors: [{ code: 9109, message: /takes its own tokens only/ }] }],
    ]);
  });

  it('refuses more than 1,200 calls in five minutes', async () => {
    const api = (await engine.connect('cloudflare', 'blog')).rest('https://api.cloudflare.com/client/v4');
    const call = () => api('GET', '/user/tokens/verify');
    const refused = await engine.beyond(call, { calls: 1_200, waitS: 250, by: 'PT5M1S' });
    expect(refused.body).toMatchObject({ success: false, errors: [{ code: 971 }] });
  });

  it('answers 501 with the name of what is not emulated', async () => {
    const operation = `GET /client/v4/zones/${zone_id}/settings/ssl`;
    const emulated = expect.arrayContaining(['customHostnames.create']);
    await refuses(mine.zones.settings.get('ssl', { zone_id }), 501, 7000, { operation, emulated });
  });
});
