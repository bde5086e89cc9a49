import { z } from 'zod';
import { epochMs, identifier } from '../../contract/values.ts';
import type { LimitRow } from '../../model/rate-decision.ts';
import type { Connection } from '../connection.ts';
import { count, table } from './table.ts';

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
