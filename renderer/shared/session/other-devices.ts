import type { Client } from '../../connection/transport.ts';
import type { Toasts } from './toasts.svelte.ts';

/** Stops serving other devices; undo serves them on the same interface again. */
export async function serveThisMachineOnly(client: Client, toasts: Toasts): Promise<void> {
  const { wanted, keep } = await client.lan.status({});
  await client.lan.stop({});
  toasts.done({
    text: 'Other devices can no longer open the hostnames.',
    undo: () => client.lan.start({ ...(wanted !== undefined && { interface: wanted }), keep }),
    undone: 'Other devices can open the hostnames again.',
  });
}
