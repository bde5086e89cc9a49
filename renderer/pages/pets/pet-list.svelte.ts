import { PetRows, type PetRowsOptions } from './grid/pet-rows.svelte.ts';
import type { PetFilter } from './pet-filter.ts';

export type PetListOptions = Omit<PetRowsOptions, 'filter'>;

/**
 * The displayed list. A new list replaces the old one only when its first rows are loaded, to avoid flicker during a
 * search.
 */
export class PetList {
  #shown: PetRows = $state.raw() as PetRows;
  #coming = $state.raw<PetRows | undefined>(undefined);
  readonly #options: PetListOptions;
  /** The requested list, loaded or not. */
  readonly wanted: PetFilter = $derived.by(() => (this.#coming ?? this.#shown).filter);

  constructor(options: PetListOptions, filter: PetFilter) {
    this.#options = options;
    this.#shown = this.#open(filter);
  }

  get rows(): PetRows {
    const coming = this.#coming;
    return coming !== undefined && coming.live.state !== 'loading' ? coming : this.#shown;
  }

  /** Whether another list is loading. */
  get busy(): boolean {
    return this.#coming !== undefined && this.rows !== this.#coming;
  }

  want(filter: PetFilter): void {
    this.settle();
    if (isSame(filter, this.wanted)) return;
    this.#coming?.close();
    this.#coming = isSame(filter, this.#shown.filter) ? undefined : this.#open(filter);
    // Do not show another environment's pets meanwhile.
    if (this.#coming?.filter.environment !== this.#shown.filter.environment) this.#show(this.#coming);
  }

  /** Drops the old list once the new one is loaded. */
  settle(): void {
    if (this.rows === this.#coming) this.#show(this.#coming);
  }

  close(): void {
    this.#shown.close();
    this.#coming?.close();
  }

  #open(filter: PetFilter): PetRows {
    return new PetRows({ ...this.#options, filter });
  }

  #show(rows: PetRows | undefined): void {
    if (rows === undefined) return;
    this.#shown.close();
    this.#shown = rows;
    this.#coming = undefined;
  }
}

const isSame = (one: PetFilter, other: PetFilter): boolean => JSON.stringify(one) === JSON.stringify(other);
