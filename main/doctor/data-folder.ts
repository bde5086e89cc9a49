import { accessSync, constants, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { reasonOf } from '../base/error-code.ts';
import { namesIn, OWNER_ONLY } from '../base/system/files.ts';
import { posixWord } from '../base/text/shell.ts';
import type { DoctorCheck } from '../contract/doctor.ts';
import { bytesText, checkOf, agoText } from './finding.ts';
import { DAY_MS, HOUR_MS } from '../contract/duration.ts';

/** With less free space, the next import may not fit. */
const FREE_BYTES_ENOUGH = 1_000_000_000;
/** With less free space, the next pet may not fit. */
const FREE_BYTES_MIN = 50_000_000;

/** Free inodes, on file systems that count them: SQLite's logs and backups need a few. */
const FREE_FILES_MIN = 100;

interface DiskEvidence {
  path: string;
  /** Null if the system does not report it. */
  space: { freeBytes: number; totalBytes: number; freeFiles: number; totalFiles: number } | null;
  /** Whether the break `machine.disk-full` keeps the database from growing. */
  limited?: boolean;
}

export function evaluateDisk({ path, space, limited = false }: DiskEvidence): DoctorCheck {
  const { ok, skipped, warning, failed } = checkOf('data', 'disk', 'Disk space');
  if (limited) {
    return failed(
      `The database at ${path} has reached its size limit and can’t grow.`,
      'The break machine.disk-full limits it on purpose: repair the break. If the disk really is full, free some space.',
      ['vivarium break off --all'],
    );
  }
  if (space === null) return skipped(`The system does not report how much space is free at ${path}.`);
  const { freeBytes, totalBytes, freeFiles, totalFiles } = space;
  const evidence = [`${bytesText(freeBytes)} of ${bytesText(totalBytes)} is free at ${path}.`];
  const fix =
    'Free some space, or move to another disk with --data-dir. Changes that do not fit are refused; nothing is lost.';
  if (totalFiles > 0 && freeFiles < FREE_FILES_MIN) {
    return failed([...evidence, `Only ${freeFiles} more files can be created there.`], fix);
  }
  if (freeBytes < FREE_BYTES_MIN) return failed(evidence, fix);
  return freeBytes < FREE_BYTES_ENOUGH ? warning(evidence, fix) : ok(evidence);
}

/** Access of the user and of others to the data folder. */
interface FolderEvidence {
  path: string;
  exists: boolean;
  /** Whether the path is something else, such as a file. */
  noFolder: boolean;
  /** Paths that the user cannot read and write, with the system's reason. */
  denied: readonly { path: string; reason: string }[];
  /** Paths that others may access, or whose modes are too open. */
  open: readonly { path: string; mode: number; wanted: number }[];
}

export function evaluateFolder({ path, exists, noFolder, denied, open }: FolderEvidence): DoctorCheck {
  const { ok, skipped, failed } = checkOf('data', 'folder', 'Permissions');
  if (!exists) return skipped(`${path} does not exist; the first start creates it.`);
  if (noFolder) return failed(`${path} is not a folder.`, 'Name a folder with --data-dir, or move that file away.');
  if (denied.length > 0) {
    return failed(
      denied.map(({ path: file, reason }) => `${file} can’t be read and written (${reason}).`),
      'Make your user its owner again (commands for macOS and Linux), or start with another --data-dir.',
      [`sudo chown -R "$(id -un)" ${posixWord(path)}`, `chmod -R u+rwX ${posixWord(path)}`],
    );
  }
  if (open.length > 0) {
    return failed(
      open.map(
        ({ path: file, mode, wanted }) =>
          `${file} has mode ${modeText(mode)}; other users can read it. It should have ${modeText(wanted)}.`,
      ),
      'Restrict it to its owner. Others may have read the secrets: revoke the keys, and remove control-token to get a new token.',
      open.map(({ path: file, wanted }) => `chmod ${modeText(wanted).slice(1)} ${posixWord(file)}`),
    );
  }
  return ok(`${path} can be written, and only its owner can read its secrets.`);
}

/** `0644`. */
export const modeText = (mode: number): string => (mode & 0o7777).toString(8).padStart(4, '0');

/** Secrets in a data folder, for the owner alone. The root's key has its own check. */
const SECRET_FILES = ['control-token', 'demo-key.json', 'runtime.json', 'vivarium.db', 'vivarium.db-wal'];

/** Logs of the desktop app and of a Vivarium in the background. In the foreground, it logs to standard error. */
export function evaluateLogs({ path, files, bytes }: ReturnType<typeof readLogs>): DoctorCheck {
  const { ok } = checkOf('data', 'logs', 'Logs');
  const foreground = 'A Vivarium that runs in a terminal logs to that terminal.';
  if (files === 0) return ok([`None in ${path}.`, foreground]);
  return ok([`In ${path}: ${files} ${files === 1 ? 'file' : 'files'}, ${bytesText(bytes)}.`, foreground]);
}

export function readDisk(path: string): DiskEvidence {
  try {
    const { bavail, blocks, bsize, ffree, files } = statfsSync(path);
    return {
      path,
      space: { freeBytes: bavail * bsize, totalBytes: blocks * bsize, freeFiles: ffree, totalFiles: files },
    };
  } catch {
    return { path, space: null };
  }
}

export function readFolder(path: string, platform: NodeJS.Platform): FolderEvidence {
  const none = { path, exists: true, noFolder: false, denied: [], open: [] };
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return { ...none, exists: false };
  if (!found.isDirectory()) return { ...none, noFolder: true };
  const files = namesIn(path);
  const own = files.filter((name) => SECRET_FILES.includes(name)).map((name) => join(path, name));
  const denied = [
    ...faultsOf(path, constants.R_OK | constants.W_OK | constants.X_OK),
    ...own.flatMap((file) => faultsOf(file, constants.R_OK | constants.W_OK)),
  ];
  // Windows has access lists instead of modes.
  const open = platform === 'win32' ? [] : own.flatMap((file) => findExcessMode(file, OWNER_ONLY));
  return { ...none, denied, open };
}

export function readLogs(path: string) {
  const sizes = namesIn(path)
    .filter((name) => name.endsWith('.log'))
    .map((name) => statSync(join(path, name), { throwIfNoEntry: false })?.size ?? 0);
  return { path, files: sizes.length, bytes: sizes.reduce((sum, size) => sum + size, 0) };
}

/** Returns a file whose mode is too open as a one-element list, otherwise an empty one. */
export function findExcessMode(path: string, wanted: number): { path: string; mode: number; wanted: number }[] {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode;
  if (mode === undefined || (mode & 0o777 & ~wanted) === 0) return [];
  return [{ path, mode: mode & 0o777, wanted }];
}

function faultsOf(path: string, wanted: number): { path: string; reason: string }[] {
  try {
    accessSync(path, wanted);
    return [];
  } catch (error) {
    return [{ path, reason: reasonOf(error) }];
  }
}

export type Integrity =
  | { state: 'whole' }
  /** No damage in the part that was read in time. */
  | { state: 'partly'; rows: number }
  | { state: 'damaged'; what: string }
  /** It can be read, but not this row, which the command leaves out. */
  | { state: 'bad-row'; what: string; command: string }
  | { state: 'unread'; why: string };

interface DatabaseEvidence {
  /** Null for an ephemeral Vivarium. */
  path: string | null;
  /** Null when there is none. */
  bytes: number | null;
  integrity: Integrity;
  /** Commands that restore the newest readable backup. */
  restore: readonly string[] | null;
}

export function evaluateDatabase({ path, bytes, integrity, restore }: DatabaseEvidence): DoctorCheck {
  const { ok, skipped, failed } = checkOf('data', 'database', 'Database');
  if (path === null) return skipped('In memory only (--ephemeral).');
  if (bytes === null && integrity.state !== 'damaged')
    return skipped(`There is no ${path}; the first start creates it.`);
  const file = bytes === null ? path : `${path}, ${bytesText(bytes)}`;
  switch (integrity.state) {
    case 'whole':
      return ok(`${file}: every page was read, without errors.`);
    case 'partly':
      return ok(
        `${file}: its first ${integrity.rows.toLocaleString('en')} rows and index entries were read, without errors. The daily backup reads all of it.`,
      );
    case 'bad-row':
      return failed(
        `${file} has a row that Vivarium can’t use: ${integrity.what}.`,
        'Stop Vivarium, and leave out such rows, with what belongs to them; a copy of the database is kept.',
        [integrity.command],
      );
    case 'unread':
      return skipped(`${file} was not read: ${integrity.why}`);
    case 'damaged':
      return failed(`${file} is damaged: ${integrity.what}.`, {
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
  dailyBytesMax: number;
}

/** Each start makes a backup if the newest is older than a day, so an older one is normal during a long run. */
const AGE_MS_MAX = 3 * DAY_MS;

/** How long there may be no backup. The first one is made a few seconds after the first start. */
const GRACE_MS = HOUR_MS;

export function evaluateBackups(evidence: BackupsEvidence): DoctorCheck {
  const { folder, backups, realNowMs, databaseMadeAtMs, databaseBytes, dailyBytesMax } = evidence;
  const { ok, skipped, warning, failed } = checkOf('data', 'backups', 'Backups');
  if (backups === null) return skipped('No backups: nothing is stored (--ephemeral).');
  if (databaseMadeAtMs === null && backups.length === 0) return skipped('There is nothing to back up yet.');
  const [newest] = backups;
  if (newest === undefined) {
    if (realNowMs - (databaseMadeAtMs ?? 0) < GRACE_MS) return ok('The first one is made a few seconds after a start.');
    return warning(`There is none in ${folder}.`, remedyFor(databaseBytes, dailyBytesMax));
  }
  const lines = [
    `${backups.length} in ${folder}; the newest was written ${agoText(realNowMs - newest.writtenAtMs)} ago, ${bytesText(newest.bytes)}.`,
    ...backups.flatMap(({ path, fault }) => (fault === null ? [] : [`${path} can’t be restored: ${fault}.`])),
  ];
  if (newest.fault !== null) {
    return failed(
      lines,
      'Check the disk. Then move that file away, and start Vivarium again: it makes another backup.',
    );
  }
  if (realNowMs - newest.writtenAtMs > AGE_MS_MAX) return warning(lines, remedyFor(databaseBytes, dailyBytesMax));
  return (backups.some(({ fault }) => fault !== null) ? warning : ok)([
    ...lines,
    `Its header is that of a complete database with schema ${newest.schema}.`,
  ]);
}

const remedyFor = (databaseBytes: number, dailyBytesMax: number): string =>
  databaseBytes > dailyBytesMax
    ? `The database is larger than ${bytesText(dailyBytesMax)}, and is backed up before upgrades only. Copy it yourself while Vivarium is stopped.`
    : 'Start Vivarium again: it makes one a few seconds later if the newest is older than a day.';
