/** The columns of the grid of pets, from left to right. `actions` is what can be done with the row. */
export const COLUMNS = ['id', 'name', 'categoryId', 'status', 'actions'] as const;
export type Column = (typeof COLUMNS)[number];

/** The columns whose cells can be edited. */
export const EDITABLE = ['name', 'categoryId', 'status'] as const satisfies readonly Column[];
export type EditableColumn = (typeof EDITABLE)[number];

export const isEditable = (column: Column): column is EditableColumn => EDITABLE.some((name) => name === column);

/** The row of the titles, above all others. */
export const HEAD = -1;

export interface Cell {
  row: number;
  column: Column;
}

export interface GridSize {
  rows: number;
  /** Rows that a page key moves by. */
  page: number;
}

/** The columns that have something to focus in the row of the titles: what can be sorted by. */
const IN_HEAD = COLUMNS.length - 1;

/**
 * Where a key leads in a grid (ARIA Authoring Practices, grid pattern); null for a key that does not move, and at the
 * edge the same cell.
 */
export function moveBy(
  key: string,
  withControl: boolean,
  { row, column }: Cell,
  { rows, page }: GridSize,
): Cell | null {
  const at = COLUMNS.indexOf(column);
  const to = (nextRow: number, nextColumn: number): Cell => {
    const cellRow = Math.max(HEAD, Math.min(rows - 1, nextRow));
    const last = (cellRow === HEAD ? IN_HEAD : COLUMNS.length) - 1;
    return { row: cellRow, column: COLUMNS[Math.max(0, Math.min(last, nextColumn))] ?? column };
  };
  switch (key) {
    case 'ArrowUp':
      return to(row - 1, at);
    case 'ArrowDown':
      return to(row + 1, at);
    case 'ArrowLeft':
      return to(row, at - 1);
    case 'ArrowRight':
      return to(row, at + 1);
    case 'Home':
      return to(withControl ? 0 : row, 0);
    case 'End':
      return to(withControl ? rows - 1 : row, COLUMNS.length - 1);
    case 'PageUp':
      return to(Math.max(0, row - page), at);
    case 'PageDown':
      return to(row + page, at);
    default:
      return null;
  }
}

/** The next cell to edit, or the one before: at the end of a row the other row's; null beyond the last. */
export function nextEditable({ row, column }: Cell, backwards: boolean, rows: number): Cell | null {
  const at = EDITABLE.findIndex((name) => name === column) + (backwards ? -1 : 1);
  const other = EDITABLE[at];
  if (other !== undefined) return { row, column: other };
  const nextRow = row + (backwards ? -1 : 1);
  if (nextRow < 0 || nextRow >= rows) return null;
  return { row: nextRow, column: backwards ? 'status' : 'name' };
}

/** The one cell of the grid that Tab leads to, and that arrows move. */
export class GridCursor {
  #cell = $state.raw<Cell>({ row: 0, column: 'name' });

  get cell(): Cell {
    return this.#cell;
  }

  get row(): number {
    return this.#cell.row;
  }

  is(row: number, column: Column): boolean {
    return this.#cell.row === row && this.#cell.column === column;
  }

  go(cell: Cell): void {
    if (!this.is(cell.row, cell.column)) this.#cell = cell;
  }

  /** Keeps to what there is. */
  fit(rows: number): void {
    if (this.#cell.row >= rows) this.go({ ...this.#cell, row: rows - 1 });
  }

  /** Goes along with rows that have moved. */
  moved(rows: number): void {
    if (this.#cell.row !== HEAD) this.go({ ...this.#cell, row: Math.max(0, this.#cell.row + rows) });
  }
}
