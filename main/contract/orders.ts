import { z } from 'zod';
import { base } from './base.ts';
import { environment, int64Input, int64Text, projectReference, timestamp } from './values.ts';

export const order = z.object({
  id: int64Text,
  petId: int64Text,
  quantity: z.int(),
  status: z.literal('placed'),
  createdAt: timestamp,
});
export type OrderRecord = z.infer<typeof order>;

const dataset = z.strictObject({ projectId: projectReference, environment: environment.default('production') });

export const orders = {
  list: base
    .route({ summary: 'A dataset’s orders, by id; only the last ones beyond the limit' })
    .input(dataset.extend({ petId: int64Input.optional(), limit: z.int().min(1).max(10_000).default(10_000) }))
    .output(z.array(order)),
  create: base
    .route({ summary: 'Place an order for a pet' })
    .input(dataset.extend({ petId: int64Input, quantity: z.int().min(1).max(1_000_000).default(1) }))
    .output(order),
  remove: base
    .route({ summary: 'Remove an order' })
    .input(dataset.extend({ id: int64Input }))
    .output(order),
};
