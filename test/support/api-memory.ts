import { type Dataset, type Order, type Pet, petWith, valuesOf } from '../../main/model/pet.ts';
import type { PetSource } from '../../main/api/pages.ts';

const keyOf = ({ projectId, environment }: Dataset): string => `${projectId}/${environment}`;

const compare = (left: { id: bigint }, right: { id: bigint }): number => (left.id < right.id ? -1 : 1);

/** Pets and orders in memory, one set per dataset. */
export function createMemoryStore() {
  const pets = new Map<string, Pet[]>();
  const orders = new Map<string, Order[]>();
  let revision = 0;
  let pagesRead = 0;
  let held: Promise<unknown> = Promise.resolve();
  let fault: { error: unknown } | null = null;

  const of = <Row>(table: Map<string, Row[]>, dataset: Dataset): Row[] => {
    if (fault !== null) {
      const { error } = fault;
      fault = null;
      throw error;
    }
    const rows = table.get(keyOf(dataset)) ?? [];
    table.set(keyOf(dataset), rows);
    return rows;
  };

  const source: PetSource = {
    page(dataset, { status, limit, after }) {
      pagesRead++;
      const matching = of(pets, dataset).filter(
        (pet) => (status === null || pet.status === status) && (after === null || pet.id > after),
      );
      return { pets: matching.slice(0, limit), more: matching.length > limit };
    },
    get: (dataset, id) => of(pets, dataset).find((pet) => pet.id === id) ?? null,
    async add(dataset, pet) {
      const rows = of(pets, dataset);
      const added = petWith((rows.at(-1)?.id ?? 0n) + 1n, valuesOf(pet));
      await held;
      rows.push(added);
      revision++;
      return added;
    },
    revision: () => revision,
  };
  return {
    pets: {
      ...source,
      /** Inserts a pet with an explicit id. */
      put(dataset: Dataset, pet: Pet) {
        of(pets, dataset).push(pet);
        of(pets, dataset).sort(compare);
        revision++;
      },
      /** Removes all pets. */
      clear(dataset: Dataset) {
        pets.delete(keyOf(dataset));
        revision++;
      },
      /** Delays the durability of the next pet until the returned function is called. */
      holdNextAdd() {
        const { promise, resolve } = Promise.withResolvers<undefined>();
        held = promise;
        return () => resolve(undefined);
      },
      /** Number of page queries, without cached pages. */
      pagesRead: () => pagesRead,
      /** The next call of any method throws this. */
      failWith(error: unknown) {
        fault = { error };
      },
    },
    orders: {
      list: (dataset: Dataset) => of(orders, dataset),
      put: (dataset: Dataset, order: Order) => void of(orders, dataset).push(order),
    },
  };
}
