import type { PetRecord } from '../../../main/contract/pets.ts';
import type { PetFilter } from '../../../renderer/pages/pets/pet-filter.ts';
import type { FakeTransport } from './page-link.ts';

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

/** Answers `pets.list` on `transport` from `pets()`, in that order. */
export function stubPetList(transport: FakeTransport, pets: () => readonly PetRecord[]): void {
  transport.stub('pets.list', (input) => {
    const { offset, limit, anchor, before = 0 } = input as ListInput;
    const all = pets();
    const at = anchor === undefined ? -1 : all.findIndex(({ id }) => id === anchor);
    const start = at < 0 ? offset : Math.max(0, at - before);
    return { items: all.slice(start, start + limit), total: all.length, offset: start };
  });
}
