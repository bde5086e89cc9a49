import type { BreakEntry, BreakFamily } from '../../../main/contract/breaks.ts';
import { FAMILY_TITLES } from '../../../main/contract/break-words.ts';
import type { Domain } from '../../../main/contract/domains.ts';
import type { Project } from '../../../main/contract/projects.ts';

/** The scope of entries that can't be narrowed to a hostname. */
export const AFFECTED: Partial<Record<BreakFamily, string>> = {
  ca: 'Every certificate requested while the break runs.',
  machine: 'This machine as seen by Vivarium and its doctor.',
};

/** The heading above an entry; the catalogue begins with the most used. */
export const groupOf = ({ mostUsed, family }: BreakEntry): string =>
  mostUsed === undefined ? FAMILY_TITLES[family] : 'Most used';

/** The hostnames that can be broken: those of the chosen project first, custom domains that are served at the top. */
export function hostnamesOf(
  domains: readonly Pick<Domain, 'hostname' | 'projectId' | 'serving'>[],
  projects: readonly Pick<Project, 'id' | 'slug'>[],
  platformZone: string,
  current: string | undefined,
): string[] {
  const servedFirst = domains.toSorted((a, b) => Number(b.serving.http) - Number(a.serving.http));
  return projects
    .toSorted((a, b) => Number(b.id === current) - Number(a.id === current))
    .flatMap(({ id, slug }) => [
      ...servedFirst.filter(({ projectId }) => projectId === id).map(({ hostname }) => hostname),
      `${slug}.${platformZone}`,
      `${slug}-staging.${platformZone}`,
    ]);
}
