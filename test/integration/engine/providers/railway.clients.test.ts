import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { RAILWAY } from '../../../../main/providers/railway/provider.ts';
import { checkCoverage, type Driven } from '../../../support/providers/coverage.ts';
import { startProviderEngine, type Connected, type ProviderEngine } from '../../../support/providers/engine.ts';
import { testFlows } from '../../../support/providers/flows.ts';

const TARGET = 'shop.vivarium.localhost';
const WWW = 'www.acme.test';
const URL = 'https://backboard.railway.com/graphql/v2';

/** The root fields that were answered without an error. */
const driven: Driven = new Set();

interface Status {
  verified: boolean;
  verificationDnsHost: string;
  verificationToken: string;
  certificateStatus: string;
  certificates: { expiresAt: string }[];
  dnsRecords: { fqdn: string; requiredValue: string }[];
}
interface CustomDomain {
  id: string;
  domain: string;
  status: Status;
}
interface Answer<Data> {
  status: number;
  headers: Headers;
  data: Data | null;
  errors?: { message: string; path?: string[]; extensions?: object }[];
}

const STATUS = `status {
  verified verificationDnsHost verificationToken cdnProvider
  dnsRecords { hostlabel fqdn zone recordType requiredValue currentValue status purpose }
  certificateStatus certificateStatusDetailed certificateErrorMessage certificateErrorType certificateRetryable
  certificates { issuedAt expiresAt domainNames fingerprintSha256 keyType }
}`;
const DOMAIN = `id domain projectId serviceId environmentId targetPort syncStatus createdAt updatedAt ${STATUS}`;

const QUERIES = {
  available: 'query ($domain: String!) { customDomainAvailable(domain: $domain) { available message } }',
  get: `query ($id: String!, $projectId: String!) { customDomain(id: $id, projectId: $projectId) { ${DOMAIN} } }`,
  list: `query List($projectId: String!, $environmentId: String!, $serviceId: String!) {
    domains(projectId: $projectId, environmentId: $environmentId, serviceId: $serviceId) {
      serviceDomains { id domain suffix }
      customDomains { ...parts }
    }
  }
  fragment parts on CustomDomain { ${DOMAIN} }`,
  create: `mutation ($input: CustomDomainCreateInput!) { customDomainCreate(input: $input) { ${DOMAIN} } }`,
  update: `mutation ($environmentId: String!, $id: String!, $targetPort: Int) {
    customDomainUpdate(environmentId: $environmentId, id: $id, targetPort: $targetPort)
  }`,
  remove: 'mutation ($id: String!) { customDomainDelete(id: $id) }',
  issue: 'mutation ($id: String!) { customDomainIssueCertificate(id: $id) }',
};

/** The custom domains of a project’s service. */
function serviceOf({ token, fetch, env }: Connected) {
  const [projectId, serviceId, environmentId] = ['PROJECT', 'SERVICE', 'ENVIRONMENT'].map(
    (name) => env[`RAILWAY_${name}_ID`] ?? '',
  );
  const place = { projectId, serviceId, environmentId };
  async function ask<Data>(query: string, variables: object = {}, headers: object = {}): Promise<Answer<Data>> {
    const all = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers };
    const response = await fetch(URL, { method: 'POST', headers: all, body: JSON.stringify({ query, variables }) });
    const answer = (await response.json()) as Pick<Answer<Data>, 'data' | 'errors'>;
    if (answer.errors === undefined)
      for (const name of Object.keys(answer.data ?? {})) driven.add(`POST /graphql/v2#${name}`);
    if (response.ok) driven.add('POST /graphql/v2');
    return { status: response.status, headers: response.headers, ...answer };
  }
  return {
    ...{ ask, place },
    create: (domain: string, more = {}) =>
      ask<{ customDomainCreate: CustomDomain }>(QUERIES.create, { input: { domain, ...place, ...more } }),
    get: async (id: string) =>
      (await ask<{ customDomain: CustomDomain }>(QUERIES.get, { id, projectId })).data?.customDomain,
    list: async () =>
      (await ask<{ domains: { customDomains: CustomDomain[]; serviceDomains: object[] } }>(QUERIES.list, place)).data
        ?.domains,
    issue: (id: string) => ask(QUERIES.issue, { id }),
    remove: (id: string) => ask(QUERIES.remove, { id }),
    available: async (domain: string) =>
      (await ask<{ customDomainAvailable: object }>(QUERIES.available, { domain })).data?.customDomainAvailable,
  };
}

