import { hash } from 'node:crypto';
import { isWithin } from '../../base/text/hostname.ts';
import { ownsProject } from '../domains.ts';
import { refuse } from '../operations.ts';
import type { Account, HeldDomain, ProviderItem, ProviderProject } from '../facts.ts';
import type { Call } from '../provider.ts';

/** The team of an account, and its only user. */
export const teamOf = ({ id }: Account): string => `team_${id}`;
export const userOf = ({ id }: Account): string => `usr_${id}`;

/** `cert_…`, `dom_…`: stable, so none is stored. */
export const idOf = (kind: string, text: string): string => `${kind}_${hash('sha256', text).slice(0, 24)}`;

/** The project of `{idOrName}`. */
export function projectOf({ account }: Pick<Call, 'account'>, idOrName: string): ProviderProject {
  const found = account.projects.find(({ id, slug, name }) => [id, slug, name].includes(idOrName));
  return found ?? refuse(404, 'not_found', 'Project not found.');
}

/** A hostname in normal form with its registered domain. */
export const hostnameOf = ({ world }: Pick<Call, 'world'>, text: string): { hostname: string; apex: string } =>
  world.hostname(text, (fault) => refuse(400, 'invalid_domain', fault));

/** By which a domain's DNS is at Vercel. */
export const NAME_SERVERS = ['ns1.vercel-dns.com', 'ns2.vercel-dns.com'];

/** The domains of all projects at or below a registered domain, oldest first. */
export const domainsBelow = ({ world }: Pick<Call, 'world'>, apex: string): HeldDomain[] =>
  world.domains().filter(({ hostname }) => isWithin(hostname, apex));

/** Who has a registered domain: who claimed it last, else the first to have used it; null if it is unknown. */
export function ownerOf(call: Pick<Call, 'world'>, apex: string): string | null {
  const added = call.world.items.list('domain').filter(({ name }) => name === apex);
  const claimed = added
    .filter(({ data }) => data['claimed'] === true)
    .sort(byAge)
    .at(-1);
  if (claimed !== undefined) return claimed.projectId;
  const [held] = domainsBelow(call, apex);
  const [first] = [...added].sort(byAge);
  if (held === undefined || first === undefined) return (held ?? first)?.projectId ?? null;
  return first.createdAtMs < held.attachedAtMs ? first.projectId : held.projectId;
}

const byAge = (one: ProviderItem, other: ProviderItem): number => one.createdAtMs - other.createdAtMs;

/** Whether a registered domain belongs to another account. */
export function isForeign(call: Pick<Call, 'world' | 'account'>, apex: string): boolean {
  const owner = ownerOf(call, apex);
  return owner !== null && !ownsProject(call.account, owner);
}

/** The refusal of a claim without its record. */
export const missingTxt = ({ name, value }: { name: string; value: string }): never =>
  refuse(400, 'missing_txt_record', `Domain ${name} is missing required TXT Record "${value}"`, {
    record: { type: 'TXT', name, value },
  });

const LIMIT_DEFAULT = 20;
const LIMIT_MAX = 100;

/**
 * A page of rows by their creation, newest first unless `order=ASC`, as `since`, `until` and `limit` say. A page ends
 * after a moment, not in it, because the moment is the cursor.
 */
export function pageOf<Row extends { createdAt: number }>(rows: readonly Row[], query: URLSearchParams) {
  const number = (name: string): number | null => {
    const text = query.get(name);
    if (text === null) return null;
    return /^\d{1,16}$/.test(text)
      ? Number(text)
      : refuse(400, 'bad_request', `Invalid request: \`${name}\` should be a number.`);
  };
  const limit = Math.min(Math.max(number('limit') ?? LIMIT_DEFAULT, 1), LIMIT_MAX);
  const [since, until] = [number('since') ?? -Infinity, number('until') ?? Infinity];
  const sign = query.get('order') === 'ASC' ? 1 : -1;
  const wanted = rows
    .filter(({ createdAt }) => createdAt > since && createdAt < until)
    .sort((one, other) => sign * (one.createdAt - other.createdAt));
  let count = Math.min(limit, wanted.length);
  while (count > 0 && count < wanted.length && wanted[count]?.createdAt === wanted[count - 1]?.createdAt) count++;
  const page = wanted.slice(0, count);
  const next = count < wanted.length ? (page.at(-1)?.createdAt ?? null) : null;
  const prev = rows.length > wanted.length ? (page[0]?.createdAt ?? null) : null;
  return { page, pagination: { count: page.length, next, prev } };
}
