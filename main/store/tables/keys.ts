import { z } from 'zod';
import type { EpochMs } from '../../base/clock.ts';
import { epochMs, identifier } from '../../contract/values.ts';
import { conflict, notFound } from '../../contract/errors.ts';
import type { ActiveKey } from '../../model/route.ts';
import type { Connection } from '../connection.ts';
import { noSuchProject } from './datasets.ts';
import { count as counted, table, type RowOf, count, writeOr } from './table.ts';
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

export function createKeys({ rows, row, count, run, transactional }: Connection) {
  const insert = run<[KeyRow]>(`INSERT INTO keys ${KEYS.inserted}`);
  const revoke = transactional(
    row<[EpochMs, string], KeyRow>(
      `UPDATE keys SET revoked_at_ms = coalesce(revoked_at_ms, ?) WHERE id = ? RETURNING ${COLUMNS}`,
    ),
  );
  return {
    /** Newest first, revoked ones included. */
    list: rows<[projectId: string], KeyRow>(
      `SELECT ${COLUMNS} FROM keys WHERE project_id = ? ORDER BY created_at_ms DESC, position DESC`,
    ),
    get: row<[id: string], KeyRow>(`SELECT ${COLUMNS} FROM keys WHERE id = ?`),
    /** Keys of that name that are not revoked, in all projects. */
    named: rows<[name: string], KeyRow>(
      `SELECT ${COLUMNS} FROM keys WHERE name = ? AND revoked_at_ms IS NULL ORDER BY position`,
    ),
    /** All keys that are not revoked, in all projects. */
    active: rows<[], ActiveKey>(
      'SELECT id, project_id AS projectId, hash FROM keys WHERE revoked_at_ms IS NULL ORDER BY position',
    ),
    /** @throws VivariumError `not_found` for an unknown project; `conflict` when the id or the hash exists. */
    insert(key: KeyRow): void {
      const faults = {
        FOREIGNKEY: () => noSuchProject(key.projectId),
        UNIQUE: (cause: Error) => conflict(`The API key ${key.id} exists already; create another.`, { cause }),
      };
      writeOr(faults, () => insert(key));
    },
    /** A revoked key keeps its first revocation time. @throws VivariumError `not_found`. */
    revoke(id: string, atMs: EpochMs): KeyRow {
      const revoked = revoke(atMs, id);
      if (revoked === null) throw notFound(`There is no API key ${id}.`);
      return revoked;
    },
    /** The number of keys that are not revoked. */
    count: count('SELECT count(*) FROM keys WHERE revoked_at_ms IS NULL'),
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

export function createLimits({ rows, run, transactional }: Connection) {
  const upsert = run<[LimitRow]>(
    `INSERT OR REPLACE INTO rate_counters (${LIMITS.columns.join(', ')})
     SELECT ${LIMITS.parameters} FROM projects WHERE id = :projectId`,
  );
  const remove = run<[Caller]>('DELETE FROM rate_counters WHERE project_id = :projectId AND caller = :caller');
  return {
    load: rows<[], LimitRow>(`SELECT ${LIMITS.selected} FROM rate_counters ORDER BY project_id, caller`),
    /** In one transaction; skips rows of removed projects. */
    save: transactional((counters: readonly LimitRow[]) => counters.forEach((counter) => upsert(counter))),
    remove: transactional((callers: readonly Caller[]) => callers.forEach((caller) => remove(caller))),
  };
}

type Caller = Pick<LimitRow, 'projectId' | 'caller'>;
