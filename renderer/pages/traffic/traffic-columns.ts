import { simulated } from '../../../main/contract/provider-table.ts';
import type { TrafficEntry } from '../../../main/contract/traffic.ts';
import type { ColumnWidths } from '../../shared/lists/column-sizes.svelte.ts';
import { hostnameOf } from './entry/entry-look.ts';

/** The names that some columns show instead of an entry's own value. */
export interface EntryNames {
  callerOf(entry: TrafficEntry): string;
  projectOf(entry: TrafficEntry): string | undefined;
}

interface ColumnFacts {
  title: string;
  /** The least width that is worth showing, in root sizes. */
  width: number;
  /** Takes a share of the width that is left. */
  grows?: number;
  isNumber?: true;
  /** What entries are sorted by. */
  value: (entry: TrafficEntry, names: EntryNames) => string | number | undefined;
}

const FACTS = {
  time: { title: 'Time', width: 6.5, value: ({ realAt }) => realAt },
  method: { title: 'Method', width: 3.5, value: ({ method }) => method },
  status: { title: 'Status', width: 3.5, value: ({ status }) => status ?? undefined },
  // 240 px: it tells requests apart, and is the last to shrink.
  target: { title: 'Path', width: 15, grows: 5, value: ({ target }) => target },
  host: { title: 'Hostname', width: 8, grows: 5, value: (entry) => hostnameOf(entry) || undefined },
  project: { title: 'Project', width: 8, value: (entry, names) => names.projectOf(entry)?.toLowerCase() },
  stage: { title: 'Stage', width: 5, value: (entry) => stageOf(entry) },
  caller: { title: 'Caller', width: 6.5, value: (entry, names) => names.callerOf(entry).toLowerCase() },
  address: { title: 'Address', width: 7, value: ({ address }) => address },
  took: { title: 'Took', width: 4.5, isNumber: true, value: ({ durationMs }) => durationMs },
  sent: { title: 'Sent', width: 4.5, isNumber: true, value: ({ requestBytes }) => requestBytes },
  size: { title: 'Size', width: 4.5, isNumber: true, value: ({ responseBytes }) => responseBytes },
} satisfies Record<string, ColumnFacts>;

export type ColumnId = keyof typeof FACTS;

export interface Column extends ColumnFacts {
  id: ColumnId;
  /** The width that the user has chosen, in root sizes, where there is room for it. */
  most?: number;
}

export const COLUMNS: readonly Column[] = Object.entries(FACTS).map(([id, facts]) => ({
  id: id as ColumnId,
  ...facts,
}));

/** The columns that identify an entry; always shown. */
export const FIXED_COLUMNS: readonly ColumnId[] = ['status', 'target'];

/** Shown until the user chooses others. */
export const DEFAULT_COLUMNS: Record<'project' | 'all' | 'file', readonly ColumnId[]> = {
  project: ['time', 'method', 'status', 'target', 'caller', 'took', 'size'],
  all: ['time', 'method', 'status', 'target', 'host', 'project', 'caller', 'took', 'size'],
  file: ['time', 'method', 'status', 'target', 'host', 'took', 'size'],
};

/** The order in which columns are dropped when there is no room. */
const LEFT_OUT: readonly ColumnId[] = [
  'sent',
  'size',
  'address',
  'stage',
  'caller',
  'project',
  'time',
  'host',
  'took',
  'method',
];

/** Between two columns, and at both ends together, in root sizes. */
const [GAP, PADDING] = [0.5, 1.5];

/** All columns, with chosen widths; `rootPx`: a root size in pixels. */
export const sizedColumns = (widths: ColumnWidths, rootPx: number): Column[] =>
  COLUMNS.map((column) => {
    const most = (widths[column.id] ?? 0) / rootPx;
    return most === 0 ? column : { ...column, width: Math.min(column.width, most), most };
  });

/** Those of the chosen columns that fit, in the chosen order. `width`: in root sizes. */
export function fitColumns(columns: readonly Column[], chosen: readonly ColumnId[], width: number): Column[] {
  let shown = chosen.flatMap((id) => columns.find((column) => column.id === id) ?? []);
  for (const gone of LEFT_OUT) {
    const needed = shown.reduce((sum, column) => sum + column.width + GAP, PADDING - GAP);
    if (needed <= width) break;
    shown = shown.filter(({ id }) => id !== gone);
  }
  return shown;
}

export const tracksOf = (columns: readonly Column[]): string =>
  columns
    .map(({ width, grows, most }) => {
      if (most !== undefined) return `minmax(${width}rem, ${most}rem)`;
      return grows === undefined ? `${width}rem` : `minmax(min(${width}rem, 100%), ${grows}fr)`;
    })
    .join(' ');

/** An order of the list; newest first without one. */
export interface EntrySort {
  column: Column;
  descending: boolean;
}

/** `took`, `-took`: as in the address. */
export function readSort(text: string | undefined): EntrySort | undefined {
  const column = COLUMNS.find(({ id }) => id === text?.replace(/^-/, ''));
  const descending = text?.startsWith('-') === true;
  return column === undefined || (column.id === 'time' && descending) ? undefined : { column, descending };
}

/** The next order by a column: its usual direction, the other one, newest first. Empty for the last. */
export function nextSort(sort: EntrySort | undefined, id: ColumnId): string {
  if (id === 'time') return sort?.column.id === 'time' ? '' : 'time';
  const isNumber = COLUMNS.some((column) => column.id === id && column.isNumber === true);
  if (sort?.column.id !== id) return isNumber ? `-${id}` : id;
  if (sort.descending !== isNumber) return '';
  return sort.descending ? id : `-${id}`;
}

/** Entries in an order; equal ones newest first, those without a value last. */
export function sortEntries(
  entries: readonly TrafficEntry[],
  { column, descending }: EntrySort,
  names: EntryNames,
): TrafficEntry[] {
  const sign = descending ? -1 : 1;
  return entries
    .map((entry) => ({ entry, value: column.value(entry, names) }))
    .sort((a, b) => {
      if (a.value === b.value) return 0;
      if (a.value === undefined) return 1;
      if (b.value === undefined) return -1;
      return a.value < b.value ? -sign : sign;
    })
    .map(({ entry }) => entry);
}

/** What answered, as the filter names it. */
export function stageOf({ stage, answeredBy, provider }: TrafficEntry): string {
  if (stage !== 'target') return stage;
  return provider === undefined ? answeredBy : simulated(provider);
}
