import { ALL_FIELDS } from '../../../main/contract/pet-fields.ts';
import type { PetRecord } from '../../../main/contract/pets.ts';
import type { PetSort } from '../../../main/contract/values.ts';
import { describeFailure, issuesOf, withTitle } from '../../connection/failure.ts';
import type { Source } from '../../connection/live-query.svelte.ts';
import type { CellEdit } from './grid/cell-edit.svelte.ts';
import { ColumnChoice } from '../../shared/lists/column-choice.svelte.ts';
import { ColumnSizes } from '../../shared/lists/column-sizes.svelte.ts';
import type { KeptValues } from '../../shared/session/storage.ts';
import { type Cell, GridCursor, isEditable } from './grid/grid-cursor.svelte.ts';
import { fieldOf, PetActions, type TypedPet } from './pet-actions.ts';
import { PetBulk, type PetChange } from './pet-bulk.ts';
import type { AddedIds } from './pet-works.ts';
import { isSameSet, type PetFilter } from './pet-filter.ts';
import { PetList } from './pet-list.svelte.ts';
import type { PetRows } from './grid/pet-rows.svelte.ts';
import { RowSelection, SELECTED_MAX } from '../../shared/lists/row-selection.svelte.ts';
import { PET_COLUMNS } from './grid/pet-columns.ts';
import type { Toasts } from '../../shared/session/toasts.svelte.ts';
import type { Works } from '../../shared/session/works.svelte.ts';
import { inListOrder } from './pet-text.ts';
import { formatCount } from '../../shared/time/format.ts';

/** More rows should be imported as a file; reading these takes ten calls. */
const PASTED_ROWS_MAX = 10_000;

export interface GridOnScreen {
  /** The position of the row to keep in place; undefined if none. */
  anchor(): number | undefined;
  moved(rows: number): void;
  /** Scrolls to a row and moves the cursor there. */
  goTo(row: number): void;
}

export interface PetsPageOptions extends Source {
  toasts: Toasts;
  works: Works;
  views: KeptValues;
  projectId: string;
  filter: PetFilter;
}

/** The pets of a project: the list, the cursor, and their actions. */
export class PetsPage {
  readonly cursor = new GridCursor();
  readonly selection = new RowSelection();
  readonly list: PetList;
  readonly columns: ColumnChoice<PetSort>;
  readonly sizes: ColumnSizes;
  readonly actions: PetActions;
  readonly bulk: PetBulk;
  /** The columns for which the grid has no room. */
  hidden: readonly PetSort[] = $state.raw([]);
  /** The columns on the screen, from left to right. */
  readonly shown: readonly PetSort[] = $derived.by(() =>
    this.columns.shown.filter((column) => !this.hidden.includes(column)),
  );
  #grid: GridOnScreen | null = null;
  readonly #toasts: Toasts;

  constructor({ client, changes, time, toasts, works, views, projectId, filter }: PetsPageOptions) {
    this.#toasts = toasts;
    this.columns = new ColumnChoice({
      views,
      storageKey: 'pets.shown',
      all: PET_COLUMNS,
      fixed: ['name'],
      usual: ALL_FIELDS,
    });
    this.sizes = new ColumnSizes({ views, storageKey: 'pets.columns', columns: ALL_FIELDS });
    this.actions = new PetActions({ client, projectId, toasts });
    this.bulk = new PetBulk({ client, projectId, toasts, works });
    this.list = new PetList(
      {
        client,
        changes,
        time,
        projectId,
        anchor: () => this.#grid?.anchor(),
        onmoved: (rows) => {
          this.selection.moved(rows);
          this.#grid?.moved(rows);
        },
      },
      filter,
    );
  }

  /** Registers the grid while it is shown. */
  attach(grid: GridOnScreen): () => void {
    this.#grid = grid;
    return () => {
      this.#grid = null;
    };
  }

  /** Requests another list. Pets that it may lack are unselected, because they would be changed out of sight. */
  want(filter: PetFilter): void {
    if (!isSameSet(filter, this.list.wanted)) this.selection.clear();
    this.list.want(filter);
  }

