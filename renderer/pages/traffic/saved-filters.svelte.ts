import { readFilter } from '../../../main/contract/traffic-filter.ts';
import type { KeptValues } from '../../shared/session/storage.ts';

export interface SavedFilter {
  name: string;
  filter: string;
}

export const SAVED_MAX = 50;
export const NAME_LENGTH_MAX = 80;

const KEPT_AS = 'traffic.filters';

/** The filters stored in the browser, by name. */
export class SavedFilters {
  list = $state.raw<readonly SavedFilter[]>([]);
  readonly #views: KeptValues;

  constructor(views: KeptValues) {
    this.#views = views;
    const kept = views.read(KEPT_AS);
    if (Array.isArray(kept)) this.list = kept.filter(isSaved).slice(0, SAVED_MAX);
  }

  /** Saves a filter; one of the same name is replaced. Returns what is wrong, as a sentence. */
  save(name: string, filter: string): string | undefined {
    const saved = { name: name.trim() === '' ? filter.trim() : name.trim(), filter: filter.trim() };
    if (saved.filter === '') return 'There is no filter to save: type one first.';
    saved.name = [...saved.name].slice(0, NAME_LENGTH_MAX).join('');
    const others = this.list.filter((other) => other.name !== saved.name);
    if (others.length === SAVED_MAX) return `There are already ${SAVED_MAX} saved filters, the maximum: remove one.`;
    this.#keep([...others, saved].toSorted((a, b) => a.name.localeCompare(b.name)));
    return undefined;
  }

  remove(name: string): void {
    this.#keep(this.list.filter((saved) => saved.name !== name));
  }

  #keep(list: readonly SavedFilter[]): void {
    this.list = list;
    this.#views.keep(KEPT_AS, list);
  }
}

function isSaved(kept: unknown): kept is SavedFilter {
  if (typeof kept !== 'object' || kept === null || !('name' in kept) || !('filter' in kept)) return false;
  return typeof kept.name === 'string' && typeof kept.filter === 'string' && readFilter(kept.filter).ok;
}
