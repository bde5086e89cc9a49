import {
  completeFilter,
  readFilter,
  type Completion,
  type FilterField,
} from '../../../main/contract/traffic-filter.ts';

/** The maximum number of completions. */
const OFFERED_MAX = 12;

export interface FilterFieldOptions {
  text: string;
  /** Values known only to the page: hostnames, key names. Reactive. */
  known: () => Partial<Record<FilterField, readonly string[]>>;
  /** Called whenever the text is a valid filter. */
  onfilter: (text: string) => void;
}

/** A filter being typed, with completions (ARIA Authoring Practices: combobox, list autocomplete). */
export class FilterFieldState {
  #text = $state('');
  #open = $state(false);
  /** The index of the highlighted completion; -1: none. */
  #active = $state(-1);
  #reported: string;
  readonly #options: FilterFieldOptions;

  constructor(options: FilterFieldOptions) {
    this.#options = options;
    this.#text = options.text;
    this.#reported = options.text;
  }

  get text(): string {
    return this.#text;
  }

  /** The fault of the filter; not reported while the last word is incomplete. */
  get fault(): string | undefined {
    const read = readFilter(this.#text);
    const isBegun = this.#open && (this.completions.length > 0 || this.#text.endsWith(':'));
    return read.ok || isBegun ? undefined : read.message;
  }

  get completions(): readonly Completion[] {
    return completeFilter(this.#text, this.#options.known()).slice(0, OFFERED_MAX);
  }

  get open(): boolean {
    return this.#open && !this.#isWhole && this.completions.length > 0;
  }

  /** Whether the only completion is what has been typed. */
  get #isWhole(): boolean {
    const [only, ...others] = this.completions;
    return only !== undefined && others.length === 0 && only.text === this.#text;
  }

  get active(): number {
    return this.open ? Math.min(this.#active, this.completions.length - 1) : -1;
  }

  type(text: string): void {
    this.#text = text;
    // After a whole term, the list would cover the result; the arrow keys still open it.
    this.#open = !/\S\s$/.test(text);
    this.#active = -1;
    this.#apply();
  }

  /** Takes over the filter in the address after a change elsewhere. */
  adopt(text: string): void {
    if (text === this.#text.trim() || text === this.#reported.trim() || !readFilter(this.#text).ok) return;
    this.#text = text;
    this.close();
  }

  /** Opens the completions without typing, for a click. */
  offer(): void {
    this.#open = !/\S\s$/.test(this.#text);
  }

  close(): void {
    const wasBegun = this.#isFieldBegun;
    this.#open = false;
    this.#active = -1;
    if (wasBegun) this.#apply();
  }

  clear(): void {
    this.#text = '';
    this.close();
    this.#apply();
  }

  /** Moves through the completions, wrapping around via the field itself. False if none are shown. */
  move(by: 1 | -1): boolean {
    if (!this.open) return false;
    const { length } = this.completions;
    // One position more than there are completions, for the field.
    this.#active = ((this.active + 1 + by + length + 1) % (length + 1)) - 1;
    return true;
  }

  /** Accepts a completion: a field, followed by its values, or a value. False if there is none. */
  accept(index = this.active): boolean {
    const completion = this.completions[index];
    if (completion === undefined) return false;
    const isField = completion.label.endsWith(':');
    this.#text = isField ? completion.text : `${completion.text} `;
    this.#active = -1;
    this.#open = isField;
    this.#apply();
    return true;
  }

  /** Whether the last word may become a field name; searching for it as text would briefly empty the list. */
  get #isFieldBegun(): boolean {
    return this.open && !/[:\s]$/.test(this.#text) && this.completions.some(({ label }) => label.endsWith(':'));
  }

  #apply(): void {
    const withoutLast = this.#text.slice(0, this.#text.lastIndexOf(' ') + 1);
    // A mistyped word filters nothing: its beginning may have been a text to search for.
    const text = this.#isFieldBegun || this.fault !== undefined ? withoutLast : this.#text;
    if (!readFilter(text).ok) return;
    this.#reported = text;
    this.#options.onfilter(text);
  }
}
