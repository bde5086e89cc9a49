import type { Clock } from './clock.ts';

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

/** Reusable slots for the current time step and those before it. */
export function createStepRing(steps: number, empty: (slot: number) => void) {
  // One extra slot for the current step.
  const length = steps + 1;
  let last = 0;

  function slotOf(step: number): number {
    for (let begun = Math.max(last + 1, step - steps); begun <= step; begun++) empty(begun % length);
    last = Math.max(last, step);
    return step % length;
  }

  return {
    /** The slot of `step`. Clears the slots of all steps that began since the last call. */
    slotOf,
    /** The slots of the `count` steps before `step`, oldest first. Slots from before the process started are empty. */
    slotsBefore(step: number, count: number): number[] {
      slotOf(step);
      return Array.from({ length: count }, (_, index) => (step + length - count + index) % length);
    },
  };
}

/**
 * Counts per step of real time: one ring for all projects together, and one for each of up to `projectsMax` projects;
 * the one idle for longest makes room.
 */
export function createProjectRings<Item, Ring extends { count(step: number, item: Item): void }>(options: {
  clock: Pick<Clock, 'monotonic'>;
  stepMs: number;
  projectsMax: number;
  createRing: () => Ring;
}) {
  const { clock, stepMs, projectsMax, createRing } = options;
  const all = createRing();
  const rings = new LruMap<Ring>(projectsMax);
  return {
    /** Cheap enough for the hot path. An item without a project counts only towards the total. */
    count(projectId: string | null, item: Item): void {
      const step = Math.floor(clock.monotonic() / stepMs);
      all.count(step, item);
      if (projectId !== null) rings.use(projectId, createRing).count(step, item);
    },
    /** The ring of one project, or of all, with the current step and the milliseconds since it began. */
    read(projectId: string | undefined): { ring: Ring; step: number; ageMs: number } {
      const nowMs = clock.monotonic();
      const step = Math.floor(nowMs / stepMs);
      const ring = projectId === undefined ? all : (rings.peek(projectId) ?? createRing());
      return { ring, step, ageMs: Math.floor(nowMs - step * stepMs) };
    },
    forget: (projectId: string) => rings.delete(projectId),
  };
}
