import type { EpochMs } from '../base/clock.ts';
import { CONTEXT } from './handlers.ts';
import type { Account, Call, ProviderItem, ProviderProject } from './provider.ts';

type InWorld = Pick<Call, 'world'>;

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
