import { accessSync, constants, readdirSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { reasonOf } from '../base/error-code.ts';
import { OWNER_ONLY } from '../base/system/files.ts';
import { posixWord } from '../base/text/shell.ts';
import type { DoctorCheck } from '../contract/doctor.ts';
import { bytesText, finding } from './finding.ts';

/** With less free space, the next import may not fit. */
const FREE_BYTES_ENOUGH = 1_000_000_000;
/** With less free space, the next pet may not fit. */
const FREE_BYTES_MIN = 50_000_000;

/** Free inodes, on file systems that count them: SQLite's logs and backups need a few. */
const FREE_FILES_MIN = 100;

export interface DiskEvidence {
  path: string;
  /** Null if the system does not report it. */
  space: { freeBytes: number; totalBytes: number; freeFiles: number; totalFiles: number } | null;
  /** Whether the break `machine.disk-full` keeps the database from growing. */
  limited?: boolean;
}

export function evaluateDisk({ path, space, limited = false }: DiskEvidence): DoctorCheck {
  const subject = { area: 'data', name: 'disk', title: 'Disk space' } as const;
  if (limited) {
    return finding(subject, 'failed', [`The database at ${path} has reached its size limit and can’t grow.`], {
      fix: 'The break machine.disk-full limits it on purpose: repair the break. If the disk really is full, free some space.',
      commands: ['vivarium break off --all'],
    });
  }
  if (space === null)
    return finding(subject, 'skipped', [`The system does not report how much space is free at ${path}.`]);
  const { freeBytes, totalBytes, freeFiles, totalFiles } = space;
  const evidence = [`${bytesText(freeBytes)} of ${bytesText(totalBytes)} is free at ${path}.`];
  const fix = {
    fix: 'Free some space, or move to another disk with --data-dir. Changes that do not fit are refused; nothing is lost.',
  };
  if (totalFiles > 0 && freeFiles < FREE_FILES_MIN) {
    return finding(subject, 'failed', [...evidence, `Only ${freeFiles} more files can be created there.`], fix);
  }
  if (freeBytes < FREE_BYTES_MIN) return finding(subject, 'failed', evidence, fix);
  return freeBytes < FREE_BYTES_ENOUGH ? finding(subject, 'warning', evidence, fix) : finding(subject, 'ok', evidence);
}

/** Access of the user and of others to the data folder. */
export interface FolderEvidence {
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
  const subject = { area: 'data', name: 'folder', title: 'Permissions' } as const;
  if (!exists) return finding(subject, 'skipped', [`${path} does not exist; the first start creates it.`]);
  if (noFolder) {
    return finding(subject, 'failed', [`${path} is not a folder.`], {
      fix: 'Name a folder with --data-dir, or move that file away.',
    });
  }
  if (denied.length > 0) {
    return finding(
      subject,
      'failed',
      denied.map(({ path: file, reason }) => `${file} can’t be read and written (${reason}).`),
      {
        fix: 'Make your user its owner again (commands for macOS and Linux), or start with another --data-dir.',
        commands: [`sudo chown -R "$(id -un)" ${posixWord(path)}`, `chmod -R u+rwX ${posixWord(path)}`],
      },
    );
  }
  if (open.length > 0) {
    return finding(
      subject,
      'failed',
      open.map(
        ({ path: file, mode, wanted }) =>
          `${file} has mode ${modeText(mode)}; other users can read it. It should have ${modeText(wanted)}.`,
      ),
      {
        fix: 'Restrict it to its owner. Others may have read the secrets: revoke the keys, and remove control-token to get a new token.',
        commands: open.map(({ path: file, wanted }) => `chmod ${modeText(wanted).slice(1)} ${posixWord(file)}`),
      },
    );
  }
  return finding(subject, 'ok', [`${path} can be written, and only its owner can read its secrets.`]);
}

/** `0644`. */
export const modeText = (mode: number): string => (mode & 0o7777).toString(8).padStart(4, '0');

/** Secrets in a data folder, for the owner alone. The root's key has its own check. */
const SECRET_FILES = ['control-token', 'demo-key.json', 'runtime.json', 'vivarium.db', 'vivarium.db-wal'];

/** Logs of the desktop app and of a Vivarium in the background. In the foreground, it logs to standard error. */
export interface LogsEvidence {
  path: string;
  files: number;
  bytes: number;
}

export function evaluateLogs({ path, files, bytes }: LogsEvidence): DoctorCheck {
  const subject = { area: 'data', name: 'logs', title: 'Logs' } as const;
  const foreground = 'A Vivarium that runs in a terminal logs to that terminal.';
  if (files === 0) return finding(subject, 'ok', [`None in ${path}.`, foreground]);
  return finding(subject, 'ok', [
    `In ${path}: ${files} ${files === 1 ? 'file' : 'files'}, ${bytesText(bytes)}.`,
    foreground,
  ]);
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
  const files = readableNames(path);
  const own = files.filter((name) => SECRET_FILES.includes(name)).map((name) => join(path, name));
  const denied = [
    ...faultsOf(path, constants.R_OK | constants.W_OK | constants.X_OK),
    ...own.flatMap((file) => faultsOf(file, constants.R_OK | constants.W_OK)),
  ];
  // Windows has access lists instead of modes.
  const open = platform === 'win32' ? [] : own.flatMap((file) => findExcessMode(file, OWNER_ONLY));
  return { ...none, denied, open };
}

export function readLogs(path: string): LogsEvidence {
  const sizes = readableNames(path)
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

function readableNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
