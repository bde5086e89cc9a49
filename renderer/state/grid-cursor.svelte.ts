/** The columns of the pet grid, from left to right: `select` has a checkbox, `actions` the row's actions. */
export const COLUMNS = ['select', 'id', 'name', 'categoryId', 'status', 'actions'] as const;
export type Column = (typeof COLUMNS)[number];

/** The editable columns. */
export const EDITABLE = ['name', 'categoryId', 'status'] as const satisfies readonly Column[];
export type EditableColumn = (typeof EDITABLE)[number];

export const isEditable = (column: Column): column is EditableColumn => EDITABLE.some((name) => name === column);

/** `/` and `?` stay the page's own; an input method announces its first key as `Process`. */
const STARTS: Record<EditableColumn, RegExp> = {
  name: /^(?:[^/?\s]|Process|Dead)$/u,
  categoryId: /^[-\d]$/,
  status: /^[aps]$/i,
};

/** Whether a key begins an edit by typing over a cell of the column. */
export const startsText = (key: string, column: Column): boolean => isEditable(column) && STARTS[column].test(key);

/** The header row. */
export const HEAD = -1;

export interface Cell {
  row: number;
  column: Column;
}

export interface GridSize {
  rows: number;
  /** Rows per page key. */
  page: number;
}

/** The focusable header columns: the sortable ones, and the checkbox that selects all. */
const IN_HEAD = COLUMNS.length - 1;

/**
 * The cell that a key leads to in a grid (ARIA Authoring Practices, grid pattern): null for other keys, and the same
 * cell at an edge.
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

/** The next or previous editable cell, across row ends; null past the last. */
export function nextEditable({ row, column }: Cell, backwards: boolean, rows: number): Cell | null {
  const at = EDITABLE.findIndex((name) => name === column) + (backwards ? -1 : 1);
  const other = EDITABLE[at];
  if (other !== undefined) return { row, column: other };
  const nextRow = row + (backwards ? -1 : 1);
  if (nextRow < 0 || nextRow >= rows) return null;
  return { row: nextRow, column: backwards ? 'status' : 'name' };
}

/** The grid's single cell in the tab order, moved by the arrow keys. */
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

  /** Clamps the cursor to the existing rows. */
  fit(rows: number): void {
    if (this.#cell.row >= rows) this.go({ ...this.#cell, row: rows - 1 });
  }

  /** Follows rows that have moved. */
  moved(rows: number): void {
    if (this.#cell.row !== HEAD) this.go({ ...this.#cell, row: Math.max(0, this.#cell.row + rows) });
  }
}
