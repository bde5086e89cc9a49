import { eventIterator } from '@orpc/contract';
import { z } from 'zod';
import { base } from './base.ts';
import { environment, identifier, timestamp } from './values.ts';

/**
 * Says that something changed, not what it is now: a view asks again for what it shows. `lagged` means that this
 * subscriber was too slow and missed some; it should ask again for everything.
 */
export const changeEvent = z.object({
  type: z.enum([
    'ready',
    'lagged',
    'projects.changed',
    'deploys.changed',
    'keys.changed',
    'limits.changed',
    'pets.changed',
    'orders.changed',
    'zones.changed',
    'records.changed',
    'domains.changed',
    'certificates.changed',
    'ca.changed',
    'clock.changed',
    'settings.changed',
    'status.changed',
    'traffic.changed',
  ]),
  projectId: identifier.optional(),
  environment: environment.optional(),
  /** Of `records.changed`: the only zone that is concerned, where it is one. */
  zone: z.string().optional(),
  at: timestamp,
});
export type ChangeEvent = z.infer<typeof changeEvent>;

export const events = {
  watch: base
    .route({ summary: 'A stream of everything that changes' })
    .input(z.strictObject({}).optional())
    .output(eventIterator(changeEvent)),
};
