import type { PetRecord } from '../../../../main/contract/pets.ts';

/** The held rows of a long list, by position. Immutable: every change returns a new value. */
export class RowWindow {
  readonly #rows: ReadonlyMap<number, PetRecord>;

  constructor(rows: Iterable<readonly [number, PetRecord]> = []) {
    this.#rows = new Map(rows);
  }

  /** Consecutive rows. */
  static from(offset: number, items: readonly PetRecord[]): RowWindow {
    return new RowWindow(items.map((pet, index) => [offset + index, pet] as const));
  }

  get size(): number {
    return this.#rows.size;
  }

  at(position: number): PetRecord | undefined {
    return this.#rows.get(position);
  }

  positionOf(id: string): number | undefined {
    for (const [position, pet] of this.#rows) if (pet.id === id) return position;
    return undefined;
  }

  /** Whether every position from `first` to `last` is held. */
  covers(first: number, last: number): boolean {
    for (let position = first; position <= last; position++) if (!this.#rows.has(position)) return false;
    return true;
  }

  /** A copy with consecutive rows, replacing those at their positions. */
  with(offset: number, items: readonly PetRecord[]): RowWindow {
    return new RowWindow([...this.#rows, ...items.map((pet, index) => [offset + index, pet] as const)]);
  }
}
