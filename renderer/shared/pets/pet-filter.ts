import type { Environment, PetSort, PetStatus } from '../../../main/contract/values.ts';

/** The filters and order of the pet list. The address contains all of them, so a list can be linked to. */
export interface PetFilter {
  environment: Environment;
  /** Undefined: all. */
  status: PetStatus | undefined;
  search: string;
  /** A part of the name. */
  name: string;
  /** A category, in decimal digits; empty for all. */
  categoryId: string;
  /** One id, or a range such as `3..9`, `3..` or `..9`; empty for all. */
  ids: string;
  sort: PetSort;
  descending: boolean;
}

export type PetsTab = 'pets' | 'orders';

export const STATUSES: readonly PetStatus[] = ['available', 'pending', 'sold'];

const SORTS: readonly PetSort[] = ['id', 'name', 'categoryId', 'status'];

/** The engine's limit. */
const SEARCH_LENGTH_MAX = 200;

type Query = Readonly<Record<string, string>>;

/** The filter in an address; invalid values are ignored. */
export function readFilter(query: Query): PetFilter {
  const { sort: sorted = '' } = query;
  const descending = sorted.startsWith('-');
  const sort = SORTS.find((name) => name === sorted.replace(/^-/, ''));
  return {
    environment: query['environment'] === 'staging' ? 'staging' : 'production',
    status: STATUSES.find((status) => status === query['status']),
    search: (query['search'] ?? '').slice(0, SEARCH_LENGTH_MAX),
    name: (query['name'] ?? '').slice(0, SEARCH_LENGTH_MAX),
    categoryId: isInteger(query['category'] ?? '') ? (query['category'] ?? '') : '',
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
  const { environment, status, search, name, categoryId, ids, sort, descending } = filter;
  return {
    environment: environment === 'production' ? '' : environment,
    status: status ?? '',
    search,
    name,
    category: categoryId,
    ids,
    sort: descending ? `-${sort}` : sort === 'id' ? '' : sort,
  };
}

/** Whether the filter excludes some pets. */
export const isFiltered = (filter: PetFilter): boolean =>
  filter.status !== undefined || filter.search !== '' || columnFilters(filter) > 0;

/** The number of columns with a filter. */
export const columnFilters = ({ name, categoryId, ids }: PetFilter): number =>
  [name, categoryId, ids].filter((text) => text !== '').length;

/** The filter as the engine takes it. */
export function listQuery({ environment, status, search, name, categoryId, ids, sort, descending }: PetFilter) {
  const [first, last] = endsOf(ids);
  const range = { ...(first !== '' && { first }), ...(last !== '' && { last }) };
  return {
    environment,
    sort,
    descending,
    ...(status !== undefined && { status }),
    ...(search !== '' && { search }),
    ...(name !== '' && { name }),
    ...(categoryId !== '' && { categoryId }),
    ...(Object.keys(range).length > 0 && { ids: range }),
  };
}

/** Whether two filters have the same pets, in whatever order. */
export const isSameSet = (one: PetFilter, other: PetFilter): boolean =>
  (['environment', 'status', 'search', 'name', 'categoryId', 'ids'] as const).every((key) => one[key] === other[key]);

/** The next sort order after a click on `sort`: ascending, or reversed if already sorted by it. */
export const sortedBy = (filter: PetFilter, sort: PetSort): PetFilter => ({
  ...filter,
  sort,
  descending: filter.sort === sort && !filter.descending,
});
