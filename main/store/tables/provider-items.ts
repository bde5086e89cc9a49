import { z } from 'zod';
import type { ProviderId } from '../../contract/provider-table.ts';
import { providerId } from '../../contract/providers.ts';
import { epochMs } from '../../contract/values.ts';
import type { Connection } from '../connection.ts';
import { json, table, type RowOf } from './table.ts';

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

export function createProviderItems({ rows, count, run }: Connection) {
  const upsert = run<[object]>(
    `INSERT INTO provider_items ${PROVIDER_ITEMS.inserted} ON CONFLICT DO UPDATE SET data = excluded.data`,
  );
  return {
    /** Oldest first. */
    list: rows<[provider: ProviderId, kind: ProviderItemRow['kind']], ProviderItemRow>(
      `SELECT ${PROVIDER_ITEMS.selected} FROM provider_items WHERE provider = ? AND kind = ? ORDER BY created_at_ms, name`,
      PROVIDER_ITEMS.read,
    ),
    count: count<[projectId: string]>('SELECT count(*) FROM provider_items WHERE project_id = ?'),
    /** One that is there keeps its time of creation. */
    put: (row: ProviderItemRow) => upsert(PROVIDER_ITEMS.write(row)),
    remove: run<[Pick<ProviderItemRow, 'provider' | 'kind' | 'projectId' | 'name'>]>(
      'DELETE FROM provider_items WHERE provider = :provider AND kind = :kind AND project_id = :projectId AND name = :name',
    ),
  };
}
