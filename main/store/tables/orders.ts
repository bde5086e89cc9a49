import { z } from 'zod';
import type { EpochMs } from '../../base/clock.ts';
import type { Dataset, Order } from '../../model/pet.ts';
import { notFound } from '../../contract/errors.ts';
import { order } from '../../contract/pets.ts';
import { epochMs } from '../../contract/values.ts';
import type { Connection } from '../connection.ts';
import type { Datasets } from './datasets.ts';
import { count, table } from './table.ts';

/** Maximum orders in a list: the last ones. */
export const ORDERS_LISTED_MAX = 10_000;

export const ORDERS = table('orders', ['dataset_id', 'id'], {
  datasetId: count,
  id: z.number(),
  petId: z.number(),
  quantity: order.shape.quantity.min(1),
  status: order.shape.status,
  createdAtMs: epochMs,
});

export type NewOrder = Pick<Order, 'petId' | 'quantity' | 'createdAtMs'>;

export type Orders = ReturnType<typeof createOrders>;

interface OrdersListed {
  petId?: bigint | null;
  limit?: number;
}

type Stored = [id: bigint, petId: bigint, quantity: bigint, createdAtMs: bigint];

export function createOrders({ sqlite, guarded, value, run, transactional }: Connection, datasets: Datasets) {
  const columns = 'id, pet_id, quantity, created_at_ms';
  const last = (condition: string) => `SELECT ${columns} FROM
    (SELECT ${columns} FROM orders ${condition} ORDER BY id DESC LIMIT ?) ORDER BY id`;
  const exact = <Args extends unknown[]>(sql: string) => sqlite.prepare<Args, Stored>(sql).raw().safeIntegers();
  const selectAll = exact<[number, number]>(last('NOT INDEXED WHERE dataset_id = ?'));
  const selectOfPet = exact<[number, bigint, number]>(
    last('INDEXED BY orders_by_pet WHERE dataset_id = ? AND pet_id = ?'),
  );
  const selectOne = exact<[number, bigint]>(`SELECT ${columns} FROM orders WHERE dataset_id = ? AND id = ?`);
  const deleteOne = run<[number, bigint]>('DELETE FROM orders WHERE dataset_id = ? AND id = ?');
  const hasPet = value<[number, bigint], number>('SELECT 1 FROM pets WHERE dataset_id = ? AND id = ?');
  const nextId = sqlite
    .prepare<[number], bigint>(
      'UPDATE datasets SET last_order_id = last_order_id + 1 WHERE id = ? RETURNING last_order_id',
    )
    .pluck()
    .safeIntegers();
  const insert = run<[number, bigint, bigint, number, string, EpochMs]>(
    'INSERT INTO orders (dataset_id, id, pet_id, quantity, status, created_at_ms) VALUES (?, ?, ?, ?, ?, ?)',
  );

  const insertRow = transactional((dataset: Dataset, { petId, quantity, createdAtMs }: NewOrder): Order => {
    const handle = datasets.resolve(dataset);
    if (hasPet(handle.id, petId) === null) {
      throw notFound(`There is no pet ${petId} in ${dataset.environment} to order.`);
    }
    const id = nextId.get(handle.id);
    if (id === undefined) throw new Error(`Dataset ${handle.id} is gone.`);
    insert(handle.id, id, petId, quantity, 'placed', createdAtMs);
    return { id, petId, quantity, status: 'placed', createdAtMs };
  });

  return {
    /** By id, ascending; beyond `limit`, the last ones. With `petId`, only the orders of that pet. */
    list: guarded((dataset: Dataset, { petId = null, limit = ORDERS_LISTED_MAX }: OrdersListed = {}) => {
      const { id } = datasets.resolve(dataset);
      return (petId === null ? selectAll.all(id, limit) : selectOfPet.all(id, petId, limit)).map(orderOf);
    }),
    /** @throws VivariumError `not_found` for an unknown project or a pet that is not in the dataset. */
    insert: insertRow,
    /** @throws VivariumError `not_found`. */
    remove: transactional((dataset: Dataset, id: bigint) => {
      const handle = datasets.resolve(dataset);
      const stored = selectOne.get(handle.id, id);
      if (stored === undefined) {
        const { environment, projectId } = dataset;
        throw notFound(`There is no order ${id} in ${environment} of project ${projectId}.`);
      }
      deleteOne(handle.id, id);
      return orderOf(stored);
    }),
  };
}

const orderOf = ([id, petId, quantity, createdAtMs]: Stored): Order => ({
  id,
  petId,
  quantity: Number(quantity),
  status: 'placed',
  createdAtMs: Number(createdAtMs),
});