  /** Selects the rows from where the range began, or `from`, to a row. */
  async selectTo(row: number, from: number): Promise<void> {
    const { rows } = this.list;
    await this.#toasts.attempt('The pets were not selected.', async () => {
      const left = await this.selection.extendTo(row, from, (first, last) => rows.idsBetween(first, last));
      if (left > 0) this.#toasts.say(`No more than ${formatCount(SELECTED_MAX)} pets can be selected at once.`);
    });
  }

  selectAll(): Promise<void> {
    this.selection.clear();
    return this.selectTo(Math.max(0, (this.list.rows.total ?? 0) - 1), 0);
  }

  /** Changes the selected pets, which stay selected. @throws the engine's refusal. */
  changeSelected(patch: Omit<PetChange, 'id'>): Promise<void> {
    const changes = this.selection.ids.map((id) => ({ ...patch, id }));
    return this.bulk.change(this.list.rows.filter.environment, changes);
  }

  async removeSelected(): Promise<void> {
    const { ids } = this.selection;
    this.selection.clear();
    const { environment } = this.list.rows.filter;
    await this.#toasts.attempt('The pets were not removed.', () => this.bulk.remove(environment, ids));
  }

  /** The selected pets in the order of the list. */
  async readSelected(): Promise<PetRecord[]> {
    const { filter } = this.list.rows;
    return inListOrder(await this.bulk.read(filter.environment, this.selection.ids), filter);
  }

  /**
   * Writes pasted cells over those from `cell` on, to the right and down; a single one over that column of all selected
   * pets.
   */
  async pasteCells(cell: Cell, cells: readonly (readonly string[])[]): Promise<void> {
    try {
      const changes = await this.#changesOf(cell, cells);
      if (typeof changes === 'string') this.#toasts.fail(changes);
      else await this.bulk.change(this.list.rows.filter.environment, changes);
    } catch (error) {
      this.#toasts.fail(withTitle('Nothing was pasted.', pasteFailure(error)));
    }
  }

  /** The changes, or why there are none. */
  async #changesOf({ row, column }: Cell, cells: readonly (readonly string[])[]): Promise<PetChange[] | string> {
    const width = Math.max(...cells.map((each) => each.length));
    const { shown } = this;
    const columns = shown.slice(shown.findIndex((id) => id === column));
    if (!isEditable(column) || columns.slice(0, width).includes('id')) {
      return 'Ids can’t be pasted over. Paste over names, categories and statuses.';
    }
    if (width > columns.length) {
      return `Nothing was pasted: it is ${width} columns wide, and ${columns.length === 1 ? 'one is' : `${columns.length} are`} left from here on.`;
    }
    if (cells.length > PASTED_ROWS_MAX) {
      return `Nothing was pasted: it has more than ${formatCount(PASTED_ROWS_MAX)} rows. Import them as a file.`;
    }
    const fill = cells.length === 1 && width === 1 && this.selection.size > 0 ? cells[0]?.[0] : undefined;
    if (fill !== undefined) return this.selection.ids.map((id) => ({ id, ...fieldOf(column, fill) }));
    const last = Math.min(row + cells.length, this.list.rows.total ?? 0) - 1;
    const ids = await this.list.rows.idsBetween(row, last);
    return ids.map((id, index) => {
      const fields = (cells[index] ?? []).map((text, at) => fieldOf(columns.filter(isEditable)[at] ?? column, text));
      return Object.assign({ id }, ...fields) as PetChange;
    });
  }

  /** Saves an edited cell. @throws the engine's refusal. */
  async save(rows: PetRows, { pet, column, text }: CellEdit): Promise<void> {
    rows.put(await this.actions.change(rows.filter.environment, pet, { column, text }));
  }

  remove(pet: PetRecord): Promise<void> {
    const { environment } = this.list.rows.filter;
    return this.#toasts.attempt(`${pet.name} was not removed.`, () => this.actions.remove(environment, pet));
  }

  /** Adds a pet and moves to it if the list includes it. @throws the engine's refusal. */
  async add(typed: TypedPet): Promise<PetRecord> {
    const { rows } = this.list;
    const pet = await this.actions.add(rows.filter.environment, typed);
    void this.#goTo(rows, pet.id);
    return pet;
  }

  /** Selects added pets and goes to the first of them, if the list includes it. */
  async showAdded(runs: AddedIds): Promise<void> {
    const [first, last] = [runs[0]?.first, runs.at(-1)?.last];
    if (first === undefined || last === undefined) return;
    const { rows } = this.list;
    const [from, to] = await Promise.all([first, last].map((id) => rows.find(id).catch(() => undefined)));
    if (from === undefined || to === undefined || this.list.rows !== rows) return;
    this.#grid?.goTo(from);
    this.selection.clear();
    await this.selectTo(to, from);
  }

  close(): void {
    this.list.close();
  }

  async #goTo(rows: PetRows, id: string): Promise<void> {
    const row = await rows.find(id).catch(() => undefined);
    if (row !== undefined && this.list.rows === rows) this.#grid?.goTo(row);
  }
}

/** The engine's refusal of pasted cells, by the row of the paste. */
function pasteFailure(error: unknown): string {
  const [issue] = issuesOf(error);
  const [, index, field] = /^changes\[(\d+)\]\.(\w+)$/.exec(issue?.path ?? '') ?? [];
  if (issue === undefined || index === undefined || field === undefined) return describeFailure(error);
  return `Row ${Number(index) + 1}: ${field} ${issue.message}.`;
}