describe('Railway’s GraphQL API, by bare fetch at its hard-coded host', () => {
  let engine: ProviderEngine;
  let connected: Connected;
  let mine: ReturnType<typeof serviceOf>;
  beforeEach(async () => {
    engine = await startProviderEngine();
    connected = await engine.connect('railway', 'shop', ['blog']);
    mine = serviceOf(connected);
  });
  afterAll(() => checkCoverage('bare `fetch`, as the command line has no build for npm alone', RAILWAY, driven));

  async function created(domain = WWW) {
    const { data } = await mine.create(domain);
    const { id = '', status } = data?.customDomainCreate ?? {};
    await expect.poll(async () => (await engine.domain(domain)).lastCheckedAt).toBeDefined();
    return { id, status };
  }
  /** The record by which a hostname of `acme.test` is verified. */
  const prove = (status: Status | undefined) =>
    engine.put('acme.test', status?.verificationDnsHost ?? '', 'TXT', status?.verificationToken ?? '');

  const traffic = { fqdn: WWW, hostlabel: 'www', zone: 'acme.test', recordType: 'DNS_RECORD_TYPE_CNAME' };
  const valid = { verified: true, certificateStatus: 'CERTIFICATE_STATUS_TYPE_VALID', certificateErrorMessage: null };
  testFlows({
    engine: () => engine,
    target: TARGET,
    attach: created,
    prove: ({ status }) => prove(status),
    async check({ id }) {
      expect((await mine.issue(id)).data).toEqual({ customDomainIssueCertificate: true });
      return await mine.get(id);
    },
    read: ({ id }) => mine.get(id),
    expiry: async ({ id }) => (await mine.get(id))?.status.certificates[0]?.expiresAt,
    answers: {
      attached: {
        status: {
          ...{ verified: false, verificationDnsHost: '_railway-verify.www', certificates: [] },
          verificationToken: expect.stringMatching(/^railway-verify=[0-9a-f]{64}$/),
          certificateStatus: 'CERTIFICATE_STATUS_TYPE_VALIDATING_OWNERSHIP',
        },
      },
      wrong: {
        status: {
          dnsRecords: [
            {
              ...{ ...traffic, requiredValue: TARGET, currentValue: 'elsewhere.acme.test' },
              ...{ status: 'DNS_RECORD_STATUS_REQUIRES_UPDATE', purpose: 'DNS_RECORD_PURPOSE_TRAFFIC_ROUTE' },
            },
          ],
        },
      },
      unproven: {
        status: {
          ...{ verified: false, certificateStatus: 'CERTIFICATE_STATUS_TYPE_VALIDATING_OWNERSHIP' },
          dnsRecords: [{ status: 'DNS_RECORD_STATUS_PROPAGATED', currentValue: TARGET }],
        },
      },
      right: {
        ...{ domain: WWW, syncStatus: 'ACTIVE', targetPort: null },
        status: { ...valid, certificates: [{ domainNames: [WWW], keyType: 'KEY_TYPE_ECDSA' }] },
      },
      waits: { status: { verified: false } },
      forbidden: {
        status: {
          verified: true,
          certificateStatus: 'CERTIFICATE_STATUS_TYPE_ISSUE_FAILED',
          certificateStatusDetailed: 'CERTIFICATE_STATUS_TYPE_DETAILED_FAILED',
          certificateErrorType: 'CERTIFICATE_ERROR_TYPE_AUTHORIZATION_FAILED',
          certificateErrorMessage: `CAA record for ${WWW} prevents issuance`,
          certificateRetryable: true,
        },
      },
      issuing: { status: { certificateStatus: 'CERTIFICATE_STATUS_TYPE_ISSUING' } },
      ready: { status: { ...valid, certificateErrorType: null, certificateRetryable: null } },
      expired: { status: { certificateStatus: 'CERTIFICATE_STATUS_TYPE_ISSUE_FAILED' } },
    },
    once: async ({ id }) => expect(await mine.get(id)).toMatchObject(mine.place),
  });

  it('takes an apex with an alias, and a wildcard with the delegation', async () => {
    const apex = await created('acme.test');
    expect(apex.status).toMatchObject({ verificationDnsHost: '_railway-verify', dnsRecords: [{ hostlabel: '@' }] });
    await engine.put('acme.test', '@', 'ALIAS', TARGET);
    await prove(apex.status);
    await mine.issue(apex.id);
    expect((await mine.get(apex.id))?.status.certificateStatus).toBe('CERTIFICATE_STATUS_TYPE_VALID');
    const { id, status } = await created('*.acme.test');
    await prove(status);
    expect((await mine.get(id))?.status.verified).toBe(true);
    await engine.put('acme.test', '*', 'CNAME', TARGET);
    await mine.issue(id);
    const waiting = (await mine.get(id))?.status;
    expect(waiting?.certificateStatus).toBe('CERTIFICATE_STATUS_TYPE_VALIDATING_OWNERSHIP');
    const challenge = waiting?.dnsRecords[1];
    expect(challenge).toMatchObject({
      hostlabel: '_acme-challenge',
      purpose: 'DNS_RECORD_PURPOSE_ACME_DNS01_CHALLENGE',
    });
    await engine.put('acme.test', '_acme-challenge', 'CNAME', challenge?.requiredValue ?? '');
    expect((await mine.get(id))?.status.certificateStatus).toBe('CERTIFICATE_STATUS_TYPE_VALID');
  });

  it('refuses a hostname that another service has, until it is removed there, and then needs a proof', async () => {
    const theirs = serviceOf(await engine.connect('railway', 'rival'));
    const { id: used = '' } = (await theirs.create(WWW)).data?.customDomainCreate ?? {};
    const message = `Domain ${WWW} is already in use by another service`;
    expect(await mine.available(WWW)).toEqual({ available: false, message });
    expect(await mine.create(WWW)).toMatchObject({
      status: 200,
      data: null,
      errors: [{ message, path: ['customDomainCreate'] }],
    });
    await engine.put('acme.test', 'www', 'CNAME', 'rival.vivarium.localhost');
    expect((await theirs.remove(used)).data).toEqual({ customDomainDelete: true });
    expect(await mine.available(WWW)).toEqual({ available: true, message: '' });
    const { id } = await created();
    await mine.issue(id);
    expect((await mine.get(id))?.status).toMatchObject({ verified: false });
    expect((await theirs.ask(QUERIES.get, { id, projectId: theirs.place.projectId })).errors).toMatchObject([
      { message: 'Custom domain not found' },
    ]);
  });

  it('lists the domains of a service, keeps a port, and answers what the panel of the window asks', async () => {
    const { id } = (await mine.create(WWW, { targetPort: 8080 })).data?.customDomainCreate ?? { id: '' };
    await mine.create('acme.test');
    const { environmentId } = mine.place;
    expect(await mine.ask(QUERIES.update, { environmentId, id, targetPort: 9090 })).toMatchObject({
      data: { customDomainUpdate: true },
    });
    expect(await mine.list()).toMatchObject({
      serviceDomains: [{ domain: TARGET, suffix: 'vivarium.localhost' }],
      customDomains: [
        { id, domain: WWW, targetPort: 9090 },
        { domain: 'acme.test', targetPort: null },
      ],
    });
    expect(await engine.call('providers.ask', { hostname: WWW })).toMatchObject({
      provider: 'railway',
      answers: [{ call: 'POST /graphql/v2#customDomain', status: 200, body: { data: { customDomain: { id } } } }],
    });
  });

  it('refuses what is wrong in a document and its variables', async () => {
    const errors = async (query: string, variables = {}) => {
      const answer = await mine.ask(query, variables);
      return [answer.status, answer.errors?.[0]?.message];
    };
    expect(await errors('{')).toEqual([400, expect.stringMatching(/^Syntax Error/)]);
    // A run of characters that may be a token is not repeated.
    const found = 'Syntax Error: Expected "$", found Name "-".';
    expect(await errors('query (fo1_0123456789abcdef')).toEqual([400, found]);
    expect(await errors(`{ customDomainAvailable { available } }`)).toEqual([400, expect.stringContaining('required')]);
    expect(await errors(QUERIES.get, { id: 7 })).toEqual([400, expect.stringContaining('Variable')]);
    expect(await errors(`{ a: __typename ${' b: __typename'.repeat(1_000)} }`)).toEqual([
      400,
      expect.stringContaining('more than 1000 tokens'),
    ]);
    expect(await errors(QUERIES.create, { input: { ...mine.place, domain: '192.0.2.1' } })).toEqual([
      200,
      expect.stringMatching(/^Invalid domain/),
    ]);
    const elsewhere = { ...mine.place, projectId: 'rival', domain: WWW };
    expect(await errors(QUERIES.create, { input: elsewhere })).toEqual([200, 'Project not found']);
    const query = '{ __type(name: "CustomDomainStatus") { fields { name } } }';
    expect((await mine.ask<object>(query)).data).toMatchObject({ __type: { fields: expect.any(Array) } });
  });

  it('refuses more than 1,000 calls in an hour', async () => {
    const call = () => mine.ask<object>('{ __typename }');
    const refused = await engine.beyond(call, { calls: 1_000, waitS: 3_000, by: 'PT1H1S' });
    expect(refused).toMatchObject({ data: null, errors: [{ message: expect.any(String) }] });
    expect(refused.headers.get('x-ratelimit-limit')).toBe('1000');
  });

  it('takes the token of a project as its command line sends it, and no other', async () => {
    const { fetch, token } = connected;
    const call = async (headers: Record<string, string>) => {
      const all = { 'content-type': 'application/json', ...headers };
      const response = await fetch('https://backboard.railway.app/graphql/v2', {
        ...{ method: 'POST', headers: all, body: JSON.stringify({ query: '{ __typename }' }) },
      });
      return (await response.json()) as unknown;
    };
    expect(await call({ 'project-access-token': token })).toEqual({ data: { __typename: 'Query' } });
    expect(await call({})).toEqual({ errors: [{ message: 'Not Authorized' }], data: null });
    expect(await call({ 'project-access-token': '0d89c70d-ad9f-4843-b99f-6cc0252067e9' })).toMatchObject({
      errors: [{ message: expect.stringContaining('takes its own tokens only') }],
    });
  });

  it('answers 501 with the name of what is not emulated', async () => {
    for (const query of ['query { me { name } }', 'query { ...own } fragment own on Query { me { name } }']) {
      const refused = await mine.ask(query);
      expect(refused).toMatchObject({
        ...{ status: 501, data: null },
        errors: [{ extensions: { code: 'NOT_IMPLEMENTED', operation: 'me', emulated: expect.any(Array) } }],
      });
    }
    expect((await mine.ask('mutation { serviceDelete(id: "1") }')).status).toBe(501);
  });
});
