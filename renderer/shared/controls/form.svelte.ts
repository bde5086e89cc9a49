import { ORPCError } from '@orpc/client';
import { untrack } from 'svelte';
import { describeFailure, issuesOf } from '../../connection/failure.ts';

export interface FormOptions<Values extends Record<string, unknown>, Output> {
  values: Values;
  /** Submits the values; throws the engine's error. `force`: the user confirmed a refused input. */
  submit: (values: Values, how: { force: boolean }) => Promise<Output>;
  /** The field for an error without a path, by error code: `hostname_invalid` → `hostname`. */
  fieldOf?: (code: string, message: string) => (keyof Values & string) | undefined;
}

/** A saved value that changed while another one was typed. */
export interface Elsewhere<Value = unknown> {
  value: Value;
  /** Takes it in place of what was typed. */
  take: () => void;
  /** Keeps what was typed. */
  keep: () => void;
}

/**
 * A form validated only by the engine. Faults of a field appear at the field, others above the buttons, and the typed
 * values remain.
 */
export class Form<Values extends Record<string, unknown>, Output> {
  values: Values = $state() as Values;
  /** The values it began with, or that were sent last. */
  #base: Values = $state.raw() as Values;
  submitting = $state(false);
  /** The fault of the form as a whole. */
  failure = $state<string | undefined>(undefined);
  /** The code of the engine's refusal, for a form that offers the fix. */
  code = $state<string | undefined>(undefined);
  #faults = $state.raw<Readonly<Record<string, string>>>({});
  #elsewhere = $state.raw<Partial<Values>>({});
  /** Whether the engine accepts the same values with `force`. */
  forcible = $state(false);
  readonly #options: FormOptions<Values, Output>;
  readonly faulty: boolean = $derived.by(() => Object.keys(this.#faults).length > 0);

  constructor(options: FormOptions<Values, Output>) {
    this.#options = options;
    this.#base = options.values;
    this.values = { ...options.values };
  }

  /** The saved values, as far as the form knows. */
  get saved(): Values {
    return this.#base;
  }

  /** The typed values, if they have not been sent. */
  get typed(): Values | undefined {
    const values = $state.snapshot(this.values) as Values;
    return Object.entries(values).every(([name, value]) => value === this.#base[name]) ? undefined : values;
  }

  /** Takes over values that were typed before; those of no field are ignored. */
  restore(kept: unknown): void {
    if (typeof kept !== 'object' || kept === null) return;
    const fitting = Object.entries(kept).filter(([name, value]) => typeof value === typeof this.values[name]);
    this.values = { ...this.values, ...Object.fromEntries(fitting) };
  }

  /**
   * Follows the saved values, which another window may change: a field shows the new value, or, if something else was
   * typed into it, reports it by `elsewhere`. Call it in an effect.
   */
  follow(saved: Values): void {
    untrack(() => {
      const base = this.#base;
      const moved = Object.keys(saved).filter((name: keyof Values) => saved[name] !== base[name]);
      if (moved.length === 0) return;
      const values = { ...this.values };
      const kept = Object.entries(this.#elsewhere).filter(([name]) => !moved.includes(name));
      const elsewhere = Object.fromEntries(kept) as Partial<Values>;
      for (const name of moved as (keyof Values)[]) {
        if (values[name] === base[name]) values[name] = saved[name];
        else if (values[name] !== saved[name] && !this.submitting) elsewhere[name] = saved[name];
      }
      this.#base = { ...base, ...saved };
      this.values = values;
      this.#elsewhere = elsewhere;
    });
  }

  /** The saved value of a field that changed elsewhere while another one was typed. */
  elsewhere<Name extends keyof Values & string>(field: Name): Elsewhere<Values[Name]> | undefined {
    if (!(field in this.#elsewhere)) return undefined;
    const value = this.#elsewhere[field] as Values[Name];
    const keep = (): void => {
      const { [field]: _seen, ...rest } = this.#elsewhere;
      this.#elsewhere = rest as Partial<Values>;
    };
    return {
      value,
      keep,
      take: () => {
        this.values[field] = value;
        keep();
      },
    };
  }

  fault(field: keyof Values & string): string | undefined {
    return this.#faults[field];
  }

  /** The value of a field with its fault, and what was saved elsewhere: to be spread into its control. */
  field<Name extends keyof Values & string>(
    name: Name,
  ): { value: Values[Name]; fault: string | undefined; elsewhere: Elsewhere<Values[Name]> | undefined } {
    const read = () => this.values[name];
    const write = (value: Values[Name]) => void (this.values[name] = value);
    return {
      get value() {
        return read();
      },
      set value(value) {
        write(value);
      },
      fault: this.fault(name),
      elsewhere: this.elsewhere(name),
    };
  }

  /** Submits the form; the answer, or undefined when refused or already submitting. */
  async submit({ force = false } = {}): Promise<Output | undefined> {
    if (this.submitting) return undefined;
    this.submitting = true;
    this.#forget();
    const values = $state.snapshot(this.values) as Values;
    try {
      const output = await this.#options.submit(values, { force });
      this.#base = values;
      return output;
    } catch (error) {
      this.#take(error);
      return undefined;
    } finally {
      this.submitting = false;
    }
  }

  reset(values: Values = this.#options.values): void {
    this.#base = values;
    this.values = { ...values };
    this.#forget();
  }

  #forget(): void {
    this.failure = undefined;
    this.code = undefined;
    this.#faults = {};
    this.#elsewhere = {};
    this.forcible = false;
  }

  /** The field of an input path: for `limits.perDay` the field of that name, else `limits`, else `perDay`, from its end. */
  #fieldAt(path: string): string {
    const [first = '', ...rest] = path.split(/[.[]/);
    return [path, first, ...rest.toReversed()].find((name) => name in this.values) ?? first;
  }

  #take(error: unknown): void {
    if (error instanceof ORPCError) this.code = String(error.code);
    const issues = issuesOf(error);
    this.forcible = issues.length > 0 && issues.every(({ forcible }) => forcible === true);
    const named = issues.map(({ path, message }) => [this.#fieldAt(path), inList(path) + message] as const);
    const ofFields = named.filter(([field]) => field in this.values);
    if (ofFields.length > 0 && ofFields.length === named.length) {
      // The first fault of a field is the first to fix.
      this.#faults = Object.fromEntries(ofFields.toReversed());
      return;
    }
    const field =
      error instanceof ORPCError && this.code !== undefined
        ? this.#options.fieldOf?.(this.code, error.message)
        : undefined;
    if (field === undefined) this.failure = describeFailure(error);
    else this.#faults = { [field]: describeFailure(error) };
  }
}

/** The list position in an input path, to prefix its fault: for `cors[1]` the second. */
function inList(path: string): string {
  const index = /\[(\d+)\]$/.exec(path)?.[1];
  return index === undefined ? '' : `Entry ${Number(index) + 1} `;
}
