import type { PetRecord } from '../../../main/contract/pets.ts';
import { HEAD, isEditable } from '../../state/grid-cursor.svelte.ts';
import { cellOf, type PetGridActs, type PetGridHost } from './grid-acts.ts';

/** In pixels: a pointer that has moved less was not moved on purpose. */
const STILL_PX = 4;

const isRemoval = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('[data-remove]') !== null;

/** The pointer in the grid of pets. */
export function createGridPointer(host: PetGridHost, acts: PetGridActs) {
  const { cursor, selection } = host.pets;
  /** The pet on whose *Remove* the pointer was pressed, and where. */
  let pressed: { pet: PetRecord; x: number; y: number } | undefined;

  return {
    down(event: MouseEvent): void {
      const { clientX: x, clientY: y, target } = event;
      const cell = cellOf(target);
      const pet = cell === undefined || !isRemoval(target) ? undefined : acts.petAt(cell.row + host.unscrolled);
      pressed = pet !== undefined && event.button === 0 ? { pet, x, y } : undefined;
      // A click with Shift would select text.
      if (event.shiftKey && cell !== undefined && host.edit === undefined) event.preventDefault();
    },

    /** Removes the pet that was pressed, even if its row is another element by now: no click comes then. */
    up({ clientX, clientY, target }: MouseEvent): void {
      if (pressed === undefined) return;
      const { pet, x, y } = pressed;
      pressed = undefined;
      const over = isRemoval(target) ? cellOf(target) : undefined;
      const isStill = Math.hypot(clientX - x, clientY - y) < STILL_PX;
      if (!isStill && (over === undefined || acts.petAt(over.row)?.id !== pet.id)) return;
      acts.remove(pet);
      host.go({ row: host.pets.list.rows.positionOf(pet.id) ?? cursor.row, column: 'actions' });
    },

    click(event: MouseEvent): void {
      if (!(event.target instanceof Element)) return;
      const cell = cellOf(event.target);
      if (cell === undefined || event.target.closest('.editor') !== null) return;
      const withControl = event.ctrlKey || event.metaKey;
      const isPlain = !withControl && !event.shiftKey;
      if (cell.row === HEAD) {
        acts.actOnHead(cell.column);
      } else if (event.target.closest('[data-open]') !== null) {
        if (!isPlain) return;
        event.preventDefault();
        host.open(acts.petAt(cell.row)?.id);
      } else if (isRemoval(event.target)) {
        // With a pointer, its release has removed it.
        if (event.detail > 0) return;
        acts.remove(acts.petAt(cell.row));
      } else if (event.shiftKey) {
        return acts.goSelecting(cell);
      } else if (withControl || cell.column === 'select') {
        acts.toggle(cell.row);
      } else {
        selection.startAt(cell.row);
      }
      host.go(cell);
    },

    doubleClick({ target }: MouseEvent): void {
      const cell = cellOf(target);
      if (cell !== undefined && cell.row !== HEAD && isEditable(cell.column) && host.edit === undefined)
        host.begin(cell);
    },
  };
}
