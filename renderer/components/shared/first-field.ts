const FIELD = ':is(input:not([type=file], [type=radio], [type=checkbox]), textarea, select):not(:disabled)';

/** Moves the focus that an opening panel takes to its first field, so that one can type at once; if there is one. */
export function beginAtField(panel: HTMLElement | undefined, event: Event): void {
  const field = panel?.querySelector<HTMLElement>(FIELD);
  if (field === null || field === undefined) return;
  event.preventDefault();
  field.focus();
}
