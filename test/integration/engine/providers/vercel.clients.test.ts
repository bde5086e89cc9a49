import { Vercel } from '@vercel/sdk';
import { HTTPClient } from '@vercel/sdk/lib/http.js';
import { VercelError } from '@vercel/sdk/models/vercelerror.js';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { VERCEL } from '../../../../main/providers/vercel/provider.ts';
import { checkCoverage, type Driven } from '../../../support/providers/coverage.ts';
import {
  refusesBy,
  startProviderEngine,
  type Connected,
  type ProviderEngine,
} from '../../../support/providers/engine.ts';
import { testFlows } from '../../../support/providers/flows.ts';

const TARGET = 'cname.vivarium.localhost';
const WWW = 'www.acme.test';
const shop = { idOrName: 'shop' };
const www = { ...shop, domain: WWW };

/** The operations that the SDK has called with success. */
const driven: Driven = new Set();

function sdkOf({ token, fetch }: Connected): Vercel {
  const httpClient = new HTTPClient({ fetcher: (input, init) => fetch(input, init) });
  httpClient.addHook('response', (response, request) => {
    if (response.ok) driven.add(`${request.method} ${new URL(request.url).pathname}`);
  });
  return new Vercel({ bearerToken: token, httpClient });
}

/** The status and the error of a refused call. */
const refuses = refusesBy((thrown) => {
  if (!(thrown instanceof VercelError)) throw thrown;
  return { status: thrown.statusCode, ...(JSON.parse(thrown.body) as { error: object }).error };
});

