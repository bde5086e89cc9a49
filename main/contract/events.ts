import { eventIterator } from '@orpc/contract';
import { z } from 'zod';
import { call } from './base.ts';
import { environment, identifier, timestamp } from './values.ts';

/**
 * Announces a change without its new state: views query again. `lagged` means that the subscriber was too slow and
 * missed events; it should query everything again, as after `world.restored`, when a snapshot has replaced everything.
 */
export const changeEvent = z.object({
  type: z.enum([
    'ready',
    'lagged',
    'projects.changed',
    'deploys.changed',
    'keys.changed',
    'limits.changed',
    'requests.changed',
    'pets.changed',
    'orders.changed',
    'zones.changed',
    'records.changed',
    'domains.changed',
    'certificates.changed',
    'ca.changed',
    'acme.changed',
    'machine.changed',
    'lan.changed',
    'clock.changed',
    'settings.changed',
    'status.changed',
    'traffic.changed',
    'snapshots.changed',
    'breaks.changed',
    'examinations.changed',
    'world.restored',
  ]),
  projectId: identifier.optional(),
  environment: environment.optional(),
  /** Of `records.changed`: the changed zone, when there is exactly one. */
  zone: z.string().optional(),
  /** Of `ready`: names this run of the engine, which alone knows the outcomes of its calls by idempotency key. */
  run: z.string().optional(),
  at: timestamp,
});
export type ChangeEvent = z.infer<typeof changeEvent>;

export const events = {
  watch: call('A stream of everything that changes', eventIterator(changeEvent)),
};
