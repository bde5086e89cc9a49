import { type EditableField, PET_FIELDS, type PetField } from '../../../../main/contract/pet-fields.ts';

/** A column of the pet grid: `select` has a checkbox, `actions` the row's actions. */
export type Column = 'select' | PetField | 'actions';

export const isEditable = (column: Column): column is EditableField => column !== 'id' && column in PET_FIELDS;

/** `/` and `?` stay the page's own; an input method announces its first key as `Process`. */
const TEXT_STARTS = /^(?:[^/?\s]|Process|Dead)$/u;

function starts(key: string, column: EditableField): boolean {
  const facts = PET_FIELDS[column];
  if (facts.kind === 'choice') return facts.options.some((option) => option.startsWith(key.toLowerCase()));
  return (facts.kind === 'int64' ? /^[-\d]$/ : TEXT_STARTS).test(key);
}

/** Whether a key begins an edit by typing over a cell of the column. */
export const startsText = (key: string, column: Column): boolean => isEditable(column) && starts(key, column);

/** The header row. */
export const HEAD = -1;

export interface Cell {
  row: number;
  column: Column;
}

export interface GridSize {
  /** From left to right. */
  columns: readonly Column[];
  rows: number;
  /** Rows per page key. */
  page: number;
}

/**
 * The cell that a key leads to in a grid (ARIA Authoring Practices, grid pattern): null for other keys, and the same
 * cell at an edge.
 */
export function moveBy(
  key: string,
  withControl: boolean,
  { row, column }: Cell,
  { columns, rows, page }: GridSize,
): Cell | null {
  const at = columns.indexOf(column);
  const to = (nextRow: number, nextColumn: number): Cell => {
    const cellRow = Math.max(HEAD, Math.min(rows - 1, nextRow));
    // The titles have nothing for the actions.
    const last = columns.length - (cellRow === HEAD ? 2 : 1);
    return { row: cellRow, column: columns[Math.max(0, Math.min(last, nextColumn))] ?? column };
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
      return to(withControl ? rows - 1 : row, columns.length - 1);
    case 'PageUp':
      return to(Math.max(0, row - page), at);
    case 'PageDown':
      return to(row + page, at);
    default:
      return null;
  }
}

/** The next or previous editable cell, across row ends; null past the last. */
export function nextEditable(
  { row, column }: Cell,
  backwards: boolean,
  { columns, rows }: Pick<GridSize, 'columns' | 'rows'>,
): Cell | null {
  const editable = columns.filter(isEditable);
  const step = backwards ? -1 : 1;
  const at = editable.findIndex((name) => name === column) + step;
  const isInRow = at >= 0 && at < editable.length;
  const next = editable.at(isInRow ? at : backwards ? -1 : 0);
  const nextRow = isInRow ? row : row + step;
  return next === undefined || nextRow < 0 || nextRow >= rows ? null : { row: nextRow, column: next };
}

/** The grid's single cell in the tab order, moved by the arrow keys. */
export class GridCursor {
  cell = $state.raw<Cell>({ row: 0, column: 'name' });
  /** Whether the user has gone to a cell. If the page has moved the focus there, letters are still shortcuts. */
  isEntered = false;
  readonly row: number = $derived.by(() => this.cell.row);

  is(row: number, column: Column): boolean {
    return this.cell.row === row && this.cell.column === column;
  }

  go(cell: Cell): void {
    if (!this.is(cell.row, cell.column)) this.cell = cell;
  }

  /** Clamps the cursor to the existing rows, and to the name when its column is hidden. */
  fit({ columns, rows }: Pick<GridSize, 'columns' | 'rows'>): void {
    const { row, column } = this.cell;
    this.go({ row: Math.min(row, rows - 1), column: columns.includes(column) ? column : 'name' });
  }

  moved(rows: number): void {
    if (this.cell.row !== HEAD) this.go({ ...this.cell, row: Math.max(0, this.cell.row + rows) });
  }
}
