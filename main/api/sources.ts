import type { Dataset, Pet } from '../model/pet.ts';
import type { PetStatus } from '../contract/values.ts';

export interface PetPage {
  pets: Pet[];
  /** Whether more matching pets follow. */
  more: boolean;
}

/** The storage of pets, as the API sees it. */
export interface PetSource {
  /** Up to `limit` pets by ascending id, filtered by `status` and by id greater than `after` unless null. */
  page(dataset: Dataset, query: { status: PetStatus | null; limit: number; after: bigint | null }): PetPage;
  get(dataset: Dataset, id: bigint): Pet | null;
  /** Resolves with the pet and its new id, once it is durably stored. */
  add(dataset: Dataset, pet: { name: string; categoryId: bigint; status: PetStatus }): Promise<Pet>;
  /** Changes with every committed change to the dataset's pets. */
  revision(dataset: Dataset): number;
}

export interface Order {
  id: bigint;
  petId: bigint;
  quantity: number;
  status: 'placed';
  createdAtMs: number;
}

export interface OrderSource {
  /** All orders of the dataset by ascending id. */
  list(dataset: Dataset): Order[];
}
