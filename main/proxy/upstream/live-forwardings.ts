import type { Forwarding } from './forwarding.ts';

/**
 * The forwardings that are under way. An array that each member knows its index in, because a `Set` through which so much
 * passes leaves a trail: its outgrown tables, each of which keeps its last members and the next table from being collected
 * cheaply (a tenth of a request's time went there).
 */
export class LiveForwardings {
  readonly #members: Forwarding[] = [];

  add(forwarding: Forwarding): void {
    forwarding.index = this.#members.push(forwarding) - 1;
  }

  delete(forwarding: Forwarding): void {
    if (this.#members[forwarding.index] !== forwarding) return;
    const last = this.#members.pop();
    if (last === undefined || last === forwarding) return;
    this.#members[forwarding.index] = last;
    last.index = forwarding.index;
  }

  /** As they are now: what is looked at may end on the way. */
  all(): Forwarding[] {
    return [...this.#members];
  }
}
