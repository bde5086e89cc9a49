import { type Account, type Call, CONTEXT, type ProviderItem, type ProviderProject } from './provider.ts';

type InWorld = Pick<Call, 'world'>;

export const ownsProject = ({ projects }: Account, projectId: string): boolean =>
  projects.some(({ id }) => id === projectId);

/** A project's claim on a hostname that another one has; null without one. */
export const claimOf = ({ world }: InWorld, { id }: ProviderProject, hostname: string): ProviderItem | null =>
  world.items.list('claim').find(({ projectId, name }) => projectId === id && name === hostname) ?? null;

/** Whether a TXT record is visible. */
export async function isProven({ world }: InWorld, proof: { name: string; value: string }): Promise<boolean> {
  return (await world.resolve(proof.name, 'TXT')).some((text) => text.trim() === proof.value);
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
