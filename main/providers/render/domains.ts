import { hash } from 'node:crypto';
import { z } from 'zod';
import type { Domain } from '../../contract/domains.ts';
import { VivariumError } from '../../contract/errors.ts';
import { isWildcard } from '../../contract/wildcards.ts';
import { beginCheck } from '../claims.ts';
import { type Call, CONTEXT, type Operation, type ProviderProject, refuse, type Reply } from '../provider.ts';

const PAGE_DEFAULT = 20;
const PAGE_MAX = 100;

const creation = z.object({ name: z.string().min(1).max(1_000) });

const idOf = (prefix: string, text: string): string => `${prefix}-${hash('sha256', text).slice(0, 20)}`;

/** `srv-…`, stable, so it is not stored. */
export const serviceId = ({ id }: ProviderProject): string => idOf('srv', id);

const domainId = ({ projectId, hostname, attachedAt }: Domain): string =>
  idOf('cdm', `${projectId} ${hostname} ${attachedAt}`);

function serviceIn({ account, params }: Call): ProviderProject {
  const { serviceId: text = '' } = params;
  const found = account.projects.find((project) => [serviceId(project), project.id, project.slug].includes(text));
  return found ?? refuse(404, 'not_found', `Service not found: ${text}`);
}

function hostnameOf({ world }: Call, text: string): { hostname: string; apex: string } {
  const read = world.hostname(text);
  return 'fault' in read ? refuse(400, 'bad_request', `invalid domain name: ${read.fault}`) : read;
}

const redirectsOf = async ({ world }: Call, { id }: ProviderProject) =>
  (await world.services.domains.export({ projectId: id }, CONTEXT)).redirects;

/** The domains of a service, oldest first. */
async function domainsOf({ world }: Call, { id }: ProviderProject): Promise<Domain[]> {
  const all = await world.services.domains.list({ projectId: id }, CONTEXT);
  return [...all].toSorted((one, other) => Date.parse(one.attachedAt) - Date.parse(other.attachedAt));
}

/** The domain of `{customDomainIdOrName}`. */
async function existing(call: Call): Promise<{ service: ProviderProject; domain: Domain }> {
  const service = serviceIn(call);
  const { customDomainIdOrName: text = '' } = call.params;
  const found = (await domainsOf(call, service)).find((domain) => [domainId(domain), domain.hostname].includes(text));
  return { service, domain: found ?? refuse(404, 'not_found', `Custom domain not found: ${text}`) };
}

async function shown(call: Call, service: ProviderProject, domain: Domain) {
  const { hostname, kind, state, attachedAt } = domain;
  const { apex } = hostnameOf(call, hostname);
  const redirects = await redirectsOf(call, service);
  return {
    ...{ id: domainId(domain), name: hostname, domainType: kind, publicSuffix: apex.replace(/^[^.]+\./, '') },
    redirectForName: redirects.find(({ from }) => from === hostname)?.to ?? '',
    verificationStatus: state === 'verified' ? ('verified' as const) : ('unverified' as const),
    ...{ createdAt: attachedAt, server: { id: serviceId(service), name: service.slug } },
  };
}

/** `www` of an apex, and the apex of `www`; null for other names. */
function siblingOf(hostname: string, apex: string): string | null {
  if (hostname === apex) return `www.${apex}`;
  return hostname === `www.${apex}` ? apex : null;
}

function attach({ world }: Call, { id }: ProviderProject, hostname: string): void {
  try {
    world.attach(id, hostname);
  } catch (error) {
    if (error instanceof VivariumError && error.code === 'in_use')
      refuse(409, 'conflict', `domain already exists: ${hostname}`);
    throw error;
  }
}

