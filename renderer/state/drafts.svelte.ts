import { onDestroy, untrack } from 'svelte';
import { getPage } from '../context.ts';
import type { KeyValueStorage } from './storage.ts';

/** Longer drafts would fill the tab's storage, which browsers bound at 5 MB. */
const DRAFT_LENGTH_MAX = 200_000;

/** Small values by name, for as long as their storage: unsaved ones of forms for the tab. */
export class Drafts {
  readonly #storage: KeyValueStorage;
  readonly #prefix: string;

  constructor(storage: KeyValueStorage, prefix = 'vivarium.draft.') {
    this.#storage = storage;
    this.#prefix = prefix;
  }

  /** What was kept last; undefined if nothing was. */
  read(name: string): unknown {
    try {
      return JSON.parse(this.#storage.getItem(this.#prefix + name) ?? 'null') ?? undefined;
    } catch {
      return undefined;
    }
  }

  /** Keeps a JSON value, or forgets the last one. */
  keep(name: string, value: unknown): void {
    const text = value === undefined ? undefined : JSON.stringify(value);
    try {
      if (text === undefined || text.length > DRAFT_LENGTH_MAX) this.#storage.removeItem(this.#prefix + name);
      else this.#storage.setItem(this.#prefix + name, text);
    } catch {
      // The storage is full. The form itself still has the values.
    }
  }
}

/** What a user types: a form, or an editor. */
export interface Draftable {
  /** The unsaved values as JSON; undefined without any. Reactive. */
  readonly typed: unknown;
  /** Takes over values that were kept; ignores what does not fit. */
  restore(kept: unknown): void;
}

/**
 * Keeps what is typed into a component's form for the tab, until it is sent or discarded. Never use it for secrets.
 * `name` is read once; undefined keeps nothing.
 */
export function useDraft(name: () => string | undefined, form: () => Draftable): void {
  const { drafts } = getPage();
  const keptAs = untrack(name);
  if (keptAs === undefined) return;
  const kept = drafts.read(keptAs);
  if (kept !== undefined) untrack(() => form().restore(kept));
  const keep = () => drafts.keep(keptAs, form().typed);
  $effect(keep);
  // What is sent or discarded together with the component's end.
  onDestroy(() => untrack(keep));
}
