import { z } from 'zod';
import { platformHostname } from '../../base/config.ts';
import { isWildcard } from '../../contract/hostnames.ts';
import { countIn } from '../domains.ts';
import { CONTEXT, type ProviderProject } from '../facts.ts';
import { operation, ok, NO_UPLOAD, refuse } from '../operations.ts';
import type { Certificate } from '../../contract/certificates.ts';
import type { Domain } from '../../contract/domains.ts';
import type { Call, Operation, Provider, Refusal, Reply } from '../provider.ts';
import { hostnameOf, invalid, notFound, refusing, siteDomains, siteIn, teamOf } from './account.ts';
import { closest, ZONE_OPERATIONS } from './zones.ts';

/** As every site says in `max_domain_aliases`. */
const ALIASES_MAX = 100;
/** Of a page. */
const SITES_MAX = 100;
const PAGE_MAX = 1_000_000;

const hostname = z.string().max(1_000);
const change = z.looseObject({ custom_domain: hostname.nullish(), domain_aliases: z.array(hostname).nullish() });

async function shown(call: Call, site: ProviderProject) {
  const { custom, aliases } = await siteDomains(call, site);
  const own = platformHostname(site.slug, 'production');
  const name = custom?.hostname ?? own;
  const ssl = custom?.certificate.state === 'issued';
  return {
    ...{ id: site.id, site_id: site.id, name: site.slug, state: 'current', plan: 'nf_team_dev' },
    custom_domain: custom?.hostname ?? null,
    domain_aliases: aliases.map((alias) => alias.hostname),
    ...{ max_domain_aliases: ALIASES_MAX, default_domain: own, id_domain: own },
    ...{ url: `${ssl ? 'https' : 'http'}://${name}`, ssl_url: `https://${name}`, ssl },
    managed_dns: custom !== null && closest(call, custom.hostname) !== null,
    ...teamOf(call.account),
  };
}

/** Attaches all hostnames, or none of them. */
async function attachAll({ world }: Call, { id }: ProviderProject, added: ReadonlyMap<string, string>): Promise<void> {
  const attached: string[] = [];
  for (const [name, member] of added) {
    await refusing(member, () => world.attach(id, name)).catch(async (error: unknown) => {
      for (const each of attached) await world.services.domains.remove({ hostname: each }, CONTEXT);
      throw error;
    });
    attached.push(name);
  }
}

async function update(
  call: Call,
  { custom_domain: customWanted, domain_aliases: aliasesWanted }: z.infer<typeof change>,
): Promise<Reply> {
  const { domains } = call.world.services;
  const site = siteIn(call);
  const before = await siteDomains(call, site);
  const read = (member: string, text: string | null): string | null =>
    text === null || text === '' ? null : hostnameOf(call, member, text);
  const former = before.custom?.hostname ?? null;
  const custom = customWanted === undefined ? former : read('custom_domain', customWanted);
  const wanted = aliasesWanted ?? (aliasesWanted === null ? [] : before.aliases.map((alias) => alias.hostname));
  const aliases = new Set(wanted.map((text) => hostnameOf(call, 'domain_aliases', text)));
  if (custom !== null && isWildcard(custom)) invalid('custom_domain', 'must not be a wildcard');
  if (custom === null && aliases.size > 0) invalid('domain_aliases', 'need a custom domain');
  if (aliases.size > ALIASES_MAX) invalid('domain_aliases', `must be ${ALIASES_MAX} at most`);
  const after = new Map([...aliases].map((name) => [name, 'domain_aliases']));
  if (custom !== null) after.set(custom, 'custom_domain');
  const held = [before.custom, ...before.aliases].flatMap((domain) => (domain === null ? [] : [domain.hostname]));
  const added = new Map([...after].filter(([name]) => !held.includes(name)));
  await attachAll(call, site, added);
  for (const name of held) if (!after.has(name)) await domains.remove({ hostname: name }, CONTEXT);
  if (custom !== former) await domains.setPrimary({ projectId: site.id, hostname: custom }, CONTEXT);
  const body = await shown(call, site);
  for (const name of added.keys()) call.world.beginCheck(name);
  return ok(body);
}

