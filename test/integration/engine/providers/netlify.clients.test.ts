import { readFileSync } from 'node:fs';
import { Agent } from 'node:https';
import { NetlifyAPI, methods } from '@netlify/api';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { NETLIFY } from '../../../../main/providers/netlify/provider.ts';
import { checkCoverage, type Driven } from '../../../support/providers/coverage.ts';
import {
  startProviderEngine,
  thrownBy,
  type Connected,
  type ProviderEngine,
} from '../../../support/providers/engine.ts';
import { testFlows } from '../../../support/providers/flows.ts';

const TARGET = 'shop.vivarium.localhost';
const WWW = 'www.acme.test';
const CHALLENGE = 'SniCertificate::CertificateValidationError: Unable to verify challenge';

/** The operations that the client has called with success. */
const driven: Driven = new Set();

/** A client whose successful calls are noted. */
function clientOf({ token, proxyUrl, caFile }: Connected): NetlifyAPI {
  const agent = new Agent({ proxyEnv: { HTTPS_PROXY: proxyUrl }, ca: readFileSync(caFile) });
  // Its types take an agent for a text; `node-fetch`, which gets it, does not.
  const client = new NetlifyAPI(token, { agent: agent as unknown as string });
  return new Proxy(client, {
    get(target, name) {
      const call: unknown = Reflect.get(target, name);
      const method = methods.find(({ operationId }) => operationId === name);
      if (typeof call !== 'function' || method === undefined) return call;
      return async (...given: unknown[]) => {
        const answer: unknown = await Reflect.apply(call, target, given);
        driven.add(`${method.verb.toUpperCase()} /api/v1${method.path}`);
        return answer;
      };
    },
  });
}

/** The status and the body of a refused call. */
const refusal = (call: Promise<unknown>) => thrownBy(call).then(refusalOf);
function refusalOf(thrown: unknown): { status: number; json: unknown } {
  if (!(thrown instanceof Error) || !('json' in thrown) || !('status' in thrown)) throw thrown;
  return { status: Number(thrown.status), json: thrown.json };
}

/** What is wrong with members of a body. */
const wrong = (errors: object) => ({ status: 422, json: { errors } });
const TAKEN = wrong({ name: ['must be unique'] });

