import type { Environment, PetSort, PetStatus } from '../../main/contract/values.ts';

/** The filters and order of the pet list. The address contains all of them, so a list can be linked to. */
export interface PetFilter {
  environment: Environment;
  /** Undefined: all. */
  status: PetStatus | undefined;
  search: string;
  sort: PetSort;
  descending: boolean;
}

/** The selected tab of the page. */
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
    sort: sort ?? 'id',
    descending: sort !== undefined && descending,
  };
}

export const readTab = (query: Query): PetsTab => (query['show'] === 'orders' ? 'orders' : 'pets');

/** The filter for an address, without defaults. */
export function writeFilter({ environment, status, search, sort, descending }: PetFilter): Record<string, string> {
  return {
    environment: environment === 'production' ? '' : environment,
    status: status ?? '',
    search,
    sort: descending ? `-${sort}` : sort === 'id' ? '' : sort,
  };
}

/** Whether the filter excludes some pets. */
export const isFiltered = ({ status, search }: PetFilter): boolean => status !== undefined || search !== '';

/** The filter as the engine takes it. */
export const listQuery = ({ environment, status, search, sort, descending }: PetFilter) => ({
  environment,
  sort,
  descending,
  ...(status !== undefined && { status }),
  ...(search !== '' && { search }),
});

/** Whether two filters have the same pets, in whatever order. */
export const isSameSet = (one: PetFilter, other: PetFilter): boolean =>
  one.environment === other.environment && one.status === other.status && one.search === other.search;

/** The next sort order after a click on `sort`: ascending, or reversed if already sorted by it. */
export const sortedBy = (filter: PetFilter, sort: PetSort): PetFilter => ({
  ...filter,
  sort,
  descending: filter.sort === sort && !filter.descending,
});
