import { hash } from 'node:crypto';
import type { Certificate } from '../contract/certificates.ts';
import type { Domain } from '../contract/domains.ts';
import { VivariumError } from '../contract/errors.ts';
import { CONTEXT } from './handlers.ts';
import type { Call, ProviderProject } from './provider.ts';

type InWorld = Pick<Call, 'world'>;

/** An id in the form of a version 4 UUID: stable, so none is stored. */
export const uuidOf = (text: string): string =>
  hash('sha256', text).replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-4$3-8$4-$5');

/** A project's domains, oldest first. */
export async function domainsOf({ world }: InWorld, { id }: ProviderProject): Promise<Domain[]> {
  const all = await world.services.domains.list({ projectId: id }, CONTEXT);
  const byName = new Map(all.map((domain) => [domain.hostname, domain]));
  return world.domains().flatMap(({ hostname }) => byName.get(hostname) ?? []);
}

/** The certificate of a domain, current or expired; null without one, and for a revoked one. */
export async function certificateOf(
  { world }: InWorld,
  { hostname, certificate }: Domain,
): Promise<Certificate | null> {
  if (certificate.state !== 'issued' && certificate.state !== 'expired') return null;
  const found = await world.services.certificates.get({ hostname }, CONTEXT);
  return found.revoked === undefined ? found : null;
}

/** Does what the engine may refuse, and then what says it in the provider's form. */
export async function refusing<Result, Other>(
  act: () => Result | Promise<Result>,
  then: (error: VivariumError) => Other,
): Promise<Result | Other> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof VivariumError) return then(error);
    throw error;
  }
}

/** Attaches a hostname; `inUse` says in the provider's form that another project has it, or this one already. */
export async function attach(call: InWorld, { id }: ProviderProject, hostname: string, inUse: () => never) {
  await refusing(
    () => call.world.attach(id, hostname),
    (error) => {
      if (error.code === 'in_use') inUse();
      throw error;
    },
  );
}

/** A number from 1 of a query, or what `refuse` says about another text. */
export function countIn(query: URLSearchParams, name: string, usual: number, max: number, refuse: () => never): number {
  const text = query.get(name) ?? String(usual);
  return /^[1-9]\d{0,8}$/.test(text) ? Math.min(Number(text), max) : refuse();
}

/** How a list is paged: `limit` and `cursor` as sent, and what wrong ones are refused with. */
interface Paging {
  query: URLSearchParams;
  usual: number;
  max: number;
  refuse: (name: 'limit' | 'cursor') => never;
}

/** The rows after the one that the cursor names, and whether more follow. A page after the last row is empty. */
export function pageAfter<Row>(
  rows: readonly Row[],
  nameOf: (row: Row) => string,
  { query, usual, max, refuse }: Paging,
): { page: Row[]; hasMore: boolean } {
  const limit = countIn(query, 'limit', usual, max, () => refuse('limit'));
  const cursor = query.get('cursor');
  const before = cursor === null ? -1 : rows.findIndex((row) => cursorOf(nameOf(row)) === cursor);
  if (cursor !== null && before === -1) refuse('cursor');
  const page = rows.slice(before + 1, before + 1 + limit);
  return { page, hasMore: before + 1 + limit < rows.length };
}

export const cursorOf = (name: string): string => Buffer.from(name).toString('base64url');
