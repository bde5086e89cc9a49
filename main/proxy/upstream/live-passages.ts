import type { Passage } from './passage.ts';

/**
 * The passages that are under way. An array that each member knows its place in, because a `Set` through which so much
 * passes leaves a trail: its outgrown tables, each of which keeps its last members and the next table from being collected
 * cheaply (a tenth of a request's time went there).
 */
export class LivePassages {
  readonly #members: Passage[] = [];

  add(passage: Passage): void {
    passage.place = this.#members.push(passage) - 1;
  }

  delete(passage: Passage): void {
    if (this.#members[passage.place] !== passage) return;
    const last = this.#members.pop();
    if (last === undefined || last === passage) return;
    this.#members[passage.place] = last;
    last.place = passage.place;
  }

  /** As they are now: what is looked at may end on the way. */
  all(): Passage[] {
    return [...this.#members];
  }
}
