import type { EpochMs } from '../base/clock.ts';
import type { CertificateState, Check, CheckCode, Domain, DomainState } from '../contract/domains.ts';
import { VivariumError } from '../contract/errors.ts';
import type { Revocation } from '../model/leaf.ts';
import type { Connection } from './connection.ts';
import { noSuchProject } from './datasets.ts';
import { codeOf } from '../base/error-code.ts';

export interface DomainRow {
  /** Never reused, unlike a hostname, which can be attached again. */
  id: string;
  /** Lower case, A-labels, no trailing dot. */
  hostname: string;
  projectId: string;
  kind: Domain['kind'];
  state: DomainState;
  /** The state before suspension; null unless suspended. */
  stateBefore: Exclude<DomainState, 'suspended'> | null;
  attachedAtMs: EpochMs;
  verifiedAtMs: EpochMs | null;
  lastCheckedAtMs: EpochMs | null;
  nextCheckAtMs: EpochMs | null;
  /** Since when checks have failed; null while it is verified. */
  seriesAtMs: EpochMs | null;
  checks: readonly Check[];
  certificateChecks: readonly Check[];
  certificate: CertificateRow;
}

export interface CertificateRow {
  state: CertificateState;
  refusal: { code: CheckCode; message: string } | null;
  seriesAtMs: EpochMs | null;
  nextAttemptAtMs: EpochMs | null;
  renewAtMs: EpochMs | null;
  notAfterMs: EpochMs | null;
}

/** A certificate with its private key. Secret. */
export interface LeafRow {
  certificatePem: string;
  privateKeyPem: string;
  serial: string;
  fingerprint: string;
  sans: readonly string[];
  /** On the app's clock. */
  notBeforeMs: EpochMs;
  notAfterMs: EpochMs;
  /** In real time, as in the certificate. */
  wireNotBeforeMs: EpochMs;
  wireNotAfterMs: EpochMs;
}

export interface Domains {
  /** In order of attachment. */
  list(): DomainRow[];
  /** @throws VivariumError `not_found` for an unknown project; `in_use` when the hostname is attached. */
  insert(row: DomainRow): void;
  /** Stores all of them or none. Ignores domains that were removed or attached again. */
  update(changes: readonly { row: DomainRow; leaf: LeafRow | null }[]): void;
  /** Also removes its leaf. */
  remove(id: string): void;
  /** The current leaf of a hostname; null without one. */
  leaf(hostname: string): LeafRow | null;
  /** Hostnames with a leaf. */
  leafHostnames(): string[];
}

type StoredDomain = Omit<DomainRow, 'checks' | 'certificateChecks' | 'certificate'> & {
  checks: string;
  certificateChecks: string;
  certificate: string;
};

interface StoredLeaf {
  hostname: string;
  certificatePem: string;
  privateKeyPem: string;
  serial: string;
  fingerprint: string;
  sans: string;
  dates: string;
}

const COLUMNS = `id, hostname, project_id AS projectId, kind, state, state_before AS stateBefore,
  attached_at_ms AS attachedAtMs, verified_at_ms AS verifiedAtMs, last_checked_at_ms AS lastCheckedAtMs,
  next_check_at_ms AS nextCheckAtMs, series_at_ms AS seriesAtMs, checks, certificate_checks AS certificateChecks, certificate`;

