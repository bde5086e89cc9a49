import { ALL_FIELDS, eachField, FILTERED_FIELDS, PET_FIELDS } from '../../../main/contract/pet-fields.ts';
import type { Environment, PetSort, PetStatus } from '../../../main/contract/values.ts';

/** The columns that are filtered by one text each: a part of the name, a category; empty for all. */
type ColumnFilters = Record<(typeof FILTERED_FIELDS)[number], string>;

/** The filters and order of the pet list. The address contains all of them, so a list can be linked to. */
export interface PetFilter extends ColumnFilters {
  environment: Environment;
  /** Undefined: all. */
  status: PetStatus | undefined;
  search: string;
  /** One id, or a range such as `3..9`, `3..` or `..9`; empty for all. */
  ids: string;
  sort: PetSort;
  descending: boolean;
}

export type PetsTab = 'pets' | 'orders';

export const STATUSES: readonly PetStatus[] = PET_FIELDS.status.options;

/** The engine's limit. */
const SEARCH_LENGTH_MAX = 200;

type Query = Readonly<Record<string, string>>;

/** The filter in an address; invalid values are ignored. */
export function readFilter(query: Query): PetFilter {
  const { sort: sorted = '' } = query;
  const descending = sorted.startsWith('-');
  const sort = ALL_FIELDS.find((name) => name === sorted.replace(/^-/, ''));
  return {
    environment: query['environment'] === 'staging' ? 'staging' : 'production',
    status: STATUSES.find((status) => status === query['status']),
    search: (query['search'] ?? '').slice(0, SEARCH_LENGTH_MAX),
    ...eachField(FILTERED_FIELDS, (_field, { kind, word }) => {
      const text = query[word] ?? '';
      return kind !== 'int64' ? text.slice(0, SEARCH_LENGTH_MAX) : isInteger(text) ? text : '';
    }),
    ids: isIdRange(query['ids'] ?? '') ? (query['ids'] ?? '') : '',
    sort: sort ?? 'id',
    descending: sort !== undefined && descending,
  };
}

export const readTab = (query: Query): PetsTab => (query['show'] === 'orders' ? 'orders' : 'pets');

const INTEGER = /^(?:0|-?[1-9]\d{0,18})$/;
const RANGE = /^(.*?)\.\.(.*)$/;

/** Whether a text is empty or an integer; the engine knows how large it may be. */
export const isInteger = (text: string): boolean => text === '' || INTEGER.test(text);

/** The ends of `3..9`, `3..`, `..9` or `3`. */
function endsOf(ids: string): [first: string, last: string] {
  const [, first = ids, last = ids] = RANGE.exec(ids) ?? [];
  return [first, last];
}

export const isIdRange = (ids: string): boolean => endsOf(ids).every(isInteger);

/** The filter for an address, without defaults. */
export function writeFilter(filter: PetFilter): Record<string, string> {
  const { environment, status, search, ids, sort, descending } = filter;
  return {
    environment: environment === 'production' ? '' : environment,
    status: status ?? '',
    search,
    ...Object.fromEntries(FILTERED_FIELDS.map((field) => [PET_FIELDS[field].word, filter[field]])),
    ids,
    sort: descending ? `-${sort}` : sort === 'id' ? '' : sort,
  };
}

/** Whether the filter excludes some pets. */
export const isFiltered = (filter: PetFilter): boolean =>
  filter.status !== undefined || filter.search !== '' || columnFilters(filter) > 0;

export const COLUMN_FILTERS = [...FILTERED_FIELDS, 'ids'] as const;

export const columnFilters = (filter: PetFilter): number =>
  COLUMN_FILTERS.filter((column) => filter[column] !== '').length;

/** The filter as the engine takes it. */
export function listQuery(filter: PetFilter) {
  const { environment, status, search, ids, sort, descending } = filter;
  const [first, last] = endsOf(ids);
  const range = { ...(first !== '' && { first }), ...(last !== '' && { last }) };
  return {
    environment,
    sort,
    descending,
    ...(status !== undefined && { status }),
    ...(search !== '' && { search }),
    ...(Object.fromEntries(
      FILTERED_FIELDS.flatMap((field) => (filter[field] === '' ? [] : [[field, filter[field]]])),
    ) as Partial<ColumnFilters>),
    ...(Object.keys(range).length > 0 && { ids: range }),
  };
}

/** Whether two filters have the same pets, in whatever order. */
export const isSameSet = (one: PetFilter, other: PetFilter): boolean =>
  (['environment', 'status', 'search', ...COLUMN_FILTERS] as const).every((key) => one[key] === other[key]);

/** The next sort order after a click on `sort`: ascending, or reversed if already sorted by it. */
export const sortedBy = (filter: PetFilter, sort: PetSort): PetFilter => ({
  ...filter,
  sort,
  descending: filter.sort === sort && !filter.descending,
});
