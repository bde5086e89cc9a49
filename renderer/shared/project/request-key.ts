import type { Session } from '../session/session.svelte.ts';
import type { Toasts } from '../session/toasts.svelte.ts';

/** The secret of a key of this project for a copied request: one that can be read and is not banned, else a new one. */
export async function secretFor(session: Session, toasts: Toasts, projectId: string): Promise<string> {
  const { client, secrets } = session;
  const usages = await client.limits.usage({ projectId });
  const known = [
    ...secrets.of(projectId).map(({ id, secret }) => ({ keyId: id, secret })),
    await client.keys.readable({ projectId }),
  ].find(
    ({ keyId }) =>
      keyId !== undefined && !usages.some((usage) => usage.keyId === keyId && usage.bannedUntil !== undefined),
  );
  if (known?.secret !== undefined) return known.secret;
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

/** Where code reads `VIVARIUM_KEY`: a place in a text, a call, or the variable of a shell. */
const READ = /[#$]?\{[\w.['(]*VIVARIUM_KEY[\])']*\}|[\w.]+\((["'])VIVARIUM_KEY\1\)|\$(?:env:)?VIVARIUM_KEY/g;

/** Whether a text to copy needs a key. */
export const readsKey = (text: string): boolean => text.search(READ) !== -1;

/** The text with a secret in place of its variable. Go refuses an import that is then unused. */
export function withSecret(text: string, secret: string): string {
  const filled = text.replaceAll(READ, (_, quote: string = '') => `${quote}${secret}${quote}`);
  return /\bos\./.test(filled) ? filled : filled.replace('\t"os"\n', '');
}

/** The text with the secret of a key of the project; with its variable, and a report, where there is none. */
export async function withKey(
  text: string,
  { session, toasts, projectId }: { session: Session; toasts: Toasts; projectId: () => string | Promise<string> },
): Promise<string> {
  let filled = text;
  await toasts.attempt('The copy has no key.', async () => {
    filled = withSecret(text, await secretFor(session, toasts, await projectId()));
  });
  return filled;
}
