import { hash } from 'node:crypto';
import { z } from 'zod';
import type { Domain } from '../../contract/domains.ts';
import { HOUR_MS } from '../../contract/duration.ts';
import { cursorOf, pageAfter, refusing } from '../domains.ts';
import { CONTEXT, type ProviderProject } from '../facts.ts';
import { ok, operation, refuse } from '../operations.ts';
import type { Call, Operation, Provider, Refusal, Reply } from '../provider.ts';

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

const redirectsOf = async ({ world }: Call, { id }: ProviderProject) =>
  (await world.services.domains.export({ projectId: id }, CONTEXT)).redirects;

/** The domain of `{customDomainIdOrName}`. */
async function existing(call: Call): Promise<{ service: ProviderProject; domain: Domain }> {
  const service = serviceIn(call);
  const { customDomainIdOrName: text = '' } = call.params;
  const found = (await call.world.domainsOf(service)).find((domain) =>
    [domainId(domain), domain.hostname].includes(text),
  );
  return { service, domain: found ?? refuse(404, 'not_found', `Custom domain not found: ${text}`) };
}

async function shown(call: Call, service: ProviderProject, domains: readonly Domain[]) {
  const redirects = new Map((await redirectsOf(call, service)).map(({ from, to }) => [from, to]));
  const server = { id: serviceId(service), name: service.slug };
  return domains.map((domain) => {
    const { hostname, kind, state, attachedAt } = domain;
    const { apex } = call.world.hostname(hostname);
    return {
      ...{ id: domainId(domain), name: hostname, domainType: kind, publicSuffix: apex.replace(/^[^.]+\./, '') },
      redirectForName: redirects.get(hostname) ?? '',
      verificationStatus: state === 'verified' ? ('verified' as const) : ('unverified' as const),
      ...{ createdAt: attachedAt, server },
    };
  });
}

/** `www` of an apex, and the apex of `www`; null for other names. */
function siblingOf(hostname: string, apex: string): string | null {
  if (hostname === apex) return `www.${apex}`;
  return hostname === `www.${apex}` ? apex : null;
}

/** Attaches a hostname, and its sibling, which redirects to it unless it is in use already. */
async function create(call: Call, { name }: z.infer<typeof creation>): Promise<Reply> {
  const { world } = call;
  const service = serviceIn(call);
  const refused = (fault: string) => refuse(400, 'bad_request', `invalid domain name: ${fault}`);
  const { hostname, apex } = world.hostname(name, refused);
  await world.attachFree(service, hostname, () => refuse(409, 'conflict', `domain already exists: ${hostname}`));
  const sibling = siblingOf(hostname, apex);
  const names = [hostname];
  if (
    sibling !== null &&
    (await refusing(
      () => world.attach(service.id, sibling),
      () => 'refused',
    )) !== 'refused'
  ) {
    const redirects = [...(await redirectsOf(call, service)), { from: sibling, to: hostname, status: 301 } as const];
    await world.services.domains.setRedirects({ projectId: service.id, redirects }, CONTEXT);
    names.push(sibling);
  }
  const made = await Promise.all(names.map((name) => world.services.domains.get({ hostname: name }, CONTEXT)));
  const body = await shown(call, service, made);
  for (const name of names) world.beginCheck(name);
  return ok(body, 201);
}

/** Removes a domain, and the sibling that redirects to it. */
async function remove(call: Call): Promise<Reply> {
  const { service, domain } = await existing(call);
  const { hostname } = domain;
  const sibling = siblingOf(hostname, call.world.hostname(hostname).apex);
  const redirects = await redirectsOf(call, service);
  const follows = redirects.some(({ from, to }) => from === sibling && to === hostname);
  for (const name of [hostname, ...(follows && sibling !== null ? [sibling] : [])])
    await call.world.services.domains.remove({ hostname: name }, CONTEXT);
  return ok('', 204);
}

async function get(call: Call): Promise<Reply> {
  const { service, domain } = await existing(call);
  return ok((await shown(call, service, [domain]))[0]);
}

