import { z } from 'zod';
import type { EpochMs } from '../../base/clock.ts';
import { epochMs, identifier } from '../../contract/values.ts';
import { conflict, notFound } from '../../contract/errors.ts';
import type { ActiveKey } from '../../model/route.ts';
import type { Connection } from '../connection.ts';
import { noSuchProject } from './datasets.ts';
import { codeOf } from '../../base/error-code.ts';
import { count as counted, table, type RowOf, count } from './table.ts';
import type { LimitRow } from '../../model/rate-decision.ts';

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
        throw conflict(`The API key ${row.id} exists already; create another.`, { cause: error });
      }
    }),
    /** A revoked key keeps its first revocation time. @throws VivariumError `not_found`. */
    revoke: guarded((id: string, atMs: EpochMs) => {
      const row = revoke.get(atMs, id);
      if (row === undefined) throw notFound(`There is no API key ${id}.`);
      return row;
    }),
    /** The number of keys that are not revoked. */
    count: guarded(() => count.get() ?? 0),
  };
}

const moment = epochMs.nullable();

export const LIMITS = table<LimitRow>('rate_counters', ['project_id', 'caller'], {
  projectId: identifier,
  caller: z.string().regex(/^(?:key|address):/, 'must begin with "key:" or "address:"'),
  minuteStartedAtMs: moment,
  minuteUsed: count,
  dayStartedAtMs: moment,
  dayUsed: count,
  strikes: count,
  strikesUntilMs: moment,
  bannedUntilMs: moment,
  lastRequestAtMs: moment,
});

export function createLimits({ sqlite, guarded, transactional }: Connection) {
  const all = sqlite.prepare<[], LimitRow>(`SELECT ${LIMITS.selected} FROM rate_counters ORDER BY project_id, caller`);
  const upsert = sqlite.prepare<[LimitRow]>(
    `INSERT INTO rate_counters (project_id, caller, minute_started_at_ms, minute_used, day_started_at_ms, day_used,
       strikes, strikes_until_ms, banned_until_ms, last_request_at_ms)
     SELECT id, :caller, :minuteStartedAtMs, :minuteUsed, :dayStartedAtMs, :dayUsed, :strikes, :strikesUntilMs,
       :bannedUntilMs, :lastRequestAtMs
     FROM projects WHERE id = :projectId
     ON CONFLICT (project_id, caller) DO UPDATE SET
       minute_started_at_ms = excluded.minute_started_at_ms, minute_used = excluded.minute_used,
       day_started_at_ms = excluded.day_started_at_ms, day_used = excluded.day_used, strikes = excluded.strikes,
       strikes_until_ms = excluded.strikes_until_ms, banned_until_ms = excluded.banned_until_ms,
       last_request_at_ms = excluded.last_request_at_ms`,
  );
  const remove = sqlite.prepare<[string, string]>('DELETE FROM rate_counters WHERE project_id = ? AND caller = ?');

  return {
    load: guarded(() => all.all()),
    /** In one transaction; skips rows of removed projects. */
    save: transactional((rows: readonly LimitRow[]) => {
      for (const row of rows) upsert.run(row);
    }),
    remove: transactional((callers: readonly Pick<LimitRow, 'projectId' | 'caller'>[]) => {
      for (const { projectId, caller } of callers) remove.run(projectId, caller);
    }),
  };
}
