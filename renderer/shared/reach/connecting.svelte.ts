import type { Project } from '../../../main/contract/projects.ts';
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

/** Whether a hostname is one of the platform's for a project. */
export const isOf = ({ slug }: Pick<Project, 'slug'>, hostname: string, zone: string | undefined): boolean =>
  hostname === `${slug}.${zone}` || hostname === `${slug}-staging.${zone}`;
