import { type Dataset, type Order, type Pet, petWith, valuesOf } from '../../main/model/pet.ts';
import type { OrderSource, PetSource } from '../../main/api/pages.ts';

/** Pets and orders in memory, one set per dataset. */
export interface MemoryStore {
  pets: PetSource & {
    /** Inserts a pet with an explicit id. */
    put(dataset: Dataset, pet: Pet): void;
    /** Removes all pets. */
    clear(dataset: Dataset): void;
    /** Delays the durability of the next pet until the returned function is called. */
    holdNextAdd(): () => void;
    /** Number of page queries, without cached pages. */
    pagesRead(): number;
    /** The next call of any method throws this. */
    failWith(error: unknown): void;
  };
  orders: OrderSource & { put(dataset: Dataset, order: Order): void };
}

const keyOf = ({ projectId, environment }: Dataset): string => `${projectId}/${environment}`;

const compare = (left: { id: bigint }, right: { id: bigint }): number => (left.id < right.id ? -1 : 1);

export function createMemoryStore(): MemoryStore {
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

  return {
    pets: {
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
      put(dataset, pet) {
        of(pets, dataset).push(pet);
        of(pets, dataset).sort(compare);
        revision++;
      },
      clear(dataset) {
        pets.delete(keyOf(dataset));
        revision++;
      },
      holdNextAdd() {
        const { promise, resolve } = Promise.withResolvers<undefined>();
        held = promise;
        return () => resolve(undefined);
      },
      pagesRead: () => pagesRead,
      failWith(error) {
        fault = { error };
      },
    },
    orders: { list: (dataset) => of(orders, dataset), put: (dataset, order) => void of(orders, dataset).push(order) },
  };
}
