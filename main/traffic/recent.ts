/** Clients repeat a handful of requests; comparing more would not pay off. */
const RECENT_MAX = 8;

/** A small cache of recent values, searched linearly. */
export class Recent<Kept> {
  readonly #kept: Kept[] = [];
  /** The index of the value found or added last, which is the most likely match. */
  #latest = 0;
  #oldest = 0;

  find<Key>(key: Key, isSame: (kept: Kept, key: Key) => boolean): Kept | null {
    const kept = this.#kept;
    const likely = kept[this.#latest];
    if (likely === undefined) return null;
    if (isSame(likely, key)) return likely;
    for (let index = 0; index < kept.length; index++) {
      const other = kept[index] as Kept;
      if (!isSame(other, key)) continue;
      this.#latest = index;
      return other;
    }
    return null;
  }

  add(made: Kept): Kept {
    this.#latest = this.#oldest;
    this.#kept[this.#oldest] = made;
    this.#oldest = (this.#oldest + 1) % RECENT_MAX;
    return made;
  }

  forget(): void {
    this.#kept.length = 0;
    this.#latest = 0;
    this.#oldest = 0;
  }
}
