import type { Environment, PetSort, PetStatus } from '../../main/contract/values.ts';

/** Which pets the page shows, in which order. All of it is in the address, so that a list can be linked to. */
export interface PetFilter {
  environment: Environment;
  /** Undefined: all. */
  status: PetStatus | undefined;
  search: string;
  sort: PetSort;
  descending: boolean;
}

/** What the page is turned to. */
export type PetsTab = 'pets' | 'orders';

export const STATUSES: readonly PetStatus[] = ['available', 'pending', 'sold'];

const SORTS: readonly PetSort[] = ['id', 'name', 'categoryId', 'status'];

/** The engine takes no longer one. */
const SEARCH_LENGTH_MAX = 200;

type Query = Readonly<Record<string, string>>;

/** What an address asks for; what it names and is none is as if it were not there. */
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

/** The same for the address; what is as at first is left out. */
export function writeFilter({ environment, status, search, sort, descending }: PetFilter): Record<string, string> {
  return {
    environment: environment === 'production' ? '' : environment,
    status: status ?? '',
    search,
    sort: descending ? `-${sort}` : sort === 'id' ? '' : sort,
  };
}

/** Whether only some of the dataset's pets are asked for. */
export const isNarrowed = ({ status, search }: PetFilter): boolean => status !== undefined || search !== '';

/** The next order when someone asks to sort by `sort`: that one, and the other way round when it is sorted so already. */
export const sortedBy = (filter: PetFilter, sort: PetSort): PetFilter => ({
  ...filter,
  sort,
  descending: filter.sort === sort && !filter.descending,
});
