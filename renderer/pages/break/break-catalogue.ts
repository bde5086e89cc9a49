import type { BreakEntry, BreakFamily } from '../../../main/contract/breaks.ts';
import type { Domain } from '../../../main/contract/domains.ts';
import type { Project } from '../../../main/contract/projects.ts';

export const FAMILY_TITLES: Record<BreakFamily, string> = {
  dns: 'Names and DNS',
  connection: 'Connections',
  tls: 'TLS and certificates',
  http: 'HTTP framing',
  api: 'API semantics',
  domain: 'Domains',
  ca: 'Issuance',
  machine: 'This machine',
};

/** The scope of entries that can't be narrowed to a hostname. */
export const AFFECTED: Partial<Record<BreakFamily, string>> = {
  ca: 'Every certificate requested while the break runs.',
  machine: 'This machine as seen by Vivarium and its doctor.',
};

/** The entries that match all words of a search, in their id, title or cause, or in a client's message. */
export function findEntries(entries: readonly BreakEntry[], search: string): readonly BreakEntry[] {
  const words = search.toLowerCase().split(/\s+/);
  return entries.filter(({ id, title, cause, family, symptoms }) => {
    const text = [id, title, cause, FAMILY_TITLES[family], ...Object.values(symptoms)].join('\n').toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

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