/** Attaches a hostname, and its sibling, which redirects to it unless it is in use already. */
async function create(call: Call): Promise<Reply> {
  const { world } = call;
  const service = serviceIn(call);
  const { hostname, apex } = hostnameOf(call, (call.body as z.infer<typeof creation>).name);
  attach(call, service, hostname);
  const sibling = siblingOf(hostname, apex);
  const names = [hostname];
  if (sibling !== null && world.held(sibling) === null && !isWildcard(hostname)) {
    attach(call, service, sibling);
    const redirects = [...(await redirectsOf(call, service)), { from: sibling, to: hostname, status: 301 } as const];
    await world.services.domains.setRedirects({ projectId: service.id, redirects }, CONTEXT);
    names.push(sibling);
  }
  const made = await Promise.all(
    names.map(async (name) => shown(call, service, await world.services.domains.get({ hostname: name }, CONTEXT))),
  );
  for (const name of names) beginCheck(call, name);
  return { status: 201, body: made };
}

/** Removes a domain, and the sibling that redirects to it. */
async function remove(call: Call): Promise<Reply> {
  const { service, domain } = await existing(call);
  const { hostname } = domain;
  const sibling = siblingOf(hostname, hostnameOf(call, hostname).apex);
  const redirects = await redirectsOf(call, service);
  const follows = redirects.some(({ from, to }) => from === sibling && to === hostname);
  for (const name of [hostname, ...(follows && sibling !== null ? [sibling] : [])])
    await call.world.services.domains.remove({ hostname: name }, CONTEXT);
  return { status: 204, body: '' };
}

/** A page begins after the domain that its cursor names. The page after the last one is empty. */
async function list(call: Call): Promise<Reply> {
  const { query } = call;
  const service = serviceIn(call);
  const all = await Promise.all((await domainsOf(call, service)).map((domain) => shown(call, service, domain)));
  const names = query.getAll('name').flatMap((text) => text.split(','));
  const isWanted = (name: string, value: string): boolean => !query.has(name) || query.get(name) === value;
  const time = (name: string, usual: number): number => {
    const text = query.get(name);
    const at = text === null ? usual : Date.parse(text);
    return Number.isNaN(at) ? refuse(400, 'bad_request', `invalid ${name}`) : at;
  };
  const [after, before] = [time('createdAfter', -Infinity), time('createdBefore', Infinity)];
  const wanted = all.filter(
    ({ name, domainType, verificationStatus, createdAt }) =>
      (names.length === 0 || names.includes(name)) &&
      isWanted('domainType', domainType) &&
      isWanted('verificationStatus', verificationStatus) &&
      Date.parse(createdAt) > after &&
      Date.parse(createdAt) < before,
  );
  const text = query.get('limit') ?? String(PAGE_DEFAULT);
  const limit = /^[1-9]\d{0,8}$/.test(text)
    ? Math.min(Number(text), PAGE_MAX)
    : refuse(400, 'bad_request', 'invalid limit');
  const cursor = query.get('cursor');
  const last = cursor === null ? -1 : wanted.findIndex(({ id }) => cursorOf(id) === cursor);
  if (cursor !== null && last === -1) refuse(400, 'bad_request', 'invalid cursor');
  const page = wanted.slice(last + 1, last + 1 + limit);
  return { status: 200, body: page.map((customDomain) => ({ customDomain, cursor: cursorOf(customDomain.id) })) };
}

const cursorOf = (id: string): string => Buffer.from(id).toString('base64url');

const ALL = '/v1/services/{serviceId}/custom-domains';
const ONE = `${ALL}/{customDomainIdOrName}`;

export const DOMAINS: readonly Operation[] = [
  { name: 'ListCustomDomains', method: 'GET', path: ALL, handle: list },
  { name: 'CreateCustomDomain', method: 'POST', path: ALL, input: creation, limit: 'domains', handle: create },
  {
    name: 'RetrieveCustomDomain',
    method: 'GET',
    path: ONE,
    async handle(call) {
      const { service, domain } = await existing(call);
      return { status: 200, body: await shown(call, service, domain) };
    },
  },
  { name: 'DeleteCustomDomain', method: 'DELETE', path: ONE, limit: 'writes', handle: remove },
  {
    name: 'RefreshCustomDomain',
    method: 'POST',
    path: `${ONE}/verify`,
    limit: 'domains',
    async handle(call) {
      beginCheck(call, (await existing(call)).domain.hostname);
      return { status: 202, body: '' };
    },
  },
];
