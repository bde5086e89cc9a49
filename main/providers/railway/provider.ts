import { z } from 'zod';
import { uuidOf } from '../../base/text/uuid.ts';
import { PLATFORM_ZONE, platformHostname } from '../../base/config.ts';
import type { Domain } from '../../contract/domains.ts';
import { HOUR_MS } from '../../contract/duration.ts';
import { isWildcard } from '../../contract/hostnames.ts';
import { relativeText } from '../../model/dns-name.ts';
import { failedOf, isAboutCaa, leadsHere, ownsProject, refusing } from '../domains.ts';
import { CONTEXT, type ProviderProject } from '../facts.ts';
import { ok, operation, refuse } from '../operations.ts';
import type { Call, Operation, Provider, Refusal, Reply } from '../provider.ts';
import type { Roots } from './graphql.ts';

/** A project has one service and one environment; stable, so neither is stored. */
export const serviceIdOf = ({ id }: ProviderProject): string => uuidOf(`${id} service`);
export const environmentIdOf = ({ id }: ProviderProject): string => uuidOf(`${id} production`);

/** The project of `projectId`. */
const projectIn = ({ account }: Call, text: unknown): ProviderProject =>
  account.projects.find(({ id, slug }) => id === text || slug === text) ?? refuse(404, '', 'Project not found');

/** The project of `projectId`, `serviceId` and `environmentId`. */
function serviceIn(call: Call, { projectId, serviceId, environmentId }: Record<string, unknown>): ProviderProject {
  const project = projectIn(call, projectId);
  if (serviceId !== serviceIdOf(project)) refuse(404, '', 'Service not found');
  return environmentId === environmentIdOf(project) ? project : refuse(404, '', 'Environment not found');
}

const idOf = ({ projectId, hostname, attachedAt }: Domain): string => uuidOf(`${projectId} ${hostname} ${attachedAt}`);

/** The domain of `id`, which may also be its hostname; of one project or of all. */
async function existing(call: Call, id: unknown, projects = call.account.projects) {
  for (const project of projects) {
    const found = (await call.world.domainsOf(project)).find((domain) => idOf(domain) === id || domain.hostname === id);
    if (found !== undefined) return { project, domain: found };
  }
  return refuse(404, '', 'Custom domain not found');
}

function keep({ world }: Call, project: ProviderProject, { hostname }: Domain, targetPort: unknown): void {
  const updatedAt = new Date(world.now()).toISOString();
  world.keepExtra(project, hostname, { targetPort: targetPort ?? null, updatedAt });
}

const without = (text: string): string => text.replace(/\.$/, '');

/** The records that a domain needs besides its TXT, and whether DNS has them. */
async function recordsOf({ world }: Call, project: ProviderProject, { hostname, checks }: Domain) {
  const { apex: zone } = world.hostname(hostname);
  const record = async (fqdn: string, requiredValue: string, purpose: string, isThere?: boolean) => {
    const [[cname = ''], [address = '']] = await Promise.all([world.resolve(fqdn, 'CNAME'), world.resolve(fqdn, 'A')]);
    const isRight = isThere ?? without(cname) === requiredValue;
    return {
      ...{ fqdn, hostlabel: relativeText(fqdn, zone), zone, recordType: 'DNS_RECORD_TYPE_CNAME', requiredValue },
      currentValue: without(cname) || address,
      status: `DNS_RECORD_STATUS_${isRight ? 'PROPAGATED' : 'REQUIRES_UPDATE'}`,
      purpose: `DNS_RECORD_PURPOSE_${purpose}`,
    };
  };
  const { name } = await world.target(project);
  const route = await record(hostname, name, 'TRAFFIC_ROUTE', leadsHere(checks));
  if (!isWildcard(hostname)) return [route];
  const target = `${uuidOf(`${project.id} ${hostname}`).slice(0, 8)}.authorize.railwaydns.net`;
  return [route, await record(`_acme-challenge.${hostname.slice(2)}`, target, 'ACME_DNS01_CHALLENGE')];
}

interface CertificateState {
  status: 'VALID' | 'ISSUING' | 'ISSUE_FAILED' | 'VALIDATING_OWNERSHIP';
  detailed: string;
  error?: { message: string; type: string };
}

/** `isReady`: the domain is verified, and its records are there. */
function issuanceOf({ hostname, certificate, checks }: Domain, isReady: boolean): CertificateState {
  const { state, reason } = certificate;
  const refusal = failedOf(checks).find(({ code }) => isAboutCaa(code) || code === 'suffix_not_permitted');
  if (state === 'issued' && isReady) return { status: 'VALID', detailed: 'COMPLETE' };
  if (state === 'failed' || state === 'expired' || (state === 'pending' && refusal !== undefined)) {
    const message = refusal?.words ?? refusal?.message ?? `The certificate of ${hostname} is ${state}.`;
    const error = { message, type: refusal === undefined ? 'UNSPECIFIED' : 'AUTHORIZATION_FAILED' };
    return { status: 'ISSUE_FAILED', detailed: 'FAILED', error };
  }
  if (isReady && reason === 'issuance_pending') return { status: 'ISSUING', detailed: 'FINALIZING_ORDER' };
  return { status: 'VALIDATING_OWNERSHIP', detailed: 'POLLING_AUTHORIZATIONS' };
}