describe('Netlify’s API, by @netlify/api at its hard-coded host', () => {
  let engine: ProviderEngine;
  let mine: NetlifyAPI;
  let site_id: string;
  beforeEach(async () => {
    engine = await startProviderEngine();
    const connected = await engine.connect('netlify', 'shop', ['blog']);
    mine = clientOf(connected);
    site_id = connected.env['NETLIFY_SITE_ID'] ?? '';
  });
  afterAll(() => checkCoverage('@netlify/api 15.1.2', NETLIFY, driven));

  /** Changes the site, and waits for the first checks of its hostnames. */
  async function update(body: object) {
    const site = await mine.updateSite({ site_id, body });
    for (const hostname of [site.custom_domain, ...(site.domain_aliases ?? [])])
      if (hostname) await expect.poll(async () => (await engine.domain(hostname)).lastCheckedAt).toBeDefined();
    return site;
  }
  const provision = () => mine.provisionSiteTLSCertificate({ site_id });

  const read = () => mine.showSiteTLSCertificate({ site_id });
  const unready = (message: string) => ({ status: 422, json: { code: 422, message } });
  testFlows({
    engine: () => engine,
    target: TARGET,
    attach: (hostname) => update({ custom_domain: hostname }),
    check: () => provision().catch(async (thrown) => ({ ...refusalOf(thrown), ...(await read().catch(() => null)) })),
    read,
    expiry: async () => (await read()).expires_at,
    scheduled: 'PT21M',
    answers: {
      attached: { custom_domain: WWW, domain_aliases: [], ssl: false, url: `http://${WWW}` },
      wrong: unready('bad dns for custom domain'),
      right: { state: 'issued', domains: [WWW] },
      waits: { status: 422 },
      forbidden: { ...unready(CHALLENGE), state: 'pending', domains: [] },
      issuing: { state: 'pending', expires_at: null },
      ready: { state: 'issued', domains: [WWW] },
      expired: { state: 'expired' },
    },
    async once({ id }) {
      expect(id).toBe(site_id);
      expect(await mine.getAllCertificates({ site_id, domain: WWW })).toEqual([await read()]);
      expect(await mine.getSite({ site_id })).toMatchObject({ ssl: true, url: `https://${WWW}` });
      const again = 'certificate parameter is required when updating an existing certificate';
      expect(await refusal(provision())).toEqual(unready(again));
    },
  });

  it('has aliases beside a custom domain, and an apex by its A record', async () => {
    await update({ custom_domain: 'acme.test', domain_aliases: [WWW, '*.acme.test'] });
    await engine.put('acme.test', '@', 'A', '127.0.0.1');
    await engine.put('acme.test', 'www', 'CNAME', TARGET);
    expect(await provision()).toMatchObject({ domains: ['acme.test', WWW], state: 'issued' });
    expect(await mine.getSite({ site_id })).toMatchObject({ custom_domain: 'acme.test', ssl: true });
    // The former custom domain goes, unless it becomes an alias.
    const swapped = await update({ custom_domain: WWW, domain_aliases: ['acme.test'] });
    expect(swapped).toMatchObject({ custom_domain: WWW, domain_aliases: ['acme.test'] });
    const { expires_at: first } = await read();
    expect(await update({ custom_domain: 'new.acme.test' })).toMatchObject({ domain_aliases: ['acme.test'] });
    await engine.put('acme.test', 'new', 'CNAME', TARGET);
    await engine.call('clock.advance', { by: 'PT1H' });
    expect(await read()).toMatchObject({ domains: ['new.acme.test', 'acme.test'], expires_at: first });
    const names = (await engine.call('domains.list', {})).map(({ hostname }) => hostname);
    expect(names.toSorted()).toEqual(['acme.test', 'new.acme.test']);
  });

  it('refuses a hostname that another site has, until it is removed there', async () => {
    const rival = await engine.connect('netlify', 'rival');
    const theirs = clientOf(rival);
    const other = { site_id: rival.env['NETLIFY_SITE_ID'] ?? '' };
    await theirs.updateSite({ ...other, body: { custom_domain: 'acme.test' } });
    const taken = ['must be unique'];
    expect(await refusal(update({ custom_domain: 'acme.test' }))).toEqual(wrong({ custom_domain: taken }));
    // The names below it are another account’s too, and nothing of a refused change stays.
    const both = update({ custom_domain: 'free.test', domain_aliases: [WWW] });
    expect(await refusal(both)).toEqual(wrong({ domain_aliases: taken }));
    expect(await mine.getSite({ site_id })).toMatchObject({ custom_domain: null });
    // Within an account, another site may have a name below.
    await update({ custom_domain: 'mine.test' });
    const blog = await mine.updateSite({ site_id: 'blog', body: { custom_domain: 'blog.mine.test' } });
    expect(blog).toMatchObject({ custom_domain: 'blog.mine.test' });
    await update({ custom_domain: '' });
    await engine.put('acme.test', '@', 'A', '127.0.0.1');
    await theirs.updateSite({ ...other, body: { custom_domain: '' } });
    expect(await theirs.getSite(other)).toMatchObject({ custom_domain: null, url: expect.stringMatching(/^http:/) });
    expect(await update({ custom_domain: 'acme.test' })).toMatchObject({ custom_domain: 'acme.test' });
    await expect
      .poll(() => mine.showSiteTLSCertificate({ site_id }).catch(() => null))
      .toMatchObject({ ...{ state: 'issued', domains: ['acme.test'] } });
  });

  it.each<[what: string, body: object, errors: object]>([
    ['an address', { custom_domain: '192.0.2.1' }, { custom_domain: [expect.any(String)] }],
    ['a wildcard', { custom_domain: '*.acme.test' }, { custom_domain: ['must not be a wildcard'] }],
    ['aliases of nothing', { domain_aliases: [WWW] }, { domain_aliases: ['need a custom domain'] }],
    [
      'too many aliases',
      { custom_domain: WWW, domain_aliases: Array.from({ length: 101 }, (_, index) => `a${index}.acme.test`) },
      { domain_aliases: ['must be 100 at most'] },
    ],
  ])('refuses %s', async (_what, body, errors) => {
    expect(await refusal(update(body))).toEqual(wrong(errors));
  });

  it('makes the zone of a site with its records, and changes them', async () => {
    await update({ custom_domain: WWW, domain_aliases: ['acme.test'] });
    const [zone] = await mine.configureDNSForSite({ site_id });
    expect(zone).toMatchObject({ name: 'acme.test', site_id, dns_servers: expect.any(Array) });
    expect(await mine.getDNSForSite({ site_id })).toEqual([zone]);
    const { id: closer } = await createZone(mine, WWW);
    expect(await mine.getDNSForSite({ site_id })).toMatchObject([{ name: WWW }, { name: 'acme.test' }]);
    await mine.deleteDnsZone({ zone_id: closer ?? '' });
    expect(await provision()).toMatchObject({ state: 'issued', domains: [WWW, 'acme.test'] });
    const zone_id = zone?.id ?? '';
    expect(await mine.getDnsRecords({ zone_id })).toMatchObject([
      { hostname: 'acme.test', type: 'A', value: '127.0.0.1' },
      { hostname: WWW, type: 'CNAME', value: TARGET, ttl: 3600, managed: false, dns_zone_id: zone_id },
    ]);
    const add = (body: object) => mine.createDnsRecord({ zone_id, body });
    const mx = await add({ type: 'MX', hostname: 'acme.test', value: 'mx.acme.test', priority: 5, ttl: 60 });
    expect(mx).toMatchObject({ hostname: 'acme.test', value: 'mx.acme.test', priority: 5, ttl: 60 });
    const caa = await add({ type: 'CAA', hostname: 'acme.test', value: 'vivarium.localhost', flag: 0, tag: 'issue' });
    expect(caa).toMatchObject({ type: 'CAA', value: 'vivarium.localhost', flag: 0, tag: 'issue', ttl: 3600 });
    const srv = { type: 'SRV', hostname: '_sip._tcp.acme.test', value: 'sip.acme.test', priority: 1, weight: 2 };
    expect(await add({ ...srv, port: 5060 })).toMatchObject({ ...srv, port: 5060 });
    const dns_record_id = mx.id ?? '';
    expect(await mine.getIndividualDnsRecord({ zone_id, dns_record_id })).toEqual(mx);
    await mine.deleteDnsRecord({ zone_id, dns_record_id });
    expect(await refusal(mine.getIndividualDnsRecord({ zone_id, dns_record_id }))).toMatchObject({ status: 404 });
    const beside = add({ type: 'CNAME', hostname: 'acme.test', value: 'x.test' });
    expect(await refusal(beside)).toMatchObject(wrong({ value: [expect.any(String)] }));
  });

  /** Its types give this operation no parameters. */
  const createZone = (client: NetlifyAPI, name: string) => {
    const create = client.createDnsZone as unknown as (given: {
      body: object;
    }) => ReturnType<typeof mine.createDnsZone>;
    return create.call(client, { body: { name } });
  };
  const zoneNames = async () => (await engine.call('zones.list')).map(({ name }) => name);

  it('adds a zone, and removes it unless another one has its place by now', async () => {
    const made = await createZone(mine, 'saas.test');
    const zone_id = made.id ?? '';
    expect(made).toMatchObject({ name: 'saas.test', errors: [], records: [] });
    expect(made.dns_servers?.join(' ')).toMatch(/^(dns[1-4]\.p0[1-9]\.nsone\.net ?){4}$/);
    expect(await mine.getDnsZones()).toEqual([made]);
    expect(await mine.getDnsZones({ account_slug: 'rival' })).toEqual([]);
    expect(await mine.getDnsZone({ zone_id })).toEqual(made);
    expect(await refusal(createZone(mine, 'saas.test'))).toEqual(TAKEN);
    await mine.deleteDnsZone({ zone_id });
    expect(await zoneNames()).toEqual([]);
    const gone = { status: 404, json: { code: 404, message: 'Not Found' } };
    expect(await refusal(mine.getDnsZone({ zone_id }))).toEqual(gone);
    await createZone(mine, 'saas.test');
    await engine.call('zones.remove', { name: 'saas.test' });
    await engine.call('clock.advance', { by: 'PT1S' });
    await engine.put('saas.test', 'www', 'A', '127.0.0.1');
    await mine.deleteDnsZone({ zone_id });
    expect(await zoneNames()).toEqual(['saas.test']);
  });

  it('has a zone of another provider while its name servers are those that were assigned', async () => {
    await engine.put('acme.test', 'www', 'A', '127.0.0.1');
    await update({ custom_domain: WWW });
    const [zone] = await mine.configureDNSForSite({ site_id });
    const zone_id = zone?.id ?? '';
    expect(zone).toMatchObject({ name: 'acme.test', records: [] });
    const add = () =>
      mine.createDnsRecord({ zone_id, body: { type: 'A', hostname: 'x.acme.test', value: '127.0.0.1' } });
    expect(await refusal(add())).toEqual(wrong({ zone: [expect.stringMatching(/^needs the name servers dns1\./)] }));
    expect(await engine.call('records.list', { zone: 'acme.test' })).toHaveLength(1);
    const servers = [];
    for (const server of zone?.dns_servers ?? []) servers.push(await engine.put('acme.test', '@', 'NS', server));
    expect(await mine.getDnsRecords({ zone_id })).toMatchObject([{ hostname: WWW, value: '127.0.0.1' }]);
    const { id: dns_record_id = '' } = await add();
    await engine.call('records.remove', { id: servers[0]?.id });
    expect(await mine.getDnsRecords({ zone_id })).toEqual([]);
    const hidden = { zone_id, dns_record_id };
    expect(await refusal(mine.getIndividualDnsRecord(hidden))).toMatchObject({ status: 404 });
    expect(await refusal(mine.deleteDnsRecord(hidden))).toMatchObject({ status: 404 });
    await mine.deleteDnsZone({ zone_id });
    expect(await engine.call('records.list', { zone: 'acme.test' })).toHaveLength(5);
  });

  it('reads, changes and removes no zone of another account, and makes none over its hostnames or the records of others', async () => {
    const rival = await engine.connect('netlify', 'rival');
    const theirs = clientOf(rival);
    const { id: zone_id = '' } = await createZone(theirs, 'rival.test');
    const body = { type: 'A', hostname: 'www.rival.test', value: '127.0.0.1' };
    const { id: dns_record_id = '' } = await theirs.createDnsRecord({ zone_id, body });
    expect(await mine.getDnsZones()).toEqual([]);
    for (const id of [zone_id, 'rival.test']) {
      const record = { zone_id: id, dns_record_id };
      const calls = [
        ...[mine.getDnsZone(record), mine.getDnsRecords(record), mine.createDnsRecord({ ...record, body })],
        ...[mine.getIndividualDnsRecord(record), mine.deleteDnsRecord(record), mine.deleteDnsZone(record)],
      ];
      for (const call of calls) expect(await refusal(call)).toMatchObject({ status: 404 });
    }
    expect(await theirs.getDnsRecords({ zone_id })).toMatchObject([{ id: dns_record_id }]);
    expect(await refusal(createZone(mine, 'rival.test'))).toEqual(TAKEN);
    const held = { site_id: rival.env['NETLIFY_SITE_ID'] ?? '', body: { custom_domain: 'www.held.test' } };
    await theirs.updateSite(held);
    expect(await refusal(createZone(mine, 'held.test'))).toEqual(TAKEN);
    await engine.put('example', 'www.acme', 'A', '127.0.0.1');
    const pending = await createZone(mine, 'acme.example');
    for (const server of pending.dns_servers ?? []) await engine.put('example', 'acme', 'NS', server);
    expect(await mine.getDnsZones()).toEqual([pending]);
    expect(pending.records).toEqual([]);
    expect(await refusal(createZone(mine, '*.acme.example'))).toMatchObject({ status: 422 });
    expect((await zoneNames()).toSorted()).toEqual(['example', 'rival.test']);
  });

  it('knows its own sites only, by their id, name or hostname', async () => {
    await update({ custom_domain: WWW });
    // Without a primary hostname, the oldest is the custom domain.
    await engine.call('domains.setPrimary', { projectId: 'shop', hostname: null });
    expect(await mine.getSite({ site_id })).toMatchObject({ custom_domain: WWW });
    for (const each of ['shop', WWW]) expect(await mine.getSite({ site_id: each })).toMatchObject({ id: site_id });
    expect(await mine.getSite({ site_id: 'blog' })).toMatchObject({ name: 'blog', account_slug: 'shop' });
    expect(await refusal(mine.getSite({ site_id: 'rival' }))).toMatchObject({ status: 404 });
    const foreign = mine.getAllCertificates({ site_id: 'blog', domain: WWW });
    expect(await refusal(foreign)).toMatchObject({ status: 404 });
    expect(await refusal(mine.showSiteTLSCertificate({ site_id: 'blog' }))).toMatchObject({ status: 404 });
    const none = mine.provisionSiteTLSCertificate({ site_id: 'blog' });
    expect(await refusal(none)).toMatchObject({ status: 422, json: { message: 'No custom domain configured' } });
  });

  it('lists its own sites, in pages that end', async () => {
    const names = async (query: object) => (await mine.listSites(query)).map(({ name }) => name);
    expect(await names({})).toEqual(['shop', 'blog']);
    expect(await names({ name: 'blo' })).toEqual(['blog']);
    const seen: (string | undefined)[] = [];
    for (let page = 1, found = await names({ page, per_page: 1 }); found.length > 0; page++) {
      seen.push(...found);
      found = await names({ page: page + 1, per_page: 1 });
    }
    expect(seen).toEqual(['shop', 'blog']);
    expect((await refusal(mine.listSites({ page: -1 }))).status).toBe(422);
  });

  it('waits as its rate header says, and is answered', async () => {
    const api = (await engine.connect('netlify', 'blog')).rest('https://api.netlify.com/api/v1');
    const call = () => api('GET', '/sites/blog');
    const first = await call();
    expect(first.headers.get('x-ratelimit-limit')).toBe('500');
    expect(first.headers.get('x-ratelimit-remaining')).toBe('499');
    const refused = await engine.beyond(call, { calls: 499, waitS: 0, by: 'PT1M1S' });
    expect(refused.body).toEqual({ code: 429, message: expect.any(String) });
    const waits = Number(refused.headers.get('x-ratelimit-reset')) - Date.now() / 1_000;
    expect(waits).toBeGreaterThan(0);
    expect(waits).toBeLessThan(61);
  });

  it('refuses other tokens, and answers 501 with the name of what is not emulated', async () => {
    const blog = await engine.connect('netlify', 'blog');
    const foreign = { authorization: 'Bearer nfp_0123456789abcdefghijABCDEFGHIJ0123456789' };
    expect(await blog.refused('https://api.netlify.com/api/v1/sites/blog', foreign)).toMatchObject([
      [401, { code: 401, message: 'Access Denied' }],
      [401, { message: /takes its own tokens only/ }],
    ]);
    const { status, json } = await refusal(mine.getCurrentUser());
    expect(status).toBe(501);
    expect(json).toMatchObject({
      code: 501,
      operation: 'GET /api/v1/user',
      emulated: expect.arrayContaining(['updateSite']),
    });
    const pem = { certificate: 'PEM', key: 'PEM', ca_certificates: 'PEM' };
    expect((await refusal(mine.provisionSiteTLSCertificate({ site_id, ...pem }))).status).toBe(501);
  });
});