async function refresh(call: Call): Promise<Reply> {
  call.world.beginCheck((await existing(call)).domain.hostname);
  return ok('', 202);
}

/** The page after the last one is empty. */
async function list(call: Call): Promise<Reply> {
  const { query } = call;
  const service = serviceIn(call);
  const all = await shown(call, service, await call.world.domainsOf(service));
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
  const { page } = pageAfter(wanted, ({ id }) => id, {
    ...{ query, usual: PAGE_DEFAULT, max: PAGE_MAX },
    refuse: (name) => refuse(400, 'bad_request', `invalid ${name}`),
  });
  return ok(page.map((customDomain) => ({ customDomain, cursor: cursorOf(customDomain.id) })));
}

const ALL = '/v1/services/{serviceId}/custom-domains';
const ONE = `${ALL}/{customDomainIdOrName}`;

export const DOMAINS: readonly Operation[] = [
  operation('ListCustomDomains', `GET ${ALL}`, list),
  operation('CreateCustomDomain', `POST ${ALL}`, create, { input: creation, limit: 'domains' }),
  operation('RetrieveCustomDomain', `GET ${ONE}`, get),
  operation('DeleteCustomDomain', `DELETE ${ONE}`, remove, { limit: 'writes' }),
  operation('RefreshCustomDomain', `POST ${ONE}/verify`, refresh, { limit: 'domains' }),
];

/** `{"id","message"}` (render-oss/cli, `types_gen.go`). */
const failure = ({ status, code, message, more }: Refusal): Reply => ({
  status,
  body: { id: code, message, ...(code === 'not_emulated' && more) },
});

/** Render’s custom domains, by api-docs.render.com and render-oss/cli of August 2026. */
export const RENDER: Provider = {
  id: 'render',
  credentials: ['authorization'],
  variables: {
    token: ['RENDER_API_KEY', 'RENDER_API_TOKEN', 'RENDER_TOKEN'],
    ids: ({ projects: [service] }) => ({ RENDER_SERVICE_ID: serviceId(service) }),
    unset: ['RENDER_CLI_TOKEN', 'RENDER_DEPLOY_HOOK', 'RENDER_DEPLOY_HOOK_URL'],
  },
  operations: DOMAINS,
  asks: (project, customDomainIdOrName) => [
    { name: 'RetrieveCustomDomain', params: { serviceId: serviceId(project), customDomainIdOrName } },
  ],
  // api-docs.render.com/reference/rate-limiting, per user.
  limits: {
    default: { perMinute: 400, perDay: Infinity },
    writes: { perMinute: 30, perDay: Infinity },
    domains: { perMinute: 50, perDay: Infinity, minuteMs: HOUR_MS },
  },
  refusals: {
    missing_token: { status: 401, code: 'unauthorized', message: 'Unauthorized' },
    wrong_token: { status: 401, code: 'unauthorized', message: 'Unauthorized. …' },
    invalid_request: { code: 'bad_request' },
  },
  failure,
  rateFields: ({ limit, remaining, resetAtMs }) => [
    ...['Ratelimit-Limit', String(limit), 'Ratelimit-Remaining', String(remaining)],
    ...['Ratelimit-Reset', String(Math.ceil(resetAtMs / 1_000))],
  ],
  unsettled: [
    'The limit of adding and verifying domains: 50 an hour for both, by a report; the documentation’s table could not be read. `Ratelimit-Reset` is in Unix seconds as its text says, though its example has 45.',
    '`id` of an error: a word for its kind. The words of 404, 409 and 400.',
    'A hostname that another service has: 409. The same hostname twice: 409.',
    'The sibling of an apex or of `www` is left out if it is in use already. It goes with the domain that it redirects to; removed alone, it leaves that one.',
    '`verificationStatus` is `verified` while the records lead here. It says nothing about the certificate, which no operation shows; CAA does not change it.',
    'A wildcard is verified by its CNAME; the records below `_acme-challenge` and `_cf-custom-hostname` that Render also needs are not.',
    '`verify` answers before the check has ended, and without a body.',
    'The page size of the list: 20, and 100 at most. `name` may be repeated, or have commas.',
  ],
};