/** Pages are numbered from 1; the one after the last is empty. */
async function list(call: Call): Promise<Reply> {
  const { query, account } = call;
  const number = (name: string, usual: number, max: number): number =>
    countIn(query, name, usual, max, () => invalid(name, 'is not a number'));
  const [page, each] = [number('page', 1, PAGE_MAX), number('per_page', SITES_MAX, SITES_MAX)];
  const name = query.get('name') ?? '';
  const sites = account.projects.filter(({ slug }) => slug.includes(name)).slice((page - 1) * each, page * each);
  return ok(await Promise.all(sites.map((site) => shown(call, site))));
}

const ALL = '/api/v1/sites';
const SITE = `${ALL}/{site_id}`;

const SITES: readonly Operation[] = [
  operation('listSites', `GET ${ALL}`, list),
  operation('getSite', `GET ${SITE}`, async (call) => ok(await shown(call, siteIn(call)))),
  operation('updateSite', `PATCH ${SITE}`, update, { input: change }),
];

/** Netlify's words when the authority does not validate a hostname whose records are right. */
const CHALLENGE = 'SniCertificate::CertificateValidationError: Unable to verify challenge';

const unprocessable = (message: string): never => refuse(422, 'unprocessable', message);

const certificatesOf = async (call: Call, domains: readonly Domain[]): Promise<Certificate[]> =>
  (await Promise.all(domains.map((domain) => call.world.certificateOf(domain)))).filter((each) => each !== null);

/** The certificates of hostnames as one: the worst state, the first end. */
function merged(certificates: readonly Certificate[], state: string) {
  const times = (of: (each: Certificate) => string): string[] => certificates.map(of).toSorted();
  const begun = times(({ notBefore }) => notBefore);
  return {
    state,
    domains: certificates.flatMap(({ sans }) => sans),
    created_at: begun[0] ?? null,
    updated_at: begun.at(-1) ?? null,
    expires_at: times(({ notAfter }) => notAfter)[0] ?? null,
  };
}

const WORST_FIRST = ['expired', 'failed', 'pending', 'issued'] as const;

async function shownCertificate(call: Call, site: ProviderProject) {
  const { custom, aliases } = await siteDomains(call, site);
  const domains = custom === null ? aliases : [custom, ...aliases];
  const states = domains.map(({ certificate }) => certificate.state);
  const state = WORST_FIRST.find((each) => states.includes(each)) ?? notFound();
  return merged(await certificatesOf(call, domains), state);
}

/** Checks the hostnames without a certificate, which issues theirs. Aliases that do not lead here are left out. */
async function provision(call: Call): Promise<Reply> {
  const { world, query } = call;
  if (query.has('certificate')) refuse(501, 'not_emulated', NO_UPLOAD);
  const site = siteIn(call);
  const { custom, aliases } = await siteDomains(call, site);
  if (custom === null) return unprocessable('No custom domain configured');
  const isMissing = ({ certificate }: Domain): boolean => certificate.state !== 'issued';
  const missing = [custom, ...aliases].filter(isMissing);
  if (missing.length === 0) unprocessable('certificate parameter is required when updating an existing certificate');
  const checked: Domain[] = [];
  for (const { hostname } of missing) checked.push(await world.verify(hostname));
  const own = checked.find(({ hostname }) => hostname === custom.hostname);
  if (own !== undefined && own.state !== 'verified') unprocessable('bad dns for custom domain');
  const refused = checked.find(({ state, certificate }) => state === 'verified' && isRefused(certificate));
  if (refused !== undefined) unprocessable(CHALLENGE);
  return ok(await shownCertificate(call, site));
}

/** No certificate, for another reason than an issuance that takes time. */
const isRefused = ({ state, reason }: Domain['certificate']): boolean =>
  state !== 'issued' && reason !== 'issuance_pending';

async function listCertificates(call: Call): Promise<Reply> {
  const domain = call.query.get('domain') ?? invalid('domain', 'can’t be blank');
  const site = siteIn(call);
  const hostname = hostnameOf(call, 'domain', domain);
  if (call.world.held(hostname)?.projectId !== site.id) notFound();
  const own = await call.world.services.domains.get({ hostname }, CONTEXT);
  const found = await certificatesOf(call, [own]);
  return ok(found.map((certificate) => merged([certificate], own.certificate.state)));
}

