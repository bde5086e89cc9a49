import { DAY_MS, HOUR_MS } from '../contract/duration.ts';
import type { DoctorCheck } from '../contract/doctor.ts';
import { agoText, bytesText, finding } from './finding.ts';

export type Integrity =
  | { state: 'whole' }
  /** No damage in the part that was read in time. */
  | { state: 'partly'; rows: number }
  | { state: 'damaged'; what: string }
  /** It can be read, but not this row, which the command leaves out. */
  | { state: 'bad-row'; what: string; command: string }
  | { state: 'unread'; why: string };

export interface DatabaseEvidence {
  /** Null for an ephemeral Vivarium. */
  path: string | null;
  /** Null when there is none. */
  bytes: number | null;
  integrity: Integrity;
  /** Commands that restore the newest readable backup. */
  restore: readonly string[] | null;
}

export function evaluateDatabase({ path, bytes, integrity, restore }: DatabaseEvidence): DoctorCheck {
  const subject = { area: 'data', name: 'database', title: 'Database' } as const;
  if (path === null) return finding(subject, 'skipped', ['In memory only (--ephemeral).']);
  if (bytes === null && integrity.state !== 'damaged')
    return finding(subject, 'skipped', [`There is no ${path}; the first start creates it.`]);
  const file = bytes === null ? path : `${path}, ${bytesText(bytes)}`;
  switch (integrity.state) {
    case 'whole':
      return finding(subject, 'ok', [`${file}: every page was read, without errors.`]);
    case 'partly':
      return finding(subject, 'ok', [
        `${file}: its first ${integrity.rows.toLocaleString('en')} rows and index entries were read, without errors. The daily backup reads all of it.`,
      ]);
    case 'bad-row':
      return finding(subject, 'failed', [`${file} has a row that Vivarium can’t use: ${integrity.what}.`], {
        fix: 'Stop Vivarium, and leave out such rows, with what belongs to them; a copy of the database is kept.',
        commands: [integrity.command],
      });
    case 'unread':
      return finding(subject, 'skipped', [`${file} was not read: ${integrity.why}`]);
    case 'damaged':
      return finding(subject, 'failed', [`${file} is damaged: ${integrity.what}.`], {
        fix:
          restore === null
            ? 'There is no backup to restore; the next start says how to start over. Of a file with content, "sqlite3 FILE .recover" may save a part.'
            : 'Stop Vivarium, and replace the database with the newest backup; the damaged file is kept.',
        ...(restore !== null && { commands: restore }),
      });
  }
}

export interface BackupEvidence {
  path: string;
  bytes: number;
  /** Real time at which it was written. */
  writtenAtMs: number;
  schema: number;
  /** Why it can't be restored; null if its header shows no reason. */
  fault: string | null;
}

export interface BackupsEvidence {
  folder: string;
  /** Newest first; null for an ephemeral Vivarium. */
  backups: readonly BackupEvidence[] | null;
  realNowMs: number;
  /** When the database was created, in real time; null if there is none. */
  databaseMadeAtMs: number | null;
  databaseBytes: number;
  /** The largest database that is backed up daily. */
  dailyBytesMax: number;
}

/** Each start makes a backup if the newest is older than a day, so an older one is normal during a long run. */
const AGE_MS_MAX = 3 * DAY_MS;

/** How long there may be no backup. The first one is made a few seconds after the first start. */
const GRACE_MS = HOUR_MS;

export function evaluateBackups(evidence: BackupsEvidence): DoctorCheck {
  const { folder, backups, realNowMs, databaseMadeAtMs, databaseBytes, dailyBytesMax } = evidence;
  const subject = { area: 'data', name: 'backups', title: 'Backups' } as const;
  if (backups === null) return finding(subject, 'skipped', ['No backups: nothing is stored (--ephemeral).']);
  if (databaseMadeAtMs === null && backups.length === 0) {
    return finding(subject, 'skipped', ['There is nothing to back up yet.']);
  }
  const [newest] = backups;
  if (newest === undefined) {
    if (realNowMs - (databaseMadeAtMs ?? 0) < GRACE_MS) {
      return finding(subject, 'ok', ['The first one is made a few seconds after a start.']);
    }
    return finding(subject, 'warning', [`There is none in ${folder}.`], remedyFor(databaseBytes, dailyBytesMax));
  }
  const lines = [
    `${backups.length} in ${folder}; the newest was written ${agoText(realNowMs - newest.writtenAtMs)} ago, ${bytesText(newest.bytes)}.`,
    ...backups.flatMap(({ path, fault }) => (fault === null ? [] : [`${path} can’t be restored: ${fault}.`])),
  ];
  if (newest.fault !== null) {
    return finding(subject, 'failed', lines, {
      fix: 'Check the disk. Then move that file away, and start Vivarium again: it makes another backup.',
    });
  }
  if (realNowMs - newest.writtenAtMs > AGE_MS_MAX) {
    return finding(subject, 'warning', lines, remedyFor(databaseBytes, dailyBytesMax));
  }
  return finding(subject, backups.some(({ fault }) => fault !== null) ? 'warning' : 'ok', [
    ...lines,
    `Its header is that of a complete database with schema ${newest.schema}.`,
  ]);
}

const remedyFor = (databaseBytes: number, dailyBytesMax: number) => ({
  fix:
    databaseBytes > dailyBytesMax
      ? `The database is larger than ${bytesText(dailyBytesMax)}, and is backed up before upgrades only. Copy it yourself while Vivarium is stopped.`
      : 'Start Vivarium again: it makes one a few seconds later if the newest is older than a day.',
});
