import type { PetRecord } from '../../../../main/contract/pets.ts';
import { HEAD, isEditable } from './grid-cursor.svelte.ts';
import { cellOf, type PetGridActions, type PetGridHost } from './grid-actions.ts';

/** In pixels; a smaller movement of the pointer counts as accidental. */
const STILL_PX = 4;

const isRemoval = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('[data-remove]') !== null;

export function createGridPointer(host: PetGridHost, actions: PetGridActions) {
  const { cursor, selection } = host.pets;
  /** The pet on whose *Remove* the pointer was pressed, and where. */
  let pressed: { pet: PetRecord; x: number; y: number } | undefined;

  return {
    down(event: MouseEvent): void {
      const { clientX: x, clientY: y, target } = event;
      cursor.isEntered = true;
      const cell = cellOf(target);
      const pet =
        cell === undefined || !isRemoval(target) ? undefined : actions.petAt(cell.row + host.now().unscrolled);
      pressed = pet !== undefined && event.button === 0 ? { pet, x, y } : undefined;
      // A click with Shift would select text.
      if (event.shiftKey && cell !== undefined && host.now().edit === undefined) event.preventDefault();
    },

    /** Removes the pressed pet, even if its row is a different element by now, which gets no click event. */
    up({ clientX, clientY, target }: MouseEvent): void {
      if (pressed === undefined) return;
      const { pet, x, y } = pressed;
      pressed = undefined;
      const over = isRemoval(target) ? cellOf(target) : undefined;
      const isStill = Math.hypot(clientX - x, clientY - y) < STILL_PX;
      if (!isStill && (over === undefined || actions.petAt(over.row)?.id !== pet.id)) return;
      actions.remove(pet);
      host.go({ row: host.pets.list.rows.positionOf(pet.id) ?? cursor.row, column: 'actions' });
    },

    click(event: MouseEvent): void {
      if (!(event.target instanceof Element)) return;
      const cell = cellOf(event.target);
      if (cell === undefined || event.target.closest('.editor') !== null) return;
      const withControl = event.ctrlKey || event.metaKey;
      const isPlain = !withControl && !event.shiftKey;
      if (cell.row === HEAD) {
        actions.actOnHead(cell.column);
      } else if (event.target.closest('[data-open]') !== null) {
        if (!isPlain) return;
        event.preventDefault();
        host.open(actions.petAt(cell.row)?.id);
      } else if (isRemoval(event.target)) {
        // For a pointer, `up` has removed it already.
        if (event.detail > 0) return;
        actions.remove(actions.petAt(cell.row));
      } else if (event.shiftKey) {
        return actions.goSelecting(cell);
      } else if (withControl || cell.column === 'select') {
        actions.toggle(cell.row);
      } else {
        selection.startAt(cell.row);
      }
      host.go(cell);
    },

    doubleClick({ target }: MouseEvent): void {
      const cell = cellOf(target);
      if (cell !== undefined && cell.row !== HEAD && isEditable(cell.column) && host.now().edit === undefined)
        host.begin(cell);
    },
  };
}
