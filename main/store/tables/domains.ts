import type { EpochMs } from '../../base/clock.ts';
import { z } from 'zod';
import { revocationReason } from '../../contract/certificates.ts';
import { certificateState, check, checkCode, domain, domainState } from '../../contract/domains.ts';
import { epochMs, identifier } from '../../contract/values.ts';
import { VivariumError } from '../../contract/errors.ts';
import { leafDates, type LeafDates } from '../../model/leaf.ts';
import type { Connection } from '../connection.ts';
import { noSuchProject } from './datasets.ts';
import { codeOf } from '../../base/error-code.ts';
import { normalizeHostname } from '../../base/text/hostname.ts';
import { count, json, table, type RowOf, type Stored } from './table.ts';

/** In the normal form of `normalizeHostname`, or a wildcard over such a name. */
export const storedHostname = z.string().refine((text) => {
  const read = normalizeHostname(text.replace(/^\*\./, ''));
  return read.ok && text.endsWith(read.hostname);
}, 'must be a hostname in lower case without a trailing dot');

const moment = epochMs.nullable();

export const DOMAINS = table(
  'domains',
  ['hostname'],
  {
    /** Never reused, unlike a hostname, which can be attached again. */
    id: identifier,
    hostname: storedHostname,
    projectId: identifier,
    kind: domain.shape.kind,
    state: domainState,
    /** The state before suspension; null unless suspended. */
    stateBefore: domainState.exclude(['suspended']).nullable(),
    attachedAtMs: epochMs,
    verifiedAtMs: moment,
    lastCheckedAtMs: moment,
    nextCheckAtMs: moment,
    /** Since when checks have failed; null while it is verified. */
    seriesAtMs: moment,
    checks: json(z.array(check).readonly()),
    certificateChecks: json(z.array(check).readonly()),
    certificate: json(
      z.object({
        state: certificateState,
        refusal: z.object({ code: checkCode, message: z.string() }).readonly().nullable(),
        seriesAtMs: moment,
        nextAttemptAtMs: moment,
        renewAtMs: moment,
        notAfterMs: moment,
      }),
    ),
  },
  { position: count },
  ({ state, stateBefore }) =>
    (state === 'suspended') === (stateBefore !== null)
      ? null
      : 'state_before is required with the state suspended, and only then.',
);
export type DomainRow = RowOf<typeof DOMAINS>;

export const LEAVES = table('leaves', ['hostname'], {
  hostname: storedHostname,
  certificatePem: z.string(),
  privateKeyPem: z.string(),
  serial: z.string(),
  fingerprint: z.string(),
  sans: json(z.array(z.string()).readonly()),
  dates: json(leafDates),
});

/** A certificate with its private key. Secret. */
export type LeafRow = Omit<RowOf<typeof LEAVES>, 'hostname' | 'dates'> & LeafDates;

export function createDomains({ sqlite, guarded, transactional }: Connection) {
  const all = sqlite.prepare<[], Stored>(`SELECT ${DOMAINS.selected} FROM domains ORDER BY position`);
  const insert = sqlite.prepare<[object]>(`INSERT INTO domains ${DOMAINS.inserted}`);
  const update = sqlite.prepare<[object]>(
    `UPDATE domains SET state = :state, state_before = :stateBefore, verified_at_ms = :verifiedAtMs,
       last_checked_at_ms = :lastCheckedAtMs, next_check_at_ms = :nextCheckAtMs, series_at_ms = :seriesAtMs,
       checks = :checks,
       certificate_checks = :certificateChecks, certificate = :certificate
     WHERE id = :id`,
  );
  const remove = sqlite.prepare<[string]>('DELETE FROM domains WHERE id = ?');
  const leafOf = sqlite.prepare<[string], Stored>(`SELECT ${LEAVES.selected} FROM leaves WHERE hostname = ?`);
  const leafHostnames = sqlite.prepare<[], string>('SELECT hostname FROM leaves ORDER BY hostname').pluck();
  const putLeaf = sqlite.prepare<[object]>(`INSERT OR REPLACE INTO leaves ${LEAVES.inserted}`);

  return {
    /** In order of attachment. */
    list: guarded(() => all.all().map(DOMAINS.read)),
    /** @throws VivariumError `not_found` for an unknown project; `in_use` when the hostname is attached. */
    insert: guarded((row: DomainRow) => {
      try {
        insert.run(DOMAINS.write(row));
      } catch (error) {
        throw explainInsert(error, row);
      }
    }),
    /** Stores all of them or none. Ignores domains that were removed or attached again. */
    update: transactional((changes: readonly { row: DomainRow; leaf: LeafRow | null }[]) => {
      for (const { row, leaf } of changes) {
        const { changes: updated } = update.run(DOMAINS.write(row));
        if (updated > 0 && leaf !== null) putLeaf.run(storedLeafOf(row.hostname, leaf));
      }
    }),
    /** Also removes its leaf. */
    remove: guarded((id: string) => void remove.run(id)),
    /** The current leaf of a hostname; null without one. */
    leaf: guarded((hostname: string) => {
      const stored = leafOf.get(hostname);
      if (stored === undefined) return null;
      const { hostname: _, dates, ...rest } = LEAVES.read(stored);
      return { ...rest, ...dates };
    }),
    leafHostnames: guarded(() => leafHostnames.all()),
  };
}

function explainInsert(error: unknown, { projectId, hostname }: DomainRow): unknown {
  const code = codeOf(error);
  if (code === 'SQLITE_CONSTRAINT_FOREIGNKEY') return noSuchProject(projectId);
  if (code !== 'SQLITE_CONSTRAINT_UNIQUE') return error;
  return new VivariumError('in_use', `"${hostname}" is already attached.`, { cause: error });
}

function storedLeafOf(of: string, leaf: LeafRow): object {
  const { certificatePem, privateKeyPem, serial, fingerprint, sans, ...dates } = leaf;
  const { notBeforeMs, notAfterMs, wireNotBeforeMs, wireNotAfterMs } = dates;
  return LEAVES.write({
    ...{ hostname: of, certificatePem, privateKeyPem, serial, fingerprint, sans },
    dates: { notBeforeMs, notAfterMs, wireNotBeforeMs, wireNotAfterMs },
  });
}

export const REVOCATIONS = table('revocations', ['serial'], {
  serial: z.string(),
  reason: revocationReason,
  /** On the app's clock. */
  atMs: epochMs,
  /** In real time, as the next one. */
  wireAtMs: epochMs,
  wireNotAfterMs: epochMs,
});
export type RevocationRow = RowOf<typeof REVOCATIONS>;

export type Revocations = ReturnType<typeof createRevocations>;

const SELECT = `SELECT ${REVOCATIONS.selected} FROM revocations`;

export function createRevocations({ sqlite, guarded }: Connection) {
  const bySerial = sqlite.prepare<[string], RevocationRow>(`${SELECT} WHERE serial = ?`);
  const after = sqlite.prepare<[EpochMs], RevocationRow>(`${SELECT} WHERE wire_not_after_ms > ? ORDER BY wire_at_ms`);
  const insert = sqlite.prepare<[RevocationRow]>(`INSERT INTO revocations ${REVOCATIONS.inserted}`);
  return {
    get: guarded((serial: string) => bySerial.get(serial) ?? null),
    /** Revocations of leaves that expire after `wireMs` in real time. */
    list: guarded((wireMs: EpochMs) => after.all(wireMs)),
    insert: guarded((row: RevocationRow) => void insert.run(row)),
  };
}
