/**
 * A map of bounded size that evicts the least recently used entry. A Map iterates in insertion order, so using an entry
 * re-inserts it.
 */
export class LruMap<Value> {
  readonly #entries = new Map<string, Value>();
  readonly #max: number;
  readonly #onDropped: ((value: Value, key: string) => void) | undefined;
  /** The most recently used key. Most uses repeat it, which requires no reordering. */
  #latest: string | null = null;

  /** `onDropped` is called with each value that leaves the map, including replaced ones. */
  constructor(max: number, onDropped?: (value: Value, key: string) => void) {
    this.#max = max;
    this.#onDropped = onDropped;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Returns the value of `key`, and marks it as used. */
  get(key: string): Value | undefined {
    const value = this.#entries.get(key);
    if (value !== undefined && key !== this.#latest) {
      this.#entries.delete(key);
      this.#append(key, value);
    }
    return value;
  }

  /** Returns the value of `key` without marking it as used. */
  peek(key: string): Value | undefined {
    return this.#entries.get(key);
  }

  /** Returns the value of `key`, created if absent, and marks it as used. */
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

  /** Iterates from the least recently used; entries may be deleted meanwhile. */
  [Symbol.iterator](): MapIterator<[string, Value]> {
    return this.#entries.entries();
  }

  #append(key: string, value: Value): void {
    this.#entries.set(key, value);
    this.#latest = key;
  }
}
