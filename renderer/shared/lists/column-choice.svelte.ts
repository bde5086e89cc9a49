import type { KeptValues } from '../session/storage.ts';

export interface ColumnChoiceOptions<Id extends string> {
  views: KeptValues;
  storageKey: string;
  all: readonly { id: Id; title: string }[];
  /** The columns that are always shown. */
  fixed: readonly Id[];
  /** The columns shown until the user chooses others. */
  usual: readonly Id[];
}

/** Which columns a list shows, from left to right, remembered as a page's view. */
export class ColumnChoice<Id extends string> {
  #chosen: readonly Id[] | undefined;
  readonly #options: ColumnChoiceOptions<Id>;

  constructor(options: ColumnChoiceOptions<Id>) {
    this.#options = options;
    this.#chosen = $state.raw(readChoice(options.views.read(options.storageKey), options));
  }

  get all(): readonly { id: Id; title: string }[] {
    return this.#options.all;
  }

  get shown(): readonly Id[] {
    return this.#chosen ?? this.#options.usual;
  }

  isFixed(id: Id): boolean {
    return this.#options.fixed.includes(id);
  }

  /** Shows a column at its place in the default order, or hides it. */
  show(id: Id, wanted: boolean): void {
    this.#keep(wanted ? withColumn(this.shown, id, this.all) : this.shown.filter((other) => other !== id));
  }

  move(id: Id, to: Id): void {
    const [from, place] = [this.shown.indexOf(id), this.shown.indexOf(to)];
    if (from >= 0 && place >= 0 && from !== place) this.#keep(this.shown.toSpliced(from, 1).toSpliced(place, 0, id));
  }

  /** Shows the usual columns in the default order. */
  reset(): void {
    this.#keep(undefined);
  }

  #keep(chosen: readonly Id[] | undefined): void {
    this.#chosen = readChoice(chosen, this.#options);
    this.#options.views.keep(this.#options.storageKey, this.#chosen);
  }
}

/** The known columns of a stored value, and the fixed ones; undefined if the value is not a list. */
function readChoice<Id extends string>(
  kept: unknown,
  { all, fixed }: Pick<ColumnChoiceOptions<Id>, 'all' | 'fixed'>,
): readonly Id[] | undefined {
  if (!Array.isArray(kept)) return undefined;
  const known = [...new Set(kept)].flatMap((id) => all.find((column) => column.id === id)?.id ?? []);
  return fixed.reduce<readonly Id[]>((shown, id) => withColumn(shown, id, all), known);
}

/** Adds a column after the nearest shown one that precedes it in the default order. */
function withColumn<Id extends string>(shown: readonly Id[], id: Id, all: readonly { id: Id }[]): readonly Id[] {
  if (shown.includes(id)) return shown;
  const before = all.slice(
    0,
    all.findIndex((column) => column.id === id),
  );
  const last = before.findLast((column) => shown.includes(column.id));
  return shown.toSpliced(last === undefined ? 0 : shown.indexOf(last.id) + 1, 0, id);
}
