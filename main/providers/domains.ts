import type { EpochMs } from '../base/clock.ts';
import type { Certificate } from '../contract/certificates.ts';
import type { Check, Domain } from '../contract/domains.ts';
import { VivariumError } from '../contract/errors.ts';
import { type Account, CONTEXT, type ProviderItem, type ProviderProject, type World } from './facts.ts';
import { zoneRules } from './zones.ts';

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

/** A number from 1 of a query, or what `refuse` says about another text. */
export function countIn(query: URLSearchParams, name: string, usual: number, max: number, refuse: () => never): number {
  const text = query.get(name) ?? String(usual);
  return /^[1-9]\d{0,8}$/.test(text) ? Math.min(Number(text), max) : refuse();
}

/**
 * The rows after the one that `cursor` names in a query, as many as its `limit`, and whether more follow. A page after
 * the last row is empty. Wrong parameters are refused.
 */
export function pageAfter<Row>(
  rows: readonly Row[],
  nameOf: (row: Row) => string,
  of: { query: URLSearchParams; usual: number; max: number; refuse: (name: 'limit' | 'cursor') => never },
): { page: Row[]; hasMore: boolean } {
  const { query, usual, max, refuse } = of;
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

/** The facts with what all providers read and change of them in the same way. */
export type RuledWorld = ReturnType<typeof withRules>;

export const withRules = (facts: World) => ({ ...facts, ...hostnameRules(facts), ...zoneRules(facts) });

function hostnameRules(world: World) {
  const claims = () => world.items.list('claim');

  /** A project's claim on a hostname that another one has; null without one. */
  const claimOf = ({ id }: ProviderProject, hostname: string): ProviderItem | null =>
    claims().find(({ projectId, name }) => projectId === id && name === hostname) ?? null;

  /** Attaches a hostname to a project, even if another project has it. */
  async function take({ id }: ProviderProject, hostname: string): Promise<void> {
    if (world.held(hostname) !== null) await world.services.domains.remove({ hostname }, CONTEXT);
    world.attach(id, hostname);
  }

  function endClaims(hostname: string): void {
    for (const claim of claims()) if (claim.name === hostname) world.items.remove(claim);
  }

  return {
    claimOf,
    take,
    endClaims,
    /** A project's domains, oldest first. */
    async domainsOf({ id }: ProviderProject): Promise<Domain[]> {
      const all = await world.services.domains.list({ projectId: id }, CONTEXT);
      const byName = new Map(all.map((domain) => [domain.hostname, domain]));
      return world.domains().flatMap(({ hostname }) => byName.get(hostname) ?? []);
    },
    /** The certificate of a domain, current or expired; null without one, and for a revoked one. */
    async certificateOf({ hostname, certificate }: Domain): Promise<Certificate | null> {
      if (certificate.state !== 'issued' && certificate.state !== 'expired') return null;
      const found = await world.services.certificates.get({ hostname }, CONTEXT);
      return found.revoked === undefined ? found : null;
    },
    /** Attaches a hostname that is free; `inUse` says in the provider's form that a project has it already. */
    async attachFree({ id }: ProviderProject, hostname: string, inUse: () => never): Promise<void> {
      await refusing(
        () => world.attach(id, hostname),
        (error) => {
          if (error.code === 'in_use') inUse();
          throw error;
        },
      );
    },
    /** All hostnames of a project, oldest first. */
    hostnamesOf({ id }: ProviderProject): OwnHostname[] {
      const isOwn = ({ projectId }: { projectId: string }): boolean => projectId === id;
      const claimed = claims().filter((item) => isOwn(item) && world.held(item.name)?.projectId !== id);
      return [
        ...world
          .domains()
          .filter(isOwn)
          .map(({ hostname, attachedAtMs: createdAtMs }) => ({ hostname, createdAtMs, claim: null })),
        ...claimed.map((claim) => ({ hostname: claim.name, createdAtMs: claim.createdAtMs, claim })),
      ].toSorted((one, other) => one.createdAtMs - other.createdAtMs);
    },
    /** Removes a hostname of a project, or its claim, with what is kept about it. */
    async removeHostname({ id: projectId }: ProviderProject, { hostname, claim }: Omit<OwnHostname, 'createdAtMs'>) {
      if (claim !== null) return world.items.remove(claim);
      await world.services.domains.remove({ hostname }, CONTEXT);
      world.items.remove({ kind: 'extra', projectId, name: hostname });
    },
    /** What only the API shows of a project's hostnames, by their names; that of an earlier attach does not count. */
    extrasOf({ id }: ProviderProject): ReadonlyMap<string, ProviderItem['data']> {
      const isCurrent = ({ projectId, name, data }: ProviderItem): boolean =>
        projectId === id && world.held(name)?.attachedAtMs === data['heldMs'];
      const extras = world.items.list('extra').filter(isCurrent);
      return new Map(extras.map(({ name, data }) => [name, data]));
    },
    /** Keeps that of an attached hostname. */
    keepExtra({ id: projectId }: Pick<ProviderProject, 'id'>, name: string, data: ProviderItem['data']): void {
      const extra = { ...data, heldMs: world.held(name)?.attachedAtMs };
      world.items.put({ kind: 'extra', projectId, name, data: extra });
    },
    /** Whether the record of a proof is visible. */
    isProven: async ({ name, value }: { name: string; value: string }, type: 'TXT' | 'CNAME' = 'TXT') =>
      (await world.resolve(name, type)).some((text) => text.trim() === value),
    /**
     * Attaches a claimed hostname, whose proof is visible by now, and checks it. Asked twice at once, it is attached once.
     * `keep` is called before the check.
     */
    async settle(project: ProviderProject, hostname: string, keep?: () => void): Promise<void> {
      if (claimOf(project, hostname) === null) return;
      await take(project, hostname);
      endClaims(hostname);
      keep?.();
      await world.verify(hostname);
    },
    /**
     * Begins the first check of a new hostname, as the providers do, without waiting for it: a later question gets what
     * it has found by then.
     */
    beginCheck: (hostname: string) => void world.verify(hostname).catch(() => undefined),
  };
}
