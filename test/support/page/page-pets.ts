import type { PetRecord } from '../../../main/contract/pets.ts';
import type { PetFilter } from '../../../renderer/pages/pets/pet-filter.ts';

export interface ListInput {
  environment: string;
  offset: number;
  limit: number;
  anchor?: string;
  before?: number;
}

/** All pets of production, by id. */
export const NO_FILTER: PetFilter = {
  environment: 'production',
  status: undefined,
  search: '',
  name: '',
  categoryId: '',
  ids: '',
  sort: 'id',
  descending: false,
};

/** How an engine with these pets, in this order, answers `pets.list`. */
export const listOf =
  (pets: () => readonly PetRecord[]) =>
  ({ offset, limit, anchor, before = 0 }: ListInput) => {
    const all = pets();
    const at = anchor === undefined ? -1 : all.findIndex(({ id }) => id === anchor);
    const start = at < 0 ? offset : Math.max(0, at - before);
    return { items: all.slice(start, start + limit), total: all.length, offset: start };
  };
