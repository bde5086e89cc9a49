import type { Project } from '../../../main/contract/projects.ts';
import type { Environment } from '../../../main/contract/values.ts';

/** The ways to a hostname, by how far each reaches. */
export const WAYS = [
  { value: 'browser', label: 'In a temporary browser' },
  { value: 'program', label: 'From one program' },
  { value: 'settings', label: 'From your own browser' },
  { value: 'system', label: 'From the whole system' },
  { value: 'device', label: 'From another device' },
] as const;
export type Way = (typeof WAYS)[number]['value'];

/** The environment of one of the platform's hostnames, and its hostname in each; undefined for a custom hostname. */
export function environmentOf(
  hostname: string,
  projects: readonly Pick<Project, 'slug'>[],
  zone: string | undefined,
): { current: Environment; hostnames: Record<Environment, string> } | undefined {
  for (const { slug } of projects) {
    const hostnames = { production: `${slug}.${zone}`, staging: `${slug}-staging.${zone}` };
    if (hostname === hostnames.production) return { current: 'production', hostnames };
    if (hostname === hostnames.staging) return { current: 'staging', hostnames };
  }
  return undefined;
}
