import type { Project } from '../../../main/contract/projects.ts';
import type { Environment } from '../../../main/contract/values.ts';
import { optionsOf } from '../lists/options.ts';

/** The ways to a hostname, by how far each reaches. */
export const WAYS = optionsOf({
  browser: 'In a temporary browser',
  program: 'From one program',
  settings: 'From your own browser',
  system: 'From the whole system',
  device: 'From another device',
});
export type Way = (typeof WAYS)[number]['value'];

/** The hostname whose *Connect* dialog is open, and the way that it shows. Any address of the page can open it. */
export class Connecting {
  hostname = $state<string>();
  way = $state<Way>('browser');

  /** Without a way, an open dialog keeps its own. */
  open(hostname: string, way = this.hostname === undefined ? 'browser' : this.way): void {
    this.hostname = hostname;
    this.way = way;
  }

  close(): void {
    this.hostname = undefined;
  }
}

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
