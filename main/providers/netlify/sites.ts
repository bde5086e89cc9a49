import { z } from 'zod';
import { platformHostname } from '../../base/config.ts';
import { isWildcard } from '../../contract/hostnames.ts';
import { countIn, beginCheck } from '../domains.ts';
import { CONTEXT, operation } from '../operations.ts';
import { ok } from '../operations.ts';
import type { Call, Operation, ProviderProject, Reply } from '../provider.ts';
import { siteDomains, hostnameOf, invalid, refusing, siteIn, teamOf } from './account.ts';
import { closest } from './zones.ts';

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

async function update(call: Call): Promise<Reply> {
  const { custom_domain: customWanted, domain_aliases: aliasesWanted } = call.body as z.infer<typeof change>;
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
  for (const name of added.keys()) beginCheck(call, name);
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

export const SITES: readonly Operation[] = [
  operation('listSites', `GET ${ALL}`, list),
  operation('getSite', `GET ${SITE}`, async (call) => ok(await shown(call, siteIn(call)))),
  operation('updateSite', `PATCH ${SITE}`, update, { input: change }),
];
