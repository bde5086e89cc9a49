import { z } from 'zod';
import type { ProviderId } from '../../contract/provider-table.ts';
import { providerId } from '../../contract/providers.ts';
import { epochMs } from '../../contract/values.ts';
import type { Connection } from '../connection.ts';
import { json, table, type RowOf, type Stored } from './table.ts';

/** Facts of a provider's emulated API that the engine has no other place for; they belong to a project. */
export const PROVIDER_ITEMS = table('provider_items', ['provider', 'kind', 'project_id', 'name'], {
  provider: providerId,
  /** A claim that waits for its proof, a domain or an origin that was added, or what only the API shows. */
  kind: z.enum(['claim', 'domain', 'extra', 'origin', 'record']),
  projectId: z.string(),
  /** A hostname, or the id of a record. */
  name: z.string(),
  createdAtMs: epochMs,
  data: json(z.record(z.string(), z.unknown())),
});
export type ProviderItemRow = RowOf<typeof PROVIDER_ITEMS>;

export type ProviderItems = ReturnType<typeof createProviderItems>;

export function createProviderItems({ sqlite, guarded }: Connection) {
  // On first use: most worlds have none.
  const all = () =>
    sqlite.prepare<[string, string], Stored>(
      `SELECT ${PROVIDER_ITEMS.selected} FROM provider_items
       WHERE provider = ? AND kind = ? ORDER BY created_at_ms, name`,
    );
  const count = () =>
    sqlite.prepare<[string], { rows: number }>('SELECT count(*) AS rows FROM provider_items WHERE project_id = ?');
  const upsert = () =>
    sqlite.prepare<[object]>(
      `INSERT INTO provider_items ${PROVIDER_ITEMS.inserted} ON CONFLICT DO UPDATE SET data = excluded.data`,
    );
  const remove = () =>
    sqlite.prepare<[string, string, string, string]>(
      'DELETE FROM provider_items WHERE provider = ? AND kind = ? AND project_id = ? AND name = ?',
    );
  return {
    /** Oldest first. */
    list: guarded((provider: ProviderId, kind: ProviderItemRow['kind']) =>
      all().all(provider, kind).map(PROVIDER_ITEMS.read),
    ),
    count: guarded((projectId: string) => count().get(projectId)?.rows ?? 0),
    /** One that is there keeps its time of creation. */
    put: guarded((row: ProviderItemRow) => void upsert().run(PROVIDER_ITEMS.write(row))),
    remove: guarded(
      ({ provider, kind, projectId, name }: Pick<ProviderItemRow, 'provider' | 'kind' | 'projectId' | 'name'>) =>
        void remove().run(provider, kind, projectId, name),
    ),
  };
}
