import type { HTMLButtonAttributes } from 'svelte/elements';

/** The attributes of a button that ignores presses while it is disabled, but keeps the focus. */
export function pressable({
  disabled,
  onclick,
}: Pick<HTMLButtonAttributes, 'disabled' | 'onclick'>): HTMLButtonAttributes {
  if (disabled !== true) return { onclick };
  // Also keeps Enter in a field from submitting the form, which clicks its submit button.
  return { 'aria-disabled': true, onclick: (event) => event.preventDefault() };
}
