import { completeFilter, readFilter, type Completion, type FilterField } from '../../main/contract/traffic-filter.ts';

/** What is offered at a time; more is not looked through. */
const OFFERED_MAX = 12;

export interface FilterFieldOptions {
  text: string;
  /** Values that only the page knows: hostnames, names of keys. Reactive. */
  known: () => Partial<Record<FilterField, readonly string[]>>;
  /** Told whenever a filter stands there that can be understood. */
  onfilter: (text: string) => void;
}

/** A filter while it is typed, and what its last word may become (ARIA Authoring Practices: combobox, list autocomplete). */
export class FilterFieldState {
  #text = $state('');
  #open = $state(false);
  /** Which completion the arrows are at; -1: none. */
  #active = $state(-1);
  /** What was told last. */
  #told: string;
  readonly #options: FilterFieldOptions;

  constructor(options: FilterFieldOptions) {
    this.#options = options;
    this.#text = options.text;
    this.#told = options.text;
  }

  get text(): string {
    return this.#text;
  }

  /** What is wrong with it; not said of a word that is only begun. */
  get fault(): string | undefined {
    const read = readFilter(this.#text);
    const isBegun = this.#open && (this.completions.length > 0 || this.#text.endsWith(':'));
    return read.ok || isBegun ? undefined : read.message;
  }

  get completions(): readonly Completion[] {
    return completeFilter(this.#text, this.#options.known()).slice(0, OFFERED_MAX);
  }

  get open(): boolean {
    return this.#open && this.completions.length > 0;
  }

  get active(): number {
    return this.open ? Math.min(this.#active, this.completions.length - 1) : -1;
  }

  type(text: string): void {
    this.#text = text;
    this.#open = true;
    this.#active = -1;
    this.#apply();
  }

  /** Takes the filter of the address, when it was changed elsewhere. */
  adopt(text: string): void {
    if (text === this.#text.trim() || text === this.#told.trim() || !readFilter(this.#text).ok) return;
    this.#text = text;
    this.close();
  }

  /** Offers completions without anything being typed. */
  offer(): void {
    this.#open = true;
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

  /** Goes through what is offered, around at both ends; by way of the field itself. */
  move(by: 1 | -1): void {
    const { length } = this.completions;
    if (!this.open) {
      this.#open = true;
      this.#active = by === 1 ? 0 : length - 1;
      return;
    }
    // One place more than there are: that of the field.
    this.#active = ((this.active + 1 + by + length + 1) % (length + 1)) - 1;
  }

  /** Takes a completion: a field, whose values are offered next, or a value. False when there is none. */
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

  /** Whether the last word may become a field, so that looking for it as a text would empty the list for a moment. */
  get #isFieldBegun(): boolean {
    return this.open && !/[:\s]$/.test(this.#text) && this.completions.some(({ label }) => label.endsWith(':'));
  }

  #apply(): void {
    const text = this.#isFieldBegun ? this.#text.slice(0, this.#text.lastIndexOf(' ') + 1) : this.#text;
    if (!readFilter(text).ok) return;
    this.#told = text;
    this.#options.onfilter(text);
  }
}