const SSL = '/api/v1/sites/{site_id}/ssl';

const SSL_OPERATIONS: readonly Operation[] = [
  operation('provisionSiteTLSCertificate', `POST ${SSL}`, provision),
  operation('showSiteTLSCertificate', `GET ${SSL}`, async (call) => ok(await shownCertificate(call, siteIn(call)))),
  operation('getAllCertificates', `GET ${SSL}/certificates`, listCertificates),
];

/** `{"code","message"}`, or `{"errors":{member:[…]}}` for what is wrong with a member of the body. */
function failure({ status, message, more = {} }: Refusal): Reply {
  const { errors, operation, emulated } = more;
  if (errors !== undefined) return { status, body: { errors } };
  return { status, body: { code: status, message, ...(operation !== undefined && { operation, emulated }) } };
}

/** Netlify’s domains, certificates and DNS, by @netlify/open-api 2.60.0 and docs.netlify.com, November 2026. */
export const NETLIFY: Provider = {
  id: 'netlify',
  credentials: ['authorization'],
  variables: {
    token: ['NETLIFY_AUTH_TOKEN', 'NETLIFY_API_TOKEN', 'NETLIFY_TOKEN', 'NETLIFY_ACCESS_TOKEN'],
    ids: ({ id, projects: [site] }) => ({
      ...{ NETLIFY_SITE_ID: site.id, NETLIFY_ACCOUNT_ID: id, NETLIFY_ACCOUNT_SLUG: site.slug },
    }),
    unset: ['NETLIFY_PERSONAL_ACCESS_TOKEN', 'NETLIFY_PURGE_API_TOKEN', 'NETLIFY_BLOBS_CONTEXT'],
  },
  operations: [...SITES, ...SSL_OPERATIONS, ...ZONE_OPERATIONS],
  asks: ({ id }, domain) => [
    { name: 'getSite', params: { site_id: id } },
    { name: 'getAllCertificates', params: { site_id: id }, query: { domain } },
  ],
  // docs.netlify.com/api-and-cli-guides/api-guides/get-started-with-api, `rate-limiting`.
  limits: { default: { perMinute: 500, perDay: Infinity } },
  refusals: {
    missing_token: { status: 401, message: 'Access Denied' },
    wrong_token: { status: 401, message: 'Access Denied. …' },
    invalid_request: { status: 422 },
  },
  failure,
  unsettled: [
    'The values of `state` of a certificate: `issued` as observed; `pending`, `failed` and `expired` here for those that are not. A site’s certificate is the leaves of all its hostnames here: the worst state, and the first end.',
    'A hostname that any other site has, or one below a hostname of another account: 422 with `{"errors":{"custom_domain":["must be unique"]}}`, as observed for `subdomain`. The dashboard also says that the name has a conflicting custom domain in another account; not answered here.',
    'What is wrong with a body: 422 with `errors` by member where one is to blame, else `code` and `message`.',
    'Provisioning with records that are right where the authority refuses: 422 with the dashboard’s *Unable to verify challenge*. The DNS of the custom domain decides about *bad dns for custom domain*; aliases that lead elsewhere are left out.',
    'Provisioning where some hostnames have a certificate: the missing ones are issued. Where all have one: 422 as documented.',
    'A site’s custom domain is the project’s primary hostname, else the oldest. Setting another removes the former, unless it is an alias. `www` is not added to an apex, nor an apex to `www`.',
    'Members of a site other than `custom_domain` and `domain_aliases` are accepted and not kept; members without a meaning here are absent.',
    'A zone is one account’s, also after its name servers have changed; a name that another account has, or has hostnames below: 422 with *must be unique*. Vivarium’s DNS gets a zone with its `dns_servers` where the name is in none. While DNS answers other name servers, no records are listed, and 422 for a new one. Which pool the servers are of is made up.',
    '`managed_dns` says whether a zone of the account has the custom domain. Its records are A and CNAME instead of NETLIFY; `managed` is always false.',
    'A list of sites has no `Link` header here, which no official client reads; `filter` is not compared, and `name` as a part of the name.',
    'The message of a 429: the limiter’s own.',
    'A token in the query (`access_token`), as older documentation has it: not read.',
  ],
};