async function statusOf(call: Call, project: ProviderProject, domain: Domain) {
  const { world } = call;
  const { hostname, verifiedAt, checks } = domain;
  const proof = world.proof(project, hostname);
  const [dnsRecords, hasText, issued] = await Promise.all([
    recordsOf(call, project, domain),
    world.isProven(proof),
    world.certificateOf(domain),
  ]);
  const verified = hasText || verifiedAt !== undefined;
  const isThere = dnsRecords.every(({ status }) => status === 'DNS_RECORD_STATUS_PROPAGATED');
  const { status, detailed, error } = issuanceOf(domain, verified && (isThere || !isWildcard(hostname)));
  const zone = dnsRecords[0]?.zone ?? hostname;
  const isProxied = checks.some(({ code }) => code === 'proxied');
  return {
    ...{ dnsRecords, verified, verificationDnsHost: relativeText(proof.name, zone), verificationToken: proof.value },
    cdnProvider: isProxied ? 'DETECTED_CDN_PROVIDER_CLOUDFLARE' : null,
    certificateStatus: `CERTIFICATE_STATUS_TYPE_${status}`,
    certificateStatusDetailed: `CERTIFICATE_STATUS_TYPE_DETAILED_${detailed}`,
    certificateErrorMessage: error?.message ?? null,
    certificateErrorType: error === undefined ? null : `CERTIFICATE_ERROR_TYPE_${error.type}`,
    certificateRetryable: error === undefined ? null : true,
    certificates: (issued === null ? [] : [issued]).map(({ notBefore, notAfter, sans, fingerprint }) => ({
      ...{ issuedAt: notBefore, expiresAt: notAfter, domainNames: sans, keyType: 'KEY_TYPE_ECDSA' },
      fingerprintSha256: fingerprint.replaceAll(':', '').toLowerCase(),
    })),
  };
}

/** Where both kinds of domains are; GraphQL answers null for members that are absent. */
const placeOf = (project: ProviderProject) => ({
  ...{ projectId: project.id, serviceId: serviceIdOf(project), environmentId: environmentIdOf(project) },
  syncStatus: 'ACTIVE',
});

async function shown(call: Call, project: ProviderProject, domain: Domain) {
  const status = await statusOf(call, project, domain);
  const { targetPort = null, updatedAt = domain.attachedAt } = call.world.extrasOf(project).get(domain.hostname) ?? {};
  const isRight = status.dnsRecords[0]?.status === 'DNS_RECORD_STATUS_PROPAGATED';
  const wrong = failedOf(domain.checks)[0];
  return {
    ...{ id: idOf(domain), domain: domain.hostname, isRailwayDomain: false, status },
    ...{ createdAt: domain.attachedAt, updatedAt, targetPort },
    cnameCheck: { message: wrong?.message ?? '', status: isRight ? 'VALID' : 'WAITING' },
    ...placeOf(project),
  };
}

async function create(call: Call, input: Record<string, unknown>) {
  const { world } = call;
  const project = serviceIn(call, input);
  const refused = (fault: string) => refuse(400, '', `Invalid domain. ${fault}`);
  const { hostname } = world.hostname(String(input['domain']), refused);
  await world.attachFree(project, hostname, () => refuse(400, '', unavailable(call, hostname)));
  const domain = await world.services.domains.get({ hostname }, CONTEXT);
  keep(call, project, domain, input['targetPort']);
  const made = await shown(call, project, domain);
  world.beginCheck(hostname);
  return made;
}

/** Why a hostname cannot be added; '' if it can. */
function unavailable({ world, account }: Call, hostname: string): string {
  const held = world.held(hostname);
  if (held === null) return '';
  const where = ownsProject(account, held.projectId) ? 'a service of this account' : 'another service';
  return `Domain ${hostname} is already in use by ${where}`;
}

/** The emulated fields of `Query` and `Mutation`. */
const FIELDS: Readonly<Record<string, (call: Call, args: Record<string, unknown>) => unknown>> = {
  async customDomain(call, { id, projectId }) {
    const { project, domain } = await existing(call, id, [projectIn(call, projectId)]);
    return shown(call, project, domain);
  },
  async customDomainAvailable(call, { domain }) {
    const find = () => unavailable(call, call.world.hostname(String(domain)).hostname);
    const message = await refusing(find, (error) => `Invalid domain. ${error.message}`);
    return { available: message === '', message };
  },
  async domains(call, args) {
    const project = serviceIn(call, args);
    const domain = platformHostname(project.slug, 'production');
    const serviceDomain = { id: uuidOf(domain), domain, suffix: PLATFORM_ZONE, ...placeOf(project) };
    const customDomains: unknown[] = [];
    for (const each of await call.world.domainsOf(project)) customDomains.push(await shown(call, project, each));
    return { customDomains, serviceDomains: [serviceDomain] };
  },
  customDomainCreate: (call, { input }) => create(call, input as Record<string, unknown>),
  async customDomainUpdate(call, { environmentId, id, targetPort }) {
    const { project, domain } = await existing(call, id);
    if (environmentId !== environmentIdOf(project)) refuse(404, '', 'Environment not found');
    keep(call, project, domain, targetPort);
    return true;
  },
  async customDomainDelete(call, { id }) {
    const { hostname } = (await existing(call, id)).domain;
    await call.world.services.domains.remove({ hostname }, CONTEXT);
    return true;
  },
  async customDomainIssueCertificate(call, { id }) {
    await call.world.verify((await existing(call, id)).domain.hostname);
    return true;
  },
};

