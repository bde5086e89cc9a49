import type { Client } from '../../connection/transport.ts';
import { Task } from '../controls/task.svelte.ts';
import type { Toasts } from '../session/toasts.svelte.ts';

/** Lifts the ban of an API key, and reports it. */
export const liftingWith = (client: Client, toasts: Pick<Toasts, 'say'>): Task<[keyId: string, name: string]> =>
  new Task(async (keyId, name) => {
    const { lifted } = await client.limits.unban({ keyId });
    toasts.say(lifted ? `The ban of ${name} is lifted.` : `The ban of ${name} was over already.`);
  });
