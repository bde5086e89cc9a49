import { hash } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { z } from 'zod';
import { codeOf } from '../base/error-code.ts';
import { hashSecret, randomBase62 } from '../base/secret.ts';
import { OWNER_ONLY, writeFileAtomically } from '../base/system/files.ts';
import { conflict } from '../contract/errors.ts';
import type { ProviderId } from '../contract/provider-table.ts';
import { ACCOUNT_PROJECTS_MAX, CONNECTIONS_MAX, providerId } from '../contract/providers.ts';
import { epochMs } from '../contract/values.ts';
import { TOKEN_PATTERN, tokenOfProxy } from './credentials.ts';
import type { Account, ProviderProject } from './facts.ts';

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

export const createProviderToken = (): string => `viv_${randomBase62(36)}`;

/** The account of some projects, as far as they exist; null if none does. */
export function accountOf(
  projectIds: readonly string[],
  find: (projectId: string) => ProviderProject | null,
): Account | null {
  const found = projectIds.flatMap((id) => find(id) ?? []).map(({ id, name, slug }) => ({ id, name, slug }));
  const [first, ...others] = found;
  if (first === undefined) return null;
  return { id: hash('sha256', projectIds[0] ?? '').slice(0, 24), projects: [first, ...others] };
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

  /** The connection of a token. The time that this takes says nothing about other tokens. */
  const of = (token: string): ProviderConnection | null =>
    TOKEN_PATTERN.test(token) ? (byHash.get(hashSecret(token)) ?? null) : null;

  return {
    list,
    get: (id: string): ProviderConnection | null => list().find((each) => each.id === id) ?? null,
    inUse: (): ReadonlySet<ProviderId> => new Set(list().map(({ provider }) => provider)),
    /** Whether two projects are of one account. */
    shareAccount: (one: string, other: string): boolean =>
      list().some(({ projectIds }) => projectIds.includes(one) && projectIds.includes(other)),
    of,
    /** The connection of a client that uses the engine's proxy; null if its credentials are for no provider. */
    ofProxy(authorization: string | undefined, address: string): ProviderConnection | 'refused' | null {
      const token = tokenOfProxy(authorization);
      if (token === null) return null;
      return (/^(?:127\.|::1$)/.test(address) ? of(token) : null) ?? 'refused';
    },
    /** @throws VivariumError conflict if there are too many */
    open(input: Pick<ProviderConnection, 'provider' | 'projectIds' | 'pid'>): {
      connection: ProviderConnection;
      token: string;
    } {
      if (byHash.size >= CONNECTIONS_MAX) {
        const message = `There are ${CONNECTIONS_MAX} connections to providers already; close one first: \`providers.disconnect\`.`;
        throw conflict(message);
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
