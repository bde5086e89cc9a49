import { flushSync } from 'svelte';
import { type Cell, HEAD, moveBy, startsText } from './grid-cursor.svelte.ts';
import { readPasted } from '../pet-text.ts';
import type { PetGridActions, PetGridHost } from './grid-actions.ts';

/** The keyboard and the clipboard at a cell of the grid of pets. */
export function createGridKeys(host: PetGridHost, actions: PetGridActions) {
  const { cursor, selection } = host.pets;

  const controlOf = (key: string): (() => void) | undefined =>
    key.toLowerCase() === 'a' ? () => void host.pets.selectAll() : undefined;

  function actionOf(key: string, cell: Cell): (() => void) | undefined {
    const { row, column } = cell;
    if (key === 'F2') return () => host.begin(cell);
    if (key === 'Delete' && selection.size > 0) return actions.removeSelected;
    if (key === 'Delete' && row !== HEAD) return () => actions.remove(actions.petAt(row));
    if (key === 'Escape' && selection.size > 0) return () => selection.clear();
    if (key === 'Escape' && host.now().chosen !== undefined) return () => host.open(undefined);
    if (key === ' ' && row !== HEAD) return () => actions.toggle(row);
    if (key !== 'Enter' && key !== ' ') return undefined;
    if (row === HEAD) return () => actions.actOnHead(column);
    if (column === 'select') return () => actions.toggle(row);
    if (column === 'id') return () => host.open(actions.petAt(row)?.id);
    if (column === 'actions') return () => actions.remove(actions.petAt(row));
    return () => host.begin(cell);
  }

  /**
   * Begins an edit with the typed character: the field gets the focus, with all of its text selected, before the input.
   */
  function type(event: KeyboardEvent, cell: Cell): void {
    if (cell.row === HEAD || actions.petAt(cell.row) === undefined) return;
    flushSync(() => host.begin(cell));
    // The key must not also trigger a shortcut of the page.
    event.stopPropagation();
  }

  return {
    /** Tab leads into the grid. */
    release({ key }: KeyboardEvent): void {
      if (key === 'Tab') cursor.isEntered = true;
    },

    /** When the window loses the focus, there is no related target, and the same cell gets the focus back. */
    leave({ currentTarget, relatedTarget }: FocusEvent): void {
      if (!(currentTarget instanceof Node) || !(relatedTarget instanceof Node)) return;
      if (!currentTarget.contains(relatedTarget)) cursor.isEntered = false;
    },

    press(event: KeyboardEvent): void {
      const { key, ctrlKey, metaKey, altKey, shiftKey } = event;
      const { cell } = cursor;
      if (event.defaultPrevented || altKey) return;
      const withControl = ctrlKey || metaKey;
      const moved = moveBy(key, withControl, cell, host.now().size);
      const act =
        moved !== null
          ? () => (shiftKey ? actions.goSelecting(moved) : host.go(moved))
          : withControl
            ? controlOf(key)
            : actionOf(key, cell);
      if (act === undefined) {
        if (cursor.isEntered && !withControl && startsText(key, cell.column)) type(event, cell);
        return;
      }
      event.preventDefault();
      cursor.isEntered = true;
      act();
    },

    copy(event: ClipboardEvent): void {
      const { row, column } = cursor.cell;
      const pet = actions.petAt(row);
      if (host.now().edit !== undefined || getSelection()?.isCollapsed === false) return;
      if (selection.size > 0) host.copy('tsv');
      else if (pet !== undefined && column !== 'select' && column !== 'actions') {
        event.clipboardData?.setData('text/plain', pet[column]);
      } else return;
      event.preventDefault();
    },

    paste(event: ClipboardEvent): void {
      const text = event.clipboardData?.getData('text/plain') ?? '';
      if (host.now().edit !== undefined || text === '') return;
      event.preventDefault();
      const pasted = readPasted(text);
      if (pasted.kind === 'rows') host.paste(pasted.text, pasted.form);
      else if (cursor.row !== HEAD) void host.pets.pasteCells(cursor.cell, pasted.cells);
    },
  };
}
