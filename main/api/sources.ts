import type { Dataset } from '../base/dataset.ts';
import type { PetStatus } from '../contract/values.ts';

export interface Pet {
  id: bigint;
  name: string;
  categoryId: bigint;
  status: PetStatus;
}

export interface PetPage {
  pets: Pet[];
  /** Whether pets that match follow the last one here. */
  more: boolean;
}

/** Where the API's pets come from and go to. */
export interface PetSource {
  /** Pets by ascending id: at most `limit`, of `status` unless null, with ids above `after` unless null. */
  page(dataset: Dataset, query: { status: PetStatus | null; limit: number; after: bigint | null }): PetPage;
  get(dataset: Dataset, id: bigint): Pet | null;
  /** Resolves when the pet, with its new id, would survive a crash. */
  add(dataset: Dataset, pet: { name: string; categoryId: bigint; status: PetStatus }): Promise<Pet>;
  /** Changes with every committed change of the dataset's pets. */
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
