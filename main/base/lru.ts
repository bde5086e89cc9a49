/**
 * A map of bounded size in order of use: the entry that was used longest ago makes room for a new one. A Map iterates in
 * the order of insertion, so an entry that is used is inserted anew.
 */
export class LruMap<Value> {
  readonly #entries = new Map<string, Value>();
  readonly #max: number;
  readonly #onDropped: ((value: Value, key: string) => void) | undefined;
  /** The key that is last in the order. Most uses repeat the one before, which leaves the order as it is. */
  #latest: string | null = null;

  /** `onDropped` is called with each value that leaves the map, replaced ones included. */
  constructor(max: number, onDropped?: (value: Value, key: string) => void) {
    this.#max = max;
    this.#onDropped = onDropped;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The value of `key`, which counts as used. */
  get(key: string): Value | undefined {
    const value = this.#entries.get(key);
    if (value !== undefined && key !== this.#latest) {
      this.#entries.delete(key);
      this.#append(key, value);
    }
    return value;
  }

  /** The value of `key`, without using it. */
  peek(key: string): Value | undefined {
    return this.#entries.get(key);
  }

  /** The value of `key`, which counts as used; made when there is none. */
  use(key: string, make: () => Value): Value {
    const known = this.get(key);
    if (known !== undefined) return known;
    const made = make();
    this.set(key, made);
    return made;
  }

  set(key: string, value: Value): void {
    this.delete(key);
    this.#append(key, value);
    if (this.#entries.size > this.#max) this.delete(this.#entries.keys().next().value ?? key);
  }

  delete(key: string): void {
    const value = this.#entries.get(key);
    if (value === undefined) return;
    this.#entries.delete(key);
    this.#onDropped?.(value, key);
  }

  clear(): void {
    for (const key of this.#entries.keys()) this.delete(key);
  }

  /** The least recently used first; entries may be deleted on the way. */
  [Symbol.iterator](): MapIterator<[string, Value]> {
    return this.#entries.entries();
  }

  #append(key: string, value: Value): void {
    this.#entries.set(key, value);
    this.#latest = key;
  }
}