export function createDomains({ sqlite, guarded, transactional }: Connection): Domains {
  const all = sqlite.prepare<[], StoredDomain>(`SELECT ${COLUMNS} FROM domains ORDER BY position`);
  const insert = sqlite.prepare<[StoredDomain]>(
    `INSERT INTO domains (id, hostname, project_id, kind, state, state_before, attached_at_ms, verified_at_ms,
       last_checked_at_ms, next_check_at_ms, series_at_ms, checks, certificate_checks, certificate)
     VALUES (:id, :hostname, :projectId, :kind, :state, :stateBefore, :attachedAtMs, :verifiedAtMs,
       :lastCheckedAtMs, :nextCheckAtMs, :seriesAtMs, :checks, :certificateChecks, :certificate)`,
  );
  const update = sqlite.prepare<[StoredDomain]>(
    `UPDATE domains SET state = :state, state_before = :stateBefore, verified_at_ms = :verifiedAtMs,
       last_checked_at_ms = :lastCheckedAtMs, next_check_at_ms = :nextCheckAtMs, series_at_ms = :seriesAtMs,
       checks = :checks,
       certificate_checks = :certificateChecks, certificate = :certificate
     WHERE id = :id`,
  );
  const remove = sqlite.prepare<[string]>('DELETE FROM domains WHERE id = ?');
  const leafOf = sqlite.prepare<[string], StoredLeaf>(
    `SELECT hostname, certificate_pem AS certificatePem, private_key_pem AS privateKeyPem, serial, fingerprint, sans, dates
     FROM leaves WHERE hostname = ?`,
  );
  const leafHostnames = sqlite.prepare<[], string>('SELECT hostname FROM leaves ORDER BY hostname').pluck();
  const putLeaf = sqlite.prepare<[StoredLeaf]>(
    `INSERT OR REPLACE INTO leaves (hostname, certificate_pem, private_key_pem, serial, fingerprint, sans, dates)
     VALUES (:hostname, :certificatePem, :privateKeyPem, :serial, :fingerprint, :sans, :dates)`,
  );

  return {
    list: guarded(() => all.all().map(rowOf)),
    insert: guarded((row: DomainRow) => {
      try {
        insert.run(storedOf(row));
      } catch (error) {
        throw explainInsert(error, row);
      }
    }),
    update: transactional((changes: readonly { row: DomainRow; leaf: LeafRow | null }[]) => {
      for (const { row, leaf } of changes) {
        const { changes: updated } = update.run(storedOf(row));
        if (updated > 0 && leaf !== null) putLeaf.run(storedLeafOf(row.hostname, leaf));
      }
    }),
    remove: guarded((id: string) => void remove.run(id)),
    leaf: guarded((hostname: string) => {
      const stored = leafOf.get(hostname);
      return stored === undefined ? null : leafRowOf(stored);
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

const rowOf = ({ checks, certificateChecks, certificate, ...rest }: StoredDomain): DomainRow => ({
  ...rest,
  checks: JSON.parse(checks) as Check[],
  certificateChecks: JSON.parse(certificateChecks) as Check[],
  certificate: JSON.parse(certificate) as CertificateRow,
});

const storedOf = ({ checks, certificateChecks, certificate, ...rest }: DomainRow): StoredDomain => ({
  ...rest,
  checks: JSON.stringify(checks),
  certificateChecks: JSON.stringify(certificateChecks),
  certificate: JSON.stringify(certificate),
});

type LeafDates = Pick<LeafRow, 'notBeforeMs' | 'notAfterMs' | 'wireNotBeforeMs' | 'wireNotAfterMs'>;

const leafRowOf = ({ sans, dates, certificatePem, privateKeyPem, serial, fingerprint }: StoredLeaf): LeafRow => ({
  certificatePem,
  privateKeyPem,
  serial,
  fingerprint,
  sans: JSON.parse(sans) as string[],
  ...(JSON.parse(dates) as LeafDates),
});

const storedLeafOf = (
  hostname: string,
  { certificatePem, privateKeyPem, serial, fingerprint, sans, ...dates }: LeafRow,
): StoredLeaf => ({
  hostname,
  certificatePem,
  privateKeyPem,
  serial,
  fingerprint,
  sans: JSON.stringify(sans),
  dates: JSON.stringify({
    notBeforeMs: dates.notBeforeMs,
    notAfterMs: dates.notAfterMs,
    wireNotBeforeMs: dates.wireNotBeforeMs,
    wireNotAfterMs: dates.wireNotAfterMs,
  }),
});

export interface RevocationRow extends Revocation {
  /** On the app's clock. */
  atMs: EpochMs;
  wireNotAfterMs: EpochMs;
}

export interface Revocations {
  get(serial: string): RevocationRow | null;
  /** Revocations of leaves that expire after `wireMs` in real time. */
  list(wireMs: EpochMs): RevocationRow[];
  insert(row: RevocationRow): void;
}

const SELECT = `SELECT serial, reason, at_ms AS atMs, wire_at_ms AS wireAtMs, wire_not_after_ms AS wireNotAfterMs
  FROM revocations`;

export function createRevocations({ sqlite, guarded }: Connection): Revocations {
  const bySerial = sqlite.prepare<[string], RevocationRow>(`${SELECT} WHERE serial = ?`);
  const after = sqlite.prepare<[EpochMs], RevocationRow>(`${SELECT} WHERE wire_not_after_ms > ? ORDER BY wire_at_ms`);
  const insert = sqlite.prepare<[RevocationRow]>(
    'INSERT INTO revocations VALUES (:serial, :reason, :atMs, :wireAtMs, :wireNotAfterMs)',
  );
  return {
    get: guarded((serial: string) => bySerial.get(serial) ?? null),
    list: guarded((wireMs: EpochMs) => after.all(wireMs)),
    insert: guarded((row: RevocationRow) => void insert.run(row)),
  };
}
