import { formatPlace, isSamePage, readPlace, type Place } from './places.ts';

/** The browser APIs that the navigator uses; tests supply their own. */
export interface AddressBar {
  read(): { path: string; search: string };
  push(address: string): void;
  replace(address: string): void;
  /** Calls `listener` when the user goes back or forward. */
  onMoved(listener: () => void): void;
}

/**
 * The current place. The address bar is the source of truth, so a place can be linked to, reloaded and returned to.
 * `place` is null at an unknown address.
 */
export class Navigator {
  place = $state.raw<Place | null>(null);
  /** Counts navigations to another page; views watch it to move the focus. */
  visits = $state(0);
  readonly #bar: AddressBar;
  /** The page's filters; empty when there are none. */
  readonly query: Readonly<Record<string, string>> = $derived.by(() => this.place?.query ?? {});

  constructor(bar: AddressBar) {
    this.#bar = bar;
    this.#read();
    bar.onMoved(() => {
      this.#read();
      this.visits += 1;
    });
  }

  /** The current address, for the page that reports an unknown one. */
  get address(): string {
    return this.#bar.read().path;
  }

  go(place: Place): void {
    const here = this.place;
    if (here !== null && formatPlace(here) === formatPlace(place)) return;
    this.#bar.push(formatPlace(place));
    this.place = place;
    if (here === null || !isSamePage(here, place)) this.visits += 1;
  }

  /** Goes to an address of the interface; false when it is foreign and the browser should handle it. */
  goTo(path: string, search: string): boolean {
    const place = readPlace(path, search);
    if (place === null) return false;
    this.go(place);
    return true;
  }

  replace(place: Place): void {
    this.#bar.replace(formatPlace(place));
    this.place = place;
  }

  /**
   * Selects another item of this page, or none; the focus stays in the list. `replace` adds no history entry, for arrow
   * keys in a list.
   */
  show(item: string | undefined, { replace = false } = {}): void {
    const here = this.place;
    if (here === null || here.item === item) return;
    const { item: _before, ...rest } = here;
    const place = item === undefined ? rest : { ...rest, item };
    this.#bar[replace ? 'replace' : 'push'](formatPlace(place));
    this.place = place;
  }

  /** Changes this page's filters; an undefined or empty value removes one. Adds no history entry. */
  setQuery(changes: Readonly<Record<string, string | undefined>>): void {
    const here = this.place;
    if (here === null) return;
    const merged = Object.entries({ ...here.query, ...changes });
    const query = Object.fromEntries(
      merged.filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== ''),
    );
    const { query: _before, ...place } = here;
    this.replace(Object.keys(query).length === 0 ? place : { ...place, query });
  }

  #read(): void {
    const { path, search } = this.#bar.read();
    this.place = readPlace(path, search);
    // An address of an earlier version becomes today's.
    if (this.place !== null && formatPlace(this.place).split('?')[0] !== path) this.replace(this.place);
  }
}
