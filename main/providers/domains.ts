import { hash } from 'node:crypto';
import type { EpochMs } from '../base/clock.ts';
import type { Certificate } from '../contract/certificates.ts';
import type { Check, Domain } from '../contract/domains.ts';
import { VivariumError } from '../contract/errors.ts';
import { CONTEXT } from './operations.ts';
import type { Account, Call, ProviderItem, ProviderProject } from './provider.ts';

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

/** Checks that say nothing about where the records lead. */
const BESIDE: ReadonlySet<Check['code']> = new Set([
  'wildcard_risk',
  'proxied',
  'txt_missing',
  'claimed_elsewhere',
  'issuance_pending',
  'caa_forbids',
  'caa_on_target',
  'caa_lookup_failed',
  'timed_out',
  'suffix_not_permitted',
]);

/** Whether the records lead here, by which a certificate is validated over HTTP. */
export const leadsHere = (checks: readonly Check[]): boolean =>
  checks.length > 0 && checks.every(({ code, outcome }) => BESIDE.has(code) || outcome === 'ok');

export const failedOf = (checks: readonly Check[]): Check[] =>
  checks.filter(({ outcome }) => outcome === 'failed' || outcome === 'unknown');

export const isAboutCaa = (code: Check['code']): boolean => code.startsWith('caa_');

export const ownsProject = ({ projects }: Account, projectId: string): boolean =>
  projects.some(({ id }) => id === projectId);

/** Whether something is of a project of the account. */
export const ownedBy =
  (account: Account) =>
  ({ projectId }: { projectId: string }): boolean =>
    ownsProject(account, projectId);

/** A hostname of a project: attached, or claimed while another account has it. */
export interface OwnHostname {
  hostname: string;
  createdAtMs: EpochMs;
  claim: ProviderItem | null;
}

/** All of a project, oldest first. */
export function hostnamesOf({ world }: InWorld, { id }: ProviderProject): OwnHostname[] {
  const isOwn = ({ projectId }: { projectId: string }): boolean => projectId === id;
  const attached = world.domains().filter(isOwn);
  const claims = world.items.list('claim').filter((item) => isOwn(item) && world.held(item.name)?.projectId !== id);
  return [
    ...attached.map(({ hostname, attachedAtMs: createdAtMs }) => ({ hostname, createdAtMs, claim: null })),
    ...claims.map((claim) => ({ hostname: claim.name, createdAtMs: claim.createdAtMs, claim })),
  ].toSorted((one, other) => one.createdAtMs - other.createdAtMs);
}

/** Removes a hostname of a project, or its claim, with what is kept about it. */
export async function removeHostname(
  { world }: InWorld,
  { id: projectId }: ProviderProject,
  { hostname, claim }: Pick<OwnHostname, 'hostname' | 'claim'>,
): Promise<void> {
  if (claim !== null) return world.items.remove(claim);
  await world.services.domains.remove({ hostname }, CONTEXT);
  world.items.remove({ kind: 'extra', projectId, name: hostname });
}

/** A project's claim on a hostname that another one has; null without one. */
export const claimOf = ({ world }: InWorld, { id }: ProviderProject, hostname: string): ProviderItem | null =>
  world.items.list('claim').find(({ projectId, name }) => projectId === id && name === hostname) ?? null;

/** Whether the record of a proof is visible. */
export async function isProven(
  { world }: InWorld,
  { name, value }: { name: string; value: string },
  type: 'TXT' | 'CNAME' = 'TXT',
): Promise<boolean> {
  return (await world.resolve(name, type)).some((text) => text.trim() === value);
}

/** Attaches a hostname to a project, even if another project has it. */
export async function take({ world }: InWorld, { id }: ProviderProject, hostname: string): Promise<void> {
  if (world.held(hostname) !== null) await world.services.domains.remove({ hostname }, CONTEXT);
  world.attach(id, hostname);
}

/**
 * Begins the first check of a new hostname, as the providers do, without waiting for it: a later question gets what it
 * has found by then.
 */
export function beginCheck({ world }: InWorld, hostname: string): void {
  void world.verify(hostname).catch(() => undefined);
}

export function endClaims({ world }: InWorld, hostname: string): void {
  for (const claim of world.items.list('claim')) if (claim.name === hostname) world.items.remove(claim);
}
