import type { Session } from '../session/session.svelte.ts';
import type { Toasts } from '../session/toasts.svelte.ts';

/** The secret of a key of this project for a copied request: one that can still be read, else a new one. */
export async function secretFor(session: Session, toasts: Toasts, projectId: string): Promise<string> {
  const { client, secrets } = session;
  const known = secrets.of(projectId)[0]?.secret ?? (await client.keys.readable({ projectId })).secret;
  if (known !== undefined) return known;
  const key = await client.keys.create({ projectId, name: 'First request' });
  secrets.hold(projectId, key);
  toasts.done({
    text: `Created the key “${key.name}”. The copied request has its secret.`,
    undo: async () => {
      await client.keys.revoke({ keyId: key.id });
      secrets.acknowledge(key.id);
    },
    undone: `The key “${key.name}” is revoked.`,
  });
  return key.secret;
}