const request = z.object({
  query: z.string(),
  variables: z.record(z.string(), z.unknown()).nullish(),
  operationName: z.string().nullish(),
});

/** All calls are of this one; its parser is loaded with the first. */
async function graphql(call: Call, asked: z.infer<typeof request>): Promise<Reply> {
  const { answer } = await import('./graphql.ts');
  const roots: Roots = Object.fromEntries(
    Object.entries(FIELDS).map(([name, resolve]) => [name, async (args) => await resolve(call, args)]),
  );
  const answered = await answer(asked, roots);
  return 'missing' in answered ? missing(answered.missing) : answered;
}

function missing(name: string): never {
  const emulated = Object.keys(FIELDS);
  const message = `Vivarium does not emulate ${name} of Railway’s API. Emulated: ${emulated.join(', ')}.`;
  return refuse(501, 'not_emulated', message, { operation: name, emulated });
}

const PATH = '/graphql/v2';

export const OPERATIONS: readonly Operation[] = [
  operation('graphql', `POST ${PATH}`, graphql, { input: request }),
  // No request has a fragment in its path: these are asked by name, and counted.
  ...Object.entries(FIELDS).map(([name, resolve]) =>
    operation(name, `POST ${PATH}#${name}`, async (call) => ok({ data: { [name]: await resolve(call, call.params) } })),
  ),
];

/** GraphQL’s form of errors. */
const failure = ({ status, code, message, more }: Refusal): Reply => {
  const extensions = code === 'not_emulated' && { extensions: { code: 'NOT_IMPLEMENTED', ...more } };
  return { status, body: { errors: [{ message, ...extensions }], data: null } };
};

/** Railway’s custom domains, by railwayapp/cli and docs.railway.com of August 2026. */
export const RAILWAY: Provider = {
  id: 'railway',
  credentials: ['authorization', 'project-access-token'],
  variables: {
    token: ['RAILWAY_TOKEN', 'RAILWAY_API_TOKEN'],
    ids: ({ projects: [project] }) => ({
      ...{ RAILWAY_PROJECT_ID: project.id, RAILWAY_SERVICE_ID: serviceIdOf(project) },
      RAILWAY_ENVIRONMENT_ID: environmentIdOf(project),
    }),
    unset: ['RAILWAY_ACCESS_TOKEN', 'RAILWAY_PROJECT_TOKEN', 'RAILWAY_CALLER'],
  },
  operations: OPERATIONS,
  asks: ({ id: projectId }, id) => [{ name: 'customDomain', params: { id, projectId } }],
  // docs.railway.com/integrations/api: of the plan Hobby, which also has ten a second.
  limits: { default: { perMinute: 1_000, perDay: Infinity, minuteMs: HOUR_MS } },
  refusals: {
    missing_token: { status: 200, message: 'Not Authorized' },
    wrong_token: { status: 200, message: 'Not Authorized. …' },
  },
  failure,
  unsettled: [
    'A root field that is not emulated is answered 501 with its name, also one that Railway does not have. Documents have 1,000 tokens at most.',
    'A call without a token: 200 with *Not Authorized* in `errors`, as its command line reads it. An invalid document: 400. `errors` have no `extensions` otherwise.',
    'A project has one service and one environment. An `id` of a custom domain may also be its hostname.',
    'A hostname that another service has: refused, and not available; the words are Vivarium’s, as those of what is not found.',
    'The documentation’s words for statuses (PENDING, VALID, ISSUED …) are not those of the schema, which are answered.',
    '`verified` says that the TXT record is visible, or was when the domain was verified. The certificate needs it and the CNAME, a wildcard’s the delegation as well; its target is Vivarium’s own form.',
    '`certificateStatus` while the records are missing: VALIDATING_OWNERSHIP, with POLLING_AUTHORIZATIONS in detail; while an issuance takes time: ISSUING, FINALIZING_ORDER. Refused by CAA: ISSUE_FAILED, AUTHORIZATION_FAILED with the authority’s words, and retryable, although the next attempt comes by itself.',
    '`customDomainIssueCertificate` checks the domain again, and answers true also if no certificate is issued.',
    'The required value is the project’s own name for all of its domains; an apex has an ALIAS, as where CNAMEs are flattened.',
    '`targetPort` is kept, and leads nowhere. `cnameCheck`, the former form, follows `dnsRecords`. `syncStatus` is always ACTIVE.',
    'The limit is that of one plan, 1,000 an hour; its second limit, ten a second, is not counted. `X-RateLimit-Reset` is in Unix seconds.',
  ],
};
