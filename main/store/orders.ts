import type { EpochMs } from '../base/clock.ts';
import type { Dataset } from '../base/dataset.ts';
import { VivariumError } from '../contract/errors.ts';
import type { Connection } from './connection.ts';
import type { Datasets } from './datasets.ts';

/** Orders that one list shows: the last ones. */
export const ORDERS_LISTED_MAX = 10_000;

export interface OrderRow {
  id: bigint;
  petId: bigint;
  quantity: number;
  status: 'placed';
  createdAtMs: EpochMs;
}

export type NewOrder = Pick<OrderRow, 'petId' | 'quantity' | 'createdAtMs'>;

export interface Orders {
  /** By id, ascending; of more than 10,000 the last 10,000. */
  list(dataset: Dataset): OrderRow[];
  /** @throws VivariumError `not_found` when there is no such project, or no such pet in the dataset. */
  insert(dataset: Dataset, order: NewOrder): OrderRow;
}

type Stored = [id: bigint, petId: bigint, quantity: bigint, createdAtMs: bigint];

export function createOrders({ sqlite, guarded, transactional }: Connection, datasets: Datasets): Orders {
  const select = sqlite
    .prepare<[number, number], Stored>(
      `SELECT id, pet_id, quantity, created_at_ms FROM
         (SELECT id, pet_id, quantity, created_at_ms FROM orders WHERE dataset_id = ? ORDER BY id DESC LIMIT ?)
       ORDER BY id`,
    )
    .raw()
    .safeIntegers();
  const hasPet = sqlite.prepare<[number, bigint], number>('SELECT 1 FROM pets WHERE dataset_id = ? AND id = ?').pluck();
  const nextId = sqlite
    .prepare<[number], bigint>(
      'UPDATE datasets SET last_order_id = last_order_id + 1 WHERE id = ? RETURNING last_order_id',
    )
    .pluck()
    .safeIntegers();
  const insert = sqlite.prepare<[number, bigint, bigint, number, string, EpochMs]>(
    'INSERT INTO orders (dataset_id, id, pet_id, quantity, status, created_at_ms) VALUES (?, ?, ?, ?, ?, ?)',
  );

  const insertRow = transactional((dataset: Dataset, { petId, quantity, createdAtMs }: NewOrder): OrderRow => {
    const handle = datasets.resolve(dataset);
    if (hasPet.get(handle.id, petId) === undefined) {
      throw new VivariumError('not_found', `There is no pet ${petId} in ${dataset.environment} to order.`);
    }
    const id = nextId.get(handle.id);
    if (id === undefined) throw new Error(`Dataset ${handle.id} is gone.`);
    insert.run(handle.id, id, petId, quantity, 'placed', createdAtMs);
    return { id, petId, quantity, status: 'placed', createdAtMs };
  });

  return {
    list: guarded((dataset: Dataset) =>
      select.all(datasets.resolve(dataset).id, ORDERS_LISTED_MAX).map(([id, petId, quantity, createdAtMs]) => ({
        id,
        petId,
        quantity: Number(quantity),
        status: 'placed',
        createdAtMs: Number(createdAtMs),
      })),
    ),
    insert(dataset, order) {
      const row = insertRow(dataset, order);
      return row;
    },
  };
}
