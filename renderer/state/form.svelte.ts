import { ORPCError } from '@orpc/client';
import { describeFailure, issuesOf } from '../connection/failure.ts';
import { ConnectionLostError } from '../connection/transport.ts';

export interface FormOptions<Values extends Record<string, unknown>, Output> {
  /** What stands in the fields at first. */
  values: Values;
  /** Sends it; throws what the engine says. `force`: what was refused before is wanted all the same. */
  submit: (values: Values, how: { force: boolean }) => Promise<Output>;
  /** The field that an error without a place belongs to, by its code: `hostname_invalid` → `hostname`. */
  fieldOf?: (code: string, message: string) => (keyof Values & string) | undefined;
}

/**
 * A form over the engine's own rules: nothing is judged here. What the engine says about a field stands at that field, what
 * it says about the whole stands above the buttons, and what was typed stays.
 */
export class Form<Values extends Record<string, unknown>, Output> {
  values: Values = $state() as Values;
  #submitting = $state(false);
  #failure = $state<string | undefined>(undefined);
  #code = $state<string | undefined>(undefined);
  #faults = $state.raw<Readonly<Record<string, string>>>({});
  #forcible = $state(false);
  readonly #options: FormOptions<Values, Output>;

  constructor(options: FormOptions<Values, Output>) {
    this.#options = options;
    this.values = { ...options.values };
  }

  get submitting(): boolean {
    return this.#submitting;
  }

  /** What is wrong with the whole. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** The code of the engine's refusal, for a form that can offer the way out of it. */
  get code(): string | undefined {
    return this.#code;
  }

  /** Whether the same is taken with `force`. */
  get forcible(): boolean {
    return this.#forcible;
  }

  /** What is wrong with a field. */
  fault(field: keyof Values & string): string | undefined {
    return this.#faults[field];
  }

  get faulty(): boolean {
    return Object.keys(this.#faults).length > 0;
  }

  /** Sends the form; the answer, or undefined when it was refused or is on its way already. */
  async submit({ force = false } = {}): Promise<Output | undefined> {
    if (this.#submitting) return undefined;
    this.#submitting = true;
    this.#forget();
    try {
      return await this.#options.submit($state.snapshot(this.values) as Values, { force });
    } catch (error) {
      this.#take(error);
      return undefined;
    } finally {
      this.#submitting = false;
    }
  }

  reset(values: Values = this.#options.values): void {
    this.values = { ...values };
    this.#forget();
  }

  #forget(): void {
    this.#failure = undefined;
    this.#code = undefined;
    this.#faults = {};
    this.#forcible = false;
  }

  /** The field that holds a place of the input: of `limits.perDay` the field of that name, else `limits`. */
  #fieldAt(path: string): string {
    return path in this.values ? path : (path.split(/[.[]/)[0] ?? '');
  }

  #take(error: unknown): void {
    if (error instanceof ConnectionLostError) {
      this.#failure = 'There is no connection to Vivarium. What you typed stays; send it again when it is back.';
      return;
    }
    if (error instanceof ORPCError) this.#code = String(error.code);
    const issues = issuesOf(error);
    this.#forcible = issues.length > 0 && issues.every(({ forcible }) => forcible === true);
    const named = issues.map(({ path, message }) => [this.#fieldAt(path), inList(path) + message] as const);
    const ofFields = named.filter(([field]) => field in this.values);
    if (ofFields.length > 0 && ofFields.length === named.length) {
      // The first thing wrong with a field is what to mend first.
      this.#faults = Object.fromEntries(ofFields.toReversed());
      return;
    }
    const field =
      error instanceof ORPCError && this.#code !== undefined
        ? this.#options.fieldOf?.(this.#code, error.message)
        : undefined;
    if (field === undefined) this.#failure = describeFailure(error);
    else this.#faults = { [field]: describeFailure(error) };
  }
}

/** Which entry of a list a place is in, to begin its message with: of `cors[1]` the second. */
function inList(path: string): string {
  const index = /\[(\d+)\]$/.exec(path)?.[1];
  return index === undefined ? '' : `Entry ${Number(index) + 1} `;
}
