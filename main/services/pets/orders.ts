import type { Clock } from '../../base/clock.ts';
import type { Dataset } from '../../model/pet.ts';
import type { Services } from '../../contract/index.ts';
import type { OrderRecord } from '../../contract/pets.ts';
import type { Effects, OrderRow, OrderRows, ProjectRows } from '../dependencies.ts';
import { existingDataset } from '../projects/projects.ts';

export function createOrderServices(options: {
  clock: Pick<Clock, 'now'>;
  projects: ProjectRows;
  orders: OrderRows;
  effects: Effects;
}): Services['orders'] {
  const { clock, projects, orders, effects } = options;

  const datasetOf = (input: Dataset): Dataset => existingDataset(projects, input);

  return {
    list({ petId, limit, ...input }) {
      const which = { petId: petId === undefined ? null : BigInt(petId), limit };
      return orders.list(datasetOf(input), which).map(presentOrder);
    },
    create(input) {
      const dataset = datasetOf(input);
      const row = orders.insert(dataset, {
        petId: BigInt(input.petId),
        quantity: input.quantity,
        createdAtMs: clock.now(),
      });
      effects.emit('orders.changed', dataset);
      return presentOrder(row);
    },
    remove(input) {
      const dataset = datasetOf(input);
      const row = orders.remove(dataset, BigInt(input.id));
      effects.emit('orders.changed', dataset);
      return presentOrder(row);
    },
  };
}

const presentOrder = (row: OrderRow): OrderRecord => ({
  id: String(row.id),
  petId: String(row.petId),
  quantity: row.quantity,
  status: row.status,
  createdAt: new Date(row.createdAtMs).toISOString(),
});
