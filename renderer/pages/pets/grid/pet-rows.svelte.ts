import type { PetRecord } from '../../../../main/contract/pets.ts';
import { inProject, LiveQuery, type Source } from '../../../connection/live-query.svelte.ts';
import { listQuery, type PetFilter } from '../pet-filter.ts';

/** Rows loaded before and after the visible ones, so short scrolls find them ready. */
const MARGIN = 60;

/** The engine's page limit. */
const READ_MAX = 1_000;

/** The maximum number of rows held; the most distant ones are dropped. */
const KEPT_MAX = 6_000;

/** The visible positions; `last` included. */
export interface VisibleRange {
  first: number;
  last: number;
}

export interface PetRowsOptions extends Source {
  projectId: string;
  filter: PetFilter;
  /** The position of the pet to keep in place on screen; undefined to keep positions instead. */
  anchor: () => number | undefined;
  /** Called with the number of positions by which the anchored pet moved. */
  onmoved: (rows: number) => void;
}

/**
 * The rows of one pet list; only those near the visible ones are held. Visible rows are re-read after every change,
 * others when they become visible.
 */
export class PetRows {
  readonly filter: PetFilter;
  /** The number of pets; stays current. */
  readonly live: LiveQuery<number>;
  #rows: Rows = $state.raw(rowsOf());
  /** Rows from before the last change, displayed until they are re-read. */
  #stale: Rows = rowsOf();
  #visible: VisibleRange = { first: 0, last: 40 };
  #filling = false;
  #wasRead = false;
  readonly #options: PetRowsOptions;
  readonly #abort = new AbortController();
  /** The number of pets; undefined until loaded. */
  readonly total: number | undefined = $derived.by(() => this.live.value);

  constructor(options: PetRowsOptions) {
    this.#options = options;
    this.filter = options.filter;
    const { projectId, filter } = options;
    const { environment } = filter;
    this.live = new LiveQuery(options, inProject({ projectId, environment }, 'pets.changed'), (signal) =>
      this.#readVisible(signal),
    );
  }

  /** The pet at a position; undefined until loaded. */
  at(position: number): PetRecord | undefined {
    return this.#rows.get(position) ?? this.#stale.get(position);
  }

  /** The position of a held pet; undefined if not held. */
  positionOf(id: string): number | undefined {
    for (const [position, pet] of this.#rows) if (pet.id === id) return position;
    return undefined;
  }

  /** Sets the visible rows and loads the missing ones. */
  setVisible(visible: VisibleRange): void {
    this.#visible = visible;
    if (!this.#filling && this.total !== undefined) void this.#fill();
  }

  /** Replaces a pet with the engine's answer; the change event refreshes the rest. */
  put(pet: PetRecord): void {
    const position = this.positionOf(pet.id);
    if (position !== undefined) this.#rows = rowsOf(this.#rows, [[position, pet]]);
  }

  /** The position of a pet in this list; undefined if it is not in it. */
  async find(id: string): Promise<number | undefined> {
    const { items, offset } = await this.#list({ anchor: id, offset: this.total ?? 0, limit: 1 });
    return items[0]?.id === id ? offset : undefined;
  }

  /** The ids of positions, both included: at once when their rows are held, else read page by page. */
  idsBetween(first: number, last: number): string[] | Promise<string[]> {
    const held: string[] = [];
    for (let position = first; position <= last; position++) {
      const pet = this.#rows.get(position);
      if (pet === undefined) return this.#readIds(first, last);
      held.push(pet.id);
    }
    return held;
  }

  async #readIds(first: number, last: number): Promise<string[]> {
    const ids: string[] = [];
    for (let offset = first; offset <= last; offset += READ_MAX) {
      const { items } = await this.#list({ offset, limit: Math.min(READ_MAX, last - offset + 1) });
      if (items.length === 0) break;
      for (const { id } of items) ids.push(id);
    }
    return ids;
  }

  close(): void {
    this.live.close();
    this.#abort.abort();
  }

  #list(range: { offset: number; limit: number; anchor?: string; before?: number }, signal = this.#abort.signal) {
    const { client, projectId, filter } = this.#options;
    return client.pets.list({ projectId, ...listQuery(filter), ...range }, { signal });
  }

  async #readVisible(signal: AbortSignal): Promise<number> {
    const range = around(this.#visible);
    const position = this.#wasRead ? this.#options.anchor() : undefined;
    const anchor = position === undefined ? undefined : this.at(position);
    const isAnchored = position !== undefined && anchor !== undefined && position >= range.offset;
    const {
      items,
      total,
      offset = range.offset,
    } = await this.#list(
      { ...range, ...(isAnchored && { anchor: anchor.id, before: position - range.offset }) },
      signal,
    );
    if (signal.aborted) return total;
    this.#wasRead = true;
    const found = isAnchored ? items.findIndex(({ id }) => id === anchor.id) : -1;
    const moved = found < 0 || position === undefined ? 0 : offset + found - position;
    this.#stale = moved === 0 ? this.#rows : rowsOf();
    this.#rows = rowsOf(placedFrom(offset, items));
    if (moved !== 0) {
      this.#visible = { first: Math.max(0, this.#visible.first + moved), last: this.#visible.last + moved };
      this.#options.onmoved(moved);
    }
    return total;
  }

  /** Loads missing visible rows until none are left. */
  async #fill(): Promise<void> {
    this.#filling = true;
    try {
      for (;;) {
        const visible = this.#visible;
        if (!this.#isMissing(visible)) return;
        const { items, offset = 0 } = await this.#list(around(visible));
        if (this.#abort.signal.aborted) return;
        this.#keep(items, offset);
        // The list shrank meanwhile; its change event is about to arrive.
        if (this.#isMissing(visible)) return;
      }
    } catch {
      // The list reports the cause: it fails the same way, or the connection is lost.
      if (!this.#abort.signal.aborted) this.live.reread();
    } finally {
      this.#filling = false;
    }
  }

  #isMissing({ first, last }: VisibleRange): boolean {
    const end = Math.min(last, (this.total ?? 0) - 1);
    for (let position = Math.max(0, first); position <= end; position++) if (!this.#rows.has(position)) return true;
    return false;
  }

  #keep(items: readonly PetRecord[], offset: number): void {
    this.#rows = rowsOf(this.#rows.size > KEPT_MAX ? [] : this.#rows, placedFrom(offset, items));
  }
}

/** The positions to load for a visible range. */
function around({ first, last }: VisibleRange): { offset: number; limit: number } {
  const offset = Math.max(0, first - MARGIN);
  return { offset, limit: Math.min(READ_MAX, last - offset + 1 + MARGIN) };
}

/** Held rows of a long list, by position; each change makes new ones. */
type Rows = ReadonlyMap<number, PetRecord>;
type Placed = Iterable<readonly [position: number, pet: PetRecord]>;

const rowsOf = (...parts: Placed[]): Rows => new Map(parts.flatMap((part) => [...part]));

const placedFrom = (offset: number, items: readonly PetRecord[]): Placed =>
  items.map((pet, index) => [offset + index, pet] as const);
