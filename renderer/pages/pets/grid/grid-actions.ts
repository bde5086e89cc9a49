import type { PetRecord } from '../../../../main/contract/pets.ts';
import type { PetSort } from '../../../../main/contract/values.ts';
import type { CellEdit } from './cell-edit.svelte.ts';
import { type Cell, type Column, type GridSize, HEAD } from './grid-cursor.svelte.ts';
import type { RowFormat } from '../pet-text.ts';
import type { ImportForm } from '../pet-text.ts';
import type { PetsPage } from '../pets-page.svelte.ts';

/** The grid of pets, as its keyboard and pointer handling use it. */
export interface PetGridHost {
  readonly pets: PetsPage;
  /**
   * The cell being edited, the id of the pet beside the list, and by how many rows pets have moved, until the list has
   * scrolled as far.
   */
  now: () => { size: GridSize; edit: CellEdit | undefined; chosen: string | undefined; unscrolled: number };
  /** Moves the cursor and the focus. */
  go: (cell: Cell) => void;
  begin: (cell: Cell) => void;
  focusCursor: () => Promise<void>;
  open: (id: string | undefined) => void;
  sort: (sort: PetSort) => void;
  copy: (format: RowFormat) => void;
  paste: (text: string, form: ImportForm) => void;
}

/** The cell of an element within it. */
export function cellOf(target: EventTarget | null): Cell | undefined {
  const name = target instanceof Element ? target.closest<HTMLElement>('[data-cell]')?.dataset['cell'] : undefined;
  const [row, column] = name?.split(' ') ?? [];
  return row === undefined || column === undefined ? undefined : { row: Number(row), column: column as Column };
}

export type PetGridActions = ReturnType<typeof createGridActions>;

/** The actions that both keys and clicks trigger. */
export function createGridActions(host: PetGridHost) {
  const { cursor, selection } = host.pets;
  const petAt = (row: number): PetRecord | undefined => host.pets.list.rows.at(row);

  return {
    petAt,
    selected(): 'none' | 'some' | 'all' {
      return selection.size === 0 ? 'none' : selection.size < (host.pets.list.rows.total ?? 0) ? 'some' : 'all';
    },
    remove(pet: PetRecord | undefined): void {
      if (pet !== undefined) void host.pets.remove(pet);
    },
    removeSelected(): void {
      void host.pets.removeSelected();
      void host.focusCursor();
    },
    toggle(row: number): void {
      const pet = petAt(row);
      if (pet !== undefined) selection.toggle(pet.id, row);
    },
    /** Moves the cursor, and selects the rows on the way. */
    goSelecting({ row: to, column }: Cell): void {
      const row = Math.max(0, to);
      if (cursor.row !== HEAD) void host.pets.selectTo(row, cursor.row);
      host.go({ row, column });
    },
    actOnHead(column: Column): void {
      if (column === 'select') {
        if (this.selected() === 'all') selection.clear();
        else void host.pets.selectAll();
      } else if (column !== 'actions') host.sort(column);
    },
  };
}
