import { readFileSync, rmSync } from 'node:fs';
import { z } from 'zod';
import { codeOf } from '../base/error-code.ts';
import { hashSecret, randomBase62 } from '../base/secret.ts';
import { OWNER_ONLY, writeFileAtomically } from '../base/system/files.ts';
import { VivariumError } from '../contract/errors.ts';
import { ACCOUNT_PROJECTS_MAX, providerId } from '../contract/providers.ts';
import { epochMs } from '../contract/values.ts';
import { TOKEN_PATTERN } from './credentials.ts';

/** Each has a root and leaves in memory. */
export const CONNECTIONS_MAX = 64;

const connection = z.object({
  id: z.string(),
  provider: providerId,
  projectIds: z.array(z.string()).min(1).max(ACCOUNT_PROJECTS_MAX),
  /** SHA-256 of the token, in hex. */
  hash: z.string(),
  /** In real time. */
  sinceMs: epochMs,
  /** The process of a run, with which it ends; null for one that survives restarts. */
  pid: z.int().nullable(),
});
export type ProviderConnection = Readonly<z.infer<typeof connection>>;

/** The user of the engine’s proxy for whom the password is a token. */
const PROXY_USER = 'provider';

export const createProviderToken = (): string => `viv_${randomBase62(36)}`;

export const proxyCredentials = (token: string): string => `${PROXY_USER}:${token}`;

/** The token of `Proxy-Authorization`; null if its credentials are for no provider. */
export function tokenOfProxy(authorization: string | undefined): string | null {
  const encoded = /^basic +([A-Za-z0-9+/]+=*) *$/i.exec(authorization ?? '')?.[1];
  const text = encoded === undefined ? '' : Buffer.from(encoded, 'base64').toString('latin1');
  return text.startsWith(`${PROXY_USER}:`) ? text.slice(PROXY_USER.length + 1) : null;
}

export type ProviderConnections = ReturnType<typeof createProviderConnections>;

/** The connections: in memory, and in `file` those without a run. */
export function createProviderConnections({ file, realNow }: { file: string; realNow: () => number }) {
  const byHash = new Map<string, ProviderConnection>();
  for (const kept of load(file)) byHash.set(kept.hash, kept);

  const list = (): ProviderConnection[] => [...byHash.values()];

  function store(): void {
    const kept = list().filter(({ pid }) => pid === null);
    if (kept.length === 0) rmSync(file, { force: true });
    else writeFileAtomically(file, `${JSON.stringify(kept)}\n`, OWNER_ONLY);
  }

  return {
    list,
    get: (id: string): ProviderConnection | null => list().find((each) => each.id === id) ?? null,
    /** The connection of a token. Whoever does not have the token learns nothing from the time that this takes. */
    of: (token: string): ProviderConnection | null =>
      TOKEN_PATTERN.test(token) ? (byHash.get(hashSecret(token)) ?? null) : null,
    /** @throws VivariumError conflict if there are too many */
    open(input: Pick<ProviderConnection, 'provider' | 'projectIds' | 'pid'>): {
      connection: ProviderConnection;
      token: string;
    } {
      if (byHash.size >= CONNECTIONS_MAX) {
        const message = `There are ${CONNECTIONS_MAX} connections to providers already; close one first: \`providers.disconnect\`.`;
        throw new VivariumError('conflict', message);
      }
      const token = createProviderToken();
      const opened = { ...input, id: `con_${randomBase62(16)}`, hash: hashSecret(token), sinceMs: realNow() };
      byHash.set(opened.hash, opened);
      store();
      return { connection: opened, token };
    },
    close(id: string): void {
      for (const { id: own, hash } of list()) if (own === id) byHash.delete(hash);
      store();
    },
  };
}

/** A file that cannot be read has no connections: their tokens are refused, and new ones made. */
function load(file: string): ProviderConnection[] {
  try {
    return z
      .array(connection)
      .max(CONNECTIONS_MAX)
      .parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') rmSync(file, { force: true });
    return [];
  }
}
