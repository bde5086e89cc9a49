import { hash } from 'node:crypto';
import { isWildcard } from '../../contract/hostnames.ts';
import { refusing as orRefuse } from '../domains.ts';
import { refuse } from '../operations.ts';
import type { Account, ProviderProject } from '../facts.ts';
import type { Call } from '../provider.ts';

/** 24 hexadecimal digits: stable, so none is stored. */
export const idOf = (text: string): string => hash('sha256', text).slice(0, 24);

export const teamOf = ({ id, projects }: Account) => ({
  account_id: id,
  account_name: projects[0].name,
  account_slug: projects[0].slug,
});

export const notFound = (): never => refuse(404, 'not_found', 'Not Found');

/** Refused by the member of the body that is wrong. */
export const invalid = (member: string, ...messages: string[]): never =>
  refuse(422, 'invalid', `${member} ${messages.join(', ')}`, { errors: { [member]: messages } });

/** The site of `{site_id}`, which may also be its name or a hostname of it. */
export function siteIn({ account, params, world }: Call): ProviderProject {
  const { site_id: text = '' } = params;
  const holder = world.held(text)?.projectId;
  const found = account.projects.find(({ id, slug }) => id === text || slug === text || id === holder);
  return found ?? notFound();
}

export const hostnameOf = ({ world }: Pick<Call, 'world'>, member: string, text: string): string =>
  world.hostname(text, (fault) => invalid(member, fault)).hostname;

/** The custom domain of a site, which is the project's primary, else the oldest hostname; and its other domains. */
export async function siteDomains(call: Pick<Call, 'world'>, site: ProviderProject) {
  const all = await call.world.domainsOf(site);
  const custom = all.find(({ primary }) => primary) ?? all.find(({ hostname }) => !isWildcard(hostname)) ?? null;
  return { custom, aliases: all.filter((domain) => domain !== custom) };
}

/** Does what the engine may refuse because of a member of the body. */
export const refusing = <Result>(member: string, act: () => Result | Promise<Result>): Promise<Result> =>
  orRefuse(act, ({ code, message }) => invalid(member, code === 'in_use' ? 'must be unique' : message));
