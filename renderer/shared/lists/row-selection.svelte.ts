/* eslint-disable svelte/prefer-svelte-reactivity -- adding 100,000 ids to reactive sets takes longer than a frame */
/** The most rows selected at once: what undo stores for as many pets stays below about 10 MB. */
export const SELECTED_MAX = 100_000;

/**
 * The selected rows of a list, by id: a row stays selected wherever the list moves it. The latest range, which Shift
 * extends and shrinks, is stored separately.
 */
export class RowSelection {
  #others = new Set<string>();
  #range: ReadonlySet<string> = new Set();
  #from: number | undefined;
  #requested = 0;
  /** Makes the getters reactive, because the sets are not. */
  #version = $state(0);

  get size(): number {
    void this.#version;
    let count = this.#others.size;
    for (const id of this.#range) if (!this.#others.has(id)) count++;
    return count;
  }

  has(id: string): boolean {
    void this.#version;
    return this.#others.has(id) || this.#range.has(id);
  }

  /** In the order of selection. */
  get ids(): string[] {
    void this.#version;
    return [...new Set([...this.#others, ...this.#range])];
  }

  /** Selects a row, or unselects it; the next range begins at its position. */
  toggle(id: string, position: number): void {
    const wanted = !this.has(id) && this.size < SELECTED_MAX;
    this.#settle();
    if (wanted) this.#others.add(id);
    else this.#others.delete(id);
    this.#from = position;
    this.#version++;
  }

  /** Begins a new range in addition to the selected rows. */
  startAt(position: number): void {
    if (position === this.#from) return;
    this.#settle();
    this.#from = position;
  }

  /**
   * Selects the rows between where the range begins, or `from`, and a position; those that only the range had before
   * are unselected. `read` gives the ids of positions, both included; of two ranges that load, the later one counts.
   * @returns how many rows were left out because of `SELECTED_MAX`.
   */
  async extendTo(
    position: number,
    from: number,
    read: (first: number, last: number) => string[] | Promise<string[]>,
  ): Promise<number> {
    this.#from ??= from;
    const first = Math.min(this.#from, position);
    const most = Math.max(1, SELECTED_MAX - this.#others.size);
    const last = Math.min(Math.max(this.#from, position), first + most - 1);
    const request = ++this.#requested;
    const found = read(first, last);
    // Held rows are selected in the same frame.
    const ids = Array.isArray(found) ? found : await found;
    if (request !== this.#requested) return 0;
    this.#range = new Set(ids);
    this.#version++;
    return Math.max(this.#from, position) - last;
  }

  clear(): void {
    this.#requested++;
    this.#from = undefined;
    this.#range = new Set();
    this.#others = new Set();
    this.#version++;
  }

  moved(rows: number): void {
    if (this.#from !== undefined) this.#from = Math.max(0, this.#from + rows);
  }

  #settle(): void {
    this.#requested++;
    for (const id of this.#range) this.#others.add(id);
    this.#range = new Set();
  }
}
