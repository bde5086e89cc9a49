import type { Way } from './ways.ts';

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
