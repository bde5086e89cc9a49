import { hash } from 'node:crypto';
import { platformHostname } from '../../base/config.ts';
import { countIn, ownedBy } from '../domains.ts';
import { refuse } from '../operations.ts';
import type { Account, Call, ProviderItem, ProviderProject, Reply } from '../provider.ts';
import { isDelegated } from '../zones.ts';

/** 32 hexadecimal digits: stable, so none is stored. */
export const idOf = (text: string): string => hash('sha256', text).slice(0, 32);

export const accountIdOf = ({ id }: Account): string => idOf(id);

export const ok = (result: unknown, status = 200, more: Record<string, unknown> = {}): Reply => ({
  status,
  body: { success: true, errors: [], messages: [], result, ...more },
});

/** A zone that the account has added, or what the platform has for a project. */
export interface Zone {
  id: string;
  name: string;
  /** Whose custom hostnames it has. */
  project: ProviderProject;
  /** The name servers that the account was given for it. */
  servers: readonly string[];
  /** Null for a project's own zone, which is the platform's and has no records to change. */
  added: ProviderItem | null;
}

/** The zone that a project has from the beginning. */
export const ownZoneOf = ({ slug }: ProviderProject): string => platformHostname(slug, 'production');

/** Two for each project, so that a zone cannot be active in two accounts. */
export const serversFor = ({ id }: ProviderProject): string[] =>
  [idOf(id).slice(0, 12), idOf(id).slice(12, 24)].map((name) => `${name}.ns.cloudflare.com`);

/** The zone of each project, then those that the account has added. */
export function zonesOf({ account, world }: Pick<Call, 'account' | 'world'>): Zone[] {
  const added = world.items.list('domain').filter(ownedBy(account));
  return account.projects
    .flatMap((project) => [
      { name: ownZoneOf(project), project, added: null },
      ...added.flatMap((item) => (item.projectId === project.id ? [{ name: item.name, project, added: item }] : [])),
    ])
    .map((zone) => ({ ...zone, id: idOf(zone.name), servers: serversFor(zone.project) }))
    .sort((one, other) => Number(one.added !== null) - Number(other.added !== null));
}

/** By the name servers that DNS answers (`dns/zone-setups/reference/domain-status`); notes that a zone became active. */
export async function zoneStatus(
  { world, isQuestion }: Pick<Call, 'world' | 'isQuestion'>,
  { name, servers, added }: Zone,
): Promise<'active' | 'pending' | 'moved'> {
  if (added === null) return 'active';
  const { activatedMs } = added.data;
  if (!(await isDelegated({ world }, { name, servers }))) return activatedMs === undefined ? 'pending' : 'moved';
  const isKept = world.items.list('domain').some((item) => item.projectId === added.projectId && item.name === name);
  if (activatedMs === undefined && isKept && isQuestion !== true)
    world.items.put({ ...added, data: { ...added.data, activatedMs: world.now() } });
  return 'active';
}

/** The zone of `{zone_id}`. */
export function zoneIn(call: Call): Zone {
  const { zone_id: id = '' } = call.params;
  const found = zonesOf(call).find((zone) => zone.id === id);
  if (found !== undefined) return found;
  const path = `/client/v4/zones/${id.slice(0, 64)}`;
  return refuse(404, '7003', `Could not route to ${path}, perhaps your object identifier is invalid?`);
}

const PAGE_MAX = 1_000_000;

/** One page of rows. A page after the last one is empty, by which the official client's pager ends. */
export function page(rows: readonly unknown[], query: URLSearchParams, sizeMax: number, size = 20): Reply {
  const number = (name: string, usual: number, max: number): number =>
    countIn(query, name, usual, max, () => refuse(400, '1400', `Invalid \`${name}\`.`));
  const [at, each] = [number('page', 1, PAGE_MAX), number('per_page', size, sizeMax)];
  const shown = rows.slice((at - 1) * each, at * each);
  const info = { page: at, per_page: each, count: shown.length, total_count: rows.length };
  return ok(shown, 200, { result_info: { ...info, total_pages: Math.ceil(rows.length / each) } });
}

/** Whether a text is what a query asks for: `name`, `name.exact`, `name.contains`, `name.startswith` and so on. */
export function matches(query: URLSearchParams, field: string, text: string): boolean {
  return [...query].every(([key, value]) => {
    const [name, how = 'exact'] = key.split(/\.(.*)/);
    const test = name === field ? MATCHES[how.toLowerCase()] : undefined;
    return test === undefined || test(text.toLowerCase(), value.toLowerCase());
  });
}

const MATCHES: Readonly<Record<string, (text: string, value: string) => boolean>> = {
  exact: (text, value) => text === value,
  contain: (text, value) => text.includes(value),
  contains: (text, value) => text.includes(value),
  startswith: (text, value) => text.startsWith(value),
  endswith: (text, value) => text.endsWith(value),
};
