import { z } from 'zod';
import type { EpochMs } from '../../base/clock.ts';
import { epochMs, identifier } from '../../contract/values.ts';
import { VivariumError } from '../../contract/errors.ts';
import type { ActiveKey } from '../../model/route.ts';
import type { Connection } from '../connection.ts';
import { noSuchProject } from './datasets.ts';
import { codeOf } from '../../base/error-code.ts';
import { count as counted, table, type RowOf } from './table.ts';

export const KEYS = table(
  'keys',
  ['id'],
  {
    id: identifier,
    projectId: identifier,
    name: z.string(),
    /** The first characters of the secret, to recognise it. */
    prefix: z.string(),
    hash: z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in hexadecimal'),
    createdAtMs: epochMs,
    revokedAtMs: epochMs.nullable(),
  },
  { position: counted },
);
export type KeyRow = RowOf<typeof KEYS>;

export type Keys = ReturnType<typeof createKeys>;

const COLUMNS = KEYS.selected;

export function createKeys({ sqlite, guarded }: Connection) {
  const byProject = sqlite.prepare<[string], KeyRow>(
    `SELECT ${COLUMNS} FROM keys WHERE project_id = ? ORDER BY created_at_ms DESC, position DESC`,
  );
  const byId = sqlite.prepare<[string], KeyRow>(`SELECT ${COLUMNS} FROM keys WHERE id = ?`);
  const byName = sqlite.prepare<[string], KeyRow>(
    `SELECT ${COLUMNS} FROM keys WHERE name = ? AND revoked_at_ms IS NULL ORDER BY position`,
  );
  const active = sqlite.prepare<[], ActiveKey>(
    'SELECT id, project_id AS projectId, hash FROM keys WHERE revoked_at_ms IS NULL ORDER BY position',
  );
  const insert = sqlite.prepare<[KeyRow]>(`INSERT INTO keys ${KEYS.inserted}`);
  const revoke = sqlite.prepare<[EpochMs, string], KeyRow>(
    `UPDATE keys SET revoked_at_ms = coalesce(revoked_at_ms, ?) WHERE id = ? RETURNING ${COLUMNS}`,
  );
  const count = sqlite.prepare<[], number>('SELECT count(*) FROM keys WHERE revoked_at_ms IS NULL').pluck();

  return {
    /** Newest first, revoked ones included. */
    list: guarded((projectId: string) => byProject.all(projectId)),
    get: guarded((id: string) => byId.get(id) ?? null),
    /** Keys of that name that are not revoked, in all projects. */
    named: guarded((name: string) => byName.all(name)),
    /** All keys that are not revoked, in all projects. */
    active: guarded(() => active.all()),
    /** @throws VivariumError `not_found` for an unknown project; `conflict` when the id or the hash exists. */
    insert: guarded((row: KeyRow) => {
      try {
        insert.run(row);
      } catch (error) {
        const code = codeOf(error);
        if (code === 'SQLITE_CONSTRAINT_FOREIGNKEY') throw noSuchProject(row.projectId);
        if (code !== 'SQLITE_CONSTRAINT_UNIQUE') throw error;
        throw new VivariumError('conflict', `The API key ${row.id} exists already; create another.`, { cause: error });
      }
    }),
    /** A revoked key keeps its first revocation time. @throws VivariumError `not_found`. */
    revoke: guarded((id: string, atMs: EpochMs) => {
      const row = revoke.get(atMs, id);
      if (row === undefined) throw new VivariumError('not_found', `There is no API key ${id}.`);
      return row;
    }),
    /** The number of keys that are not revoked. */
    count: guarded(() => count.get() ?? 0),
  };
}
