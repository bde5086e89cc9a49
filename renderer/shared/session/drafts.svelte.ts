import { onDestroy, untrack } from 'svelte';
import { getPage } from './context.ts';

/** Something that a user types into: a form, or an editor. */
export interface Draftable {
  /** The unsaved values as JSON; undefined without any. Reactive. */
  readonly typed: unknown;
  /** Takes over values that were kept; ignores what does not fit. */
  restore(kept: unknown): void;
}

/**
 * Keeps what is typed into a component's form for the tab, until it is sent or discarded. Never use it for secrets.
 * The name is read once; undefined keeps nothing.
 */
export function useDraft(draft: () => readonly [name: string | undefined, form: Draftable]): void {
  const { drafts } = getPage();
  const [storageKey, form] = untrack(draft);
  if (storageKey === undefined) return;
  const kept = drafts.read(storageKey);
  if (kept !== undefined) untrack(() => form.restore(kept));
  const keep = () => drafts.keep(storageKey, draft()[1].typed);
  $effect(keep);
  // Values may be sent or discarded at the moment when the component is destroyed.
  onDestroy(() => untrack(keep));
}