describe('Vercel’s API, by @vercel/sdk at its hard-coded host', () => {
  let engine: ProviderEngine;
  let mine: Vercel;
  beforeEach(async () => {
    engine = await startProviderEngine();
    mine = sdkOf(await engine.connect('vercel', 'shop', ['blog']));
  });
  afterAll(() => checkCoverage('@vercel/sdk 1.28.35', VERCEL, driven));

  const add = (name: string, requestBody = {}) =>
    mine.projects.addProjectDomain({ ...shop, requestBody: { name, ...requestBody } });

  const config = (domain = WWW) => mine.domains.getDomainConfig({ domain });
  testFlows({
    engine: () => engine,
    target: TARGET,
    attach: add,
    async check() {
      const found = await config();
      expect((await mine.projects.verifyProjectDomain(www)).verified).toBe(true);
      return found;
    },
    read: () => config(),
    expiry: async () => (await mine.certs.getCerts({})).certs[0]?.expiresAt,
    answers: {
      attached: { name: WWW, apexName: 'acme.test', verified: true },
      wrong: {
        ...{ misconfigured: true, configuredBy: null, recommendedCNAME: [{ rank: 1, value: `${TARGET}.` }] },
      },
      right: { misconfigured: false, configuredBy: 'CNAME', acceptedChallenges: ['http-01'] },
      waits: { misconfigured: true },
      forbidden: { misconfigured: true, configuredBy: 'CNAME' },
      issuing: { misconfigured: false },
      ready: { misconfigured: false },
      expired: { misconfigured: true },
    },
    once: async () => expect((await mine.certs.getCerts({})).certs).toMatchObject([{ cns: [WWW], autoRenew: true }]),
  });

  it('configures an apex by its A record, and a wildcard', async () => {
    await add('acme.test');
    await add('*.acme.test');
    const { recommendedIPv4 } = await config('acme.test');
    await engine.put('acme.test', '@', 'A', recommendedIPv4[0]?.value[0] ?? '');
    expect(await config('acme.test')).toMatchObject({ misconfigured: false, configuredBy: 'A' });
    await engine.put('acme.test', '*', 'CNAME', TARGET);
    expect((await config('*.acme.test')).misconfigured).toBe(false);
  });

  it('issues no certificate that CAA forbids', async () => {
    await add(WWW);
    await engine.put('acme.test', 'www', 'CNAME', TARGET);
    const { id } = await engine.put('acme.test', '@', 'CAA', '0 issue "other-ca.example"');
    const issue = () => mine.certs.issueCert({ requestBody: { cns: [WWW] } });
    await refuses(issue(), 400, 'conflicting_caa_record');
    await refuses(mine.certs.issueCert({ requestBody: { cns: [WWW, 'acme.test'] } }), 400, 'bad_domains');
    await engine.call('records.remove', { id });
    const cert = await issue();
    expect(cert.cns).toEqual([WWW]);
    expect(await mine.certs.getCertById({ id: cert.id })).toEqual(cert);
    await mine.certs.removeCert({ id: cert.id });
    await refuses(mine.certs.getCertById({ id: cert.id }), 404, 'not_found');
  });

  it('asks for a TXT record where the hostname is in use elsewhere, and moves it once that is visible', async () => {
    const theirs = sdkOf(await engine.connect('vercel', 'rival'));
    await theirs.projects.addProjectDomain({ idOrName: 'rival', requestBody: { name: WWW } });
    const claimed = await add(WWW);
    const [challenge] = claimed.verification ?? [];
    expect(claimed.verified).toBe(false);
    expect(challenge).toMatchObject({
      type: 'TXT',
      domain: '_vercel.acme.test',
      reason: 'pending_domain_verification',
    });
    await refuses(mine.projects.verifyProjectDomain(www), 400, 'missing_txt_record', {
      message: `Domain _vercel.acme.test is missing required TXT Record "${challenge?.value}"`,
    });
    expect((await mine.projects.getProjectDomain(www)).verified).toBe(false);
    await engine.put('acme.test', '_vercel', 'TXT', challenge?.value ?? '');
    expect((await mine.projects.verifyProjectDomain(www)).verified).toBe(true);
    await refuses(theirs.projects.getProjectDomain({ idOrName: 'rival', domain: WWW }), 404, 'not_found');
  });

  it('refuses a redirect before it attaches or claims', async () => {
    for (const redirect of ['https://evil.example/x', 'javascript:alert(1)', WWW]) {
      await refuses(add(WWW, { redirect }), 400, 'bad_request');
      await refuses(mine.projects.getProjectDomain(www), 404);
    }
    const theirs = sdkOf(await engine.connect('vercel', 'rival'));
    await theirs.projects.addProjectDomain({ idOrName: 'rival', requestBody: { name: WWW } });
    const bad = { redirect: 'javascript:alert(1)' };
    await refuses(add(WWW, bad), 400);
    const claimed = await add(WWW, { redirect: 'other.test' });
    await refuses(mine.projects.updateProjectDomain({ ...www, requestBody: bad }), 400, 'bad_request');
    // Redirects that were made meanwhile may close a loop with the claim's.
    await add('other.test', { redirect: WWW });
    await engine.put('acme.test', '_vercel', 'TXT', claimed.verification?.[0]?.value ?? '');
    await refuses(mine.projects.verifyProjectDomain(www), 400);
    const kept = theirs.projects.getProjectDomain({ idOrName: 'rival', domain: WWW });
    expect(await kept).toMatchObject({ name: WWW, verified: true });
  });

  it('claims a registered domain of another account', async () => {
    const theirs = sdkOf(await engine.connect('vercel', 'rival'));
    await theirs.projects.addProjectDomain({ idOrName: 'rival', requestBody: { name: 'acme.test' } });
    const { txtRecord, verificationDomain } = await mine.domains.getDomainVerificationRecord({ domain: 'acme.test' });
    expect(verificationDomain).toBe('_vercel.acme.test');
    const claim = () => mine.domains.claimDomainOwnership({ domain: 'acme.test' });
    await refuses(claim(), 400, 'missing_txt_record');
    await engine.put('acme.test', '_vercel', 'TXT', txtRecord);
    expect((await claim()).domain).toMatchObject({ name: 'acme.test', verified: true });
    expect((await add(WWW)).verified).toBe(true);
    // Who claims it last has it.
    const back = await theirs.domains.getDomainVerificationRecord({ domain: 'acme.test' });
    await engine.put('acme.test', '_vercel', 'TXT', back.txtRecord);
    await engine.call('clock.advance', { by: 'PT1S' });
    await theirs.domains.claimDomainOwnership({ domain: 'acme.test' });
    expect((await add('x.acme.test')).verified).toBe(false);
    for (const server of ['ns1', 'ns2']) await engine.put('acme.test', '@', 'NS', `${server}.vercel-dns.com`);
    expect(await theirs.dns.getRecords({ domain: 'acme.test' })).toHaveProperty('records');
    await refuses(mine.dns.getRecords({ domain: 'acme.test' }), 404, 'not_found');
  });

  it('refuses what is on the project, and what another project of the account has', async () => {
    await add(WWW);
    const message = `Cannot add ${WWW} since it's already in use by one of your projects.`;
    await refuses(add(WWW), 400, 'domain_already_in_use', { message });
    const blog = mine.projects.addProjectDomain({ idOrName: 'blog', requestBody: { name: WWW } });
    await refuses(blog, 409, 'domain_already_in_use', { message, domain: { name: WWW } });
    await refuses(add('no hostname'), 400, 'invalid_domain');
    await refuses(mine.projects.getProjectDomains({ idOrName: 'rival' }), 404, 'not_found');
  });

  it('moves, redirects, updates and removes', async () => {
    await add('acme.test');
    await add(WWW, { redirect: 'acme.test' });
    expect(await mine.projects.getProjectDomain(www)).toMatchObject({ redirect: 'acme.test', redirectStatusCode: 307 });
    const permanent = mine.projects.updateProjectDomain({ ...www, requestBody: { redirectStatusCode: 308 } });
    expect(await permanent).toMatchObject({ redirect: 'acme.test', redirectStatusCode: 308 });
    await refuses(mine.projects.removeProjectDomain({ ...shop, domain: 'acme.test' }), 409);
    const changed = { ...www, requestBody: { redirect: null, gitBranch: 'next' } };
    expect(await mine.projects.updateProjectDomain(changed)).toMatchObject({ redirect: null, gitBranch: 'next' });
    const { id: projectId } = await engine.call('projects.get', { projectId: 'blog' });
    const moved = await mine.projects.moveProjectDomain({ ...www, requestBody: { projectId } });
    expect(moved).toMatchObject({ name: WWW, projectId });
    await mine.projects.removeProjectDomain({ idOrName: 'blog', domain: WWW });
    expect((await mine.projects.getProjectDomains({ idOrName: 'blog' })).domains).toEqual([]);
  });

  it('forgets what was kept beside a hostname that the window has removed', async () => {
    expect(await add(WWW, { gitBranch: 'next' })).toMatchObject({ gitBranch: 'next' });
    await engine.call('domains.remove', { hostname: WWW });
    await engine.call('clock.advance', { by: 'PT1S' });
    expect(await add(WWW)).toMatchObject({ gitBranch: null });
  });

  it('does not contest a name within an account', async () => {
    await mine.projects.addProjectDomain({ idOrName: 'blog', requestBody: { name: 'acme.test' } });
    expect((await add(WWW)).verified).toBe(true);
    await engine.put('acme.test', 'www', 'CNAME', TARGET);
    await mine.projects.verifyProjectDomain(www);
    expect(await engine.domain(WWW)).toMatchObject({ state: 'verified', certificate: { state: 'issued' } });
  });

  it('lists in pages that end', async () => {
    const names = Array.from({ length: 25 }, (_, index) => `t${index}.acme.test`);
    for (const name of names) await add(name);
    const seen: string[] = [];
    let until: number | undefined;
    for (let page = 0; page < 10; page++) {
      const { domains, pagination } = await mine.projects.getProjectDomains({ ...shop, limit: 10, until });
      seen.push(...domains.map(({ name }) => name));
      if (pagination.next === null) break;
      until = pagination.next;
    }
    expect(seen.toSorted()).toEqual(names.toSorted());
    expect(
      (await mine.domains.getDomainProjectDomains({ domain: 'acme.test', limit: 100 })).projectDomains,
    ).toHaveLength(25);
  });

  it('adds a registered domain with a zone, and writes its records', async () => {
    const added = await mine.domains.createOrTransferDomain({ requestBody: { name: 'new.test', zone: true } });
    expect(added.domain).toMatchObject({ name: 'new.test', serviceType: 'zeit.world', verified: true });
    const created = await mine.dns.createRecord({
      domain: 'new.test',
      requestBody: { name: 'mail', type: 'MX', value: 'mx.example.', mxPriority: 10 },
    });
    const record = async () => (await mine.dns.getRecords({ domain: 'new.test' })) as { records: { id: string }[] };
    expect((await record()).records).toMatchObject([{ name: 'mail', type: 'MX', value: 'mx.example', mxPriority: 10 }]);
    const recordId = 'uid' in created ? (created.uid ?? '') : '';
    const changed = await mine.dns.updateRecord({ recordId, requestBody: { ttl: 120 } });
    expect(changed).toMatchObject({ id: recordId, ttl: 120, recordType: 'MX', domain: 'new.test' });
    await mine.dns.removeRecord({ domain: 'new.test', recordId });
    expect((await record()).records).toEqual([]);
    expect((await mine.domains.getDomains({})).domains.map(({ name }) => name)).toEqual(['new.test']);
    expect((await mine.domains.getDomain({ domain: 'new.test' })).domain).toMatchObject({ name: 'new.test' });
    await mine.domains.deleteDomain({ domain: 'new.test' });
    await refuses(mine.domains.getDomain({ domain: 'new.test' }), 404);
  });

  it('removes a registered domain whose zone has gone, and no zone that came after it or is another provider’s', async () => {
    const make = () => mine.domains.createOrTransferDomain({ requestBody: { name: 'new.test', zone: true } });
    const zones = async () => (await engine.call('zones.list')).map(({ name }) => name);
    await make();
    await engine.call('zones.remove', { name: 'new.test' });
    await mine.domains.deleteDomain({ domain: 'new.test' });
    expect((await mine.domains.getDomains({})).domains).toEqual([]);
    await make();
    await engine.call('zones.remove', { name: 'new.test' });
    await engine.call('clock.advance', { by: 'PT1S' });
    await engine.put('new.test', 'www', 'A', '127.0.0.1');
    await mine.domains.deleteDomain({ domain: 'new.test' });
    expect(await zones()).toEqual(['new.test']);
    const { domain } = await make();
    expect(domain).toMatchObject({ serviceType: 'external', nameservers: ['ns.vivarium.localhost'] });
    await refuses(mine.dns.getRecords({ domain: 'new.test' }), 404);
    await refuses(
      mine.dns.createRecord({ domain: 'new.test', requestBody: { name: '', type: 'NS', value: 'x.test' } }),
      404,
    );
    for (const server of ['ns1', 'ns2']) await engine.put('new.test', '@', 'NS', `${server}.vercel-dns.com`);
    expect((await mine.domains.getDomain({ domain: 'new.test' })).domain).toMatchObject({ serviceType: 'zeit.world' });
    expect(await mine.dns.getRecords({ domain: 'new.test' })).toMatchObject({ records: [{ name: 'www', type: 'A' }] });
  });

  it('verifies fifty times an hour, and says when it does again', async () => {
    await add(WWW);
    const call = (await engine.connect('vercel', 'shop')).rest('https://api.vercel.com');
    const verify = () => call('POST', `/v9/projects/shop/domains/${WWW}/verify`);
    const refused = await engine.beyond(verify, { calls: 50, waitS: 3_500, by: 'PT1H1M' });
    expect(refused.headers.get('x-ratelimit-limit')).toBe('50');
    expect(refused.body).toMatchObject({ error: { code: 'rate_limited', limit: { remaining: 0, total: 50 } } });
  });

  it('says who calls', async () => {
    const { teams } = await mine.teams.getTeams({});
    const [{ id } = { id: '' }] = teams;
    expect(await mine.user.getAuthUser()).toMatchObject({ user: { username: 'vivarium', defaultTeamId: id } });
    expect(await mine.teams.getTeam({ teamId: id })).toMatchObject({ id, slug: 'vivarium' });
  });

  it('manages domains by the older operations of Vercel’s own command', async () => {
    const call = (await engine.connect('vercel', 'shop')).rest('https://api.vercel.com');
    expect(await call('GET', '/v9/projects/shop')).toMatchObject({ status: 200, body: { name: 'shop' } });
    const added = await call('POST', '/projects/shop/alias', { target: 'PRODUCTION', domain: WWW });
    expect(added).toMatchObject({ status: 200, body: [{ domain: WWW, verified: true }] });
    expect(await call('GET', `/project-domains/${WWW}`)).toMatchObject({ status: 200, body: { name: WWW } });
    await engine.put('acme.test', 'www', 'CNAME', TARGET);
    expect(await call('PATCH', '/v3/certs')).toMatchObject({
      status: 404,
      body: { error: { code: 'cert_order_not_found' } },
    });
    const issued = { status: 200, body: { uid: expect.stringMatching(/^cert_/), cns: [WWW] } };
    expect(await call('POST', '/v3/certs', { domains: [WWW] })).toMatchObject(issued);
    expect((await call('DELETE', `/projects/shop/alias?domain=${WWW}`)).status).toBe(200);
    expect((await call('GET', `/project-domains/${WWW}`)).status).toBe(404);
  });

  it('answers 501 with the name of what is not emulated', async () => {
    const more = { operation: 'GET /v7/deployments', emulated: expect.arrayContaining(['addProjectDomain']) };
    await refuses(mine.deployments.getDeployments({}), 501, 'not_implemented', more);
  });
});
