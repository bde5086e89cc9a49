import { formatPlace, isSamePage, readPlace, type Place } from './places.ts';

/** What the navigator needs of a browser's window; a test gives its own. */
export interface AddressBar {
  /** Path and search. */
  read(): { path: string; search: string };
  push(address: string): void;
  replace(address: string): void;
  /** Calls `listener` when the user goes back or forward. */
  onMoved(listener: () => void): void;
}

/**
 * Where the page is. The address bar is the truth: a place can be linked to, reloaded and gone back to. `place` is null
 * at an address that leads nowhere.
 */
export class Navigator {
  #place = $state.raw<Place | null>(null);
  #visits = $state(0);
  readonly #bar: AddressBar;

  constructor(bar: AddressBar) {
    this.#bar = bar;
    this.#read();
    bar.onMoved(() => {
      this.#read();
      this.#visits += 1;
    });
  }

  get place(): Place | null {
    return this.#place;
  }

  /** Counts arrivals at another place; whoever moves the focus there watches it. */
  get visits(): number {
    return this.#visits;
  }

  /** The address as it was read, for a page that says that it leads nowhere. */
  get address(): string {
    return this.#bar.read().path;
  }

  /** What narrows the page: empty when nothing does. */
  get query(): Readonly<Record<string, string>> {
    return this.#place?.query ?? {};
  }

  go(place: Place): void {
    const here = this.#place;
    if (here !== null && formatPlace(here) === formatPlace(place)) return;
    this.#bar.push(formatPlace(place));
    this.#place = place;
    if (here === null || !isSamePage(here, place)) this.#visits += 1;
  }

  /** Goes to an address of the interface; false when it is none, and the browser should see to it. */
  goTo(path: string, search: string): boolean {
    const place = readPlace(path, search);
    if (place === null) return false;
    this.go(place);
    return true;
  }

  /** Goes on at `place` instead of here: the way back does not lead through here. */
  replace(place: Place): void {
    this.#bar.replace(formatPlace(place));
    this.#place = place;
  }

  /**
   * Shows another thing of this page, or none, beside the list that it was chosen in: the focus stays there. `replace`
   * leaves no trace in the history, for whoever runs through a list.
   */
  show(item: string | undefined, { replace = false } = {}): void {
    const here = this.#place;
    if (here === null || here.item === item) return;
    const { item: _before, ...rest } = here;
    const place = item === undefined ? rest : { ...rest, item };
    this.#bar[replace ? 'replace' : 'push'](formatPlace(place));
    this.#place = place;
  }

  /** Changes what narrows this page; an undefined or empty value takes it away. Leaves no trace in the history. */
  narrow(changes: Readonly<Record<string, string | undefined>>): void {
    const here = this.#place;
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
    this.#place = readPlace(path, search);
  }
}
