import type { EpochMs } from '../../base/clock.ts';
import { z } from 'zod';
import { revocationReason } from '../../contract/certificates.ts';
import { certificateState, check, checkCode, domain, domainState } from '../../contract/domains.ts';
import { epochMs, identifier } from '../../contract/values.ts';
import { VivariumError } from '../../contract/errors.ts';
import { leafDates, type LeafDates } from '../../model/leaf.ts';
import type { Connection } from '../connection.ts';
import { noSuchProject } from './datasets.ts';
import { normalizeHostname } from '../../base/text/hostname.ts';
import { count, json, table, type RowOf, writeOr } from './table.ts';

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

export function createDomains({ sqlite, rows, row: one, run, transactional }: Connection) {
  const insert = run<[object]>(`INSERT INTO domains ${DOMAINS.inserted}`);
  const update = sqlite.prepare<[object]>(
    `UPDATE domains SET state = :state, state_before = :stateBefore, verified_at_ms = :verifiedAtMs,
       last_checked_at_ms = :lastCheckedAtMs, next_check_at_ms = :nextCheckAtMs, series_at_ms = :seriesAtMs,
       checks = :checks,
       certificate_checks = :certificateChecks, certificate = :certificate
     WHERE id = :id`,
  );
  const leafHostnames = rows<[], { hostname: string }>('SELECT hostname FROM leaves ORDER BY hostname');
  const putLeaf = run<[object]>(`INSERT OR REPLACE INTO leaves ${LEAVES.inserted}`);

  return {
    /** In order of attachment. */
    list: rows<[], DomainRow>(`SELECT ${DOMAINS.selected} FROM domains ORDER BY position`, DOMAINS.read),
    /** @throws VivariumError `not_found` for an unknown project; `in_use` when the hostname is attached. */
    insert(row: DomainRow): void {
      const faults = {
        FOREIGNKEY: () => noSuchProject(row.projectId),
        UNIQUE: (cause: Error) => new VivariumError('in_use', `"${row.hostname}" is already attached.`, { cause }),
      };
      writeOr(faults, () => insert(DOMAINS.write(row)));
    },
    /** Stores all of them or none. Ignores domains that were removed or attached again. */
    update: transactional((changes: readonly { row: DomainRow; leaf: LeafRow | null }[]) => {
      for (const { row, leaf } of changes) {
        const { changes: updated } = update.run(DOMAINS.write(row));
        if (updated > 0 && leaf !== null) putLeaf(storedLeafOf(row.hostname, leaf));
      }
    }),
    /** Also removes its leaf. */
    remove: run<[id: string]>('DELETE FROM domains WHERE id = ?'),
    /** The current leaf of a hostname; null without one. */
    leaf: one<[hostname: string], LeafRow>(`SELECT ${LEAVES.selected} FROM leaves WHERE hostname = ?`, (stored) => {
      const { hostname: _, dates, ...rest } = LEAVES.read(stored);
      return { ...rest, ...dates };
    }),
    leafHostnames: () => leafHostnames().map(({ hostname }) => hostname),
  };
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

export const createRevocations = ({ rows, row, run }: Connection) => ({
  get: row<[serial: string], RevocationRow>(`${SELECT} WHERE serial = ?`),
  /** Revocations of leaves that expire after `wireMs` in real time. */
  list: rows<[wireMs: EpochMs], RevocationRow>(`${SELECT} WHERE wire_not_after_ms > ? ORDER BY wire_at_ms`),
  insert: run<[RevocationRow]>(`INSERT INTO revocations ${REVOCATIONS.inserted}`),
});
