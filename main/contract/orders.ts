import { z } from 'zod';
import { call } from './base.ts';
import { environment, int64Input, int64Text, projectReference, timestamp } from './values.ts';

export const order = z.object({
  id: int64Text,
  petId: int64Text,
  quantity: z.int(),
  status: z.literal('placed'),
  createdAt: timestamp,
});
export type OrderRecord = z.infer<typeof order>;

const dataset = { projectId: projectReference, environment: environment.default('production') };

export const orders = {
  list: call('A dataset’s orders, by id; only the last ones beyond the limit', z.array(order), {
    ...dataset,
    petId: int64Input.optional(),
    limit: z.int().min(1).max(10_000).default(10_000),
  }),
  create: call('Place an order for a pet', order, {
    ...dataset,
    petId: int64Input,
    quantity: z.int().min(1).max(1_000_000).default(1),
  }),
  remove: call('Remove an order', order, { ...dataset, id: int64Input }),
};
