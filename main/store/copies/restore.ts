import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { shellWord } from '../../base/text/shell.ts';
import { BACKUP_FOLDER, type BackupFile } from './backups.ts';

/**
 * Commands that restore a backup over a database, for the user to paste. They move the old files instead of deleting
 * them, including `-wal` and `-shm`, which SQLite would apply to any database of that name.
 */
export function restoreSteps(file: string, backup: BackupFile): string {
  return ['To restore it, stop Vivarium and run:', ...restoreCommands(file, backup).map((line) => `  ${line}`)].join(
    '\n',
  );
}

/** The same commands, unquoted. */
export const restoreCommands = (file: string, backup: Pick<BackupFile, 'path'>): string[] => [
  ...moveAsideCommands(file, []),
  copyCommand(backup.path, file),
];

/** The commands that make room for a new, empty database. */
export function beginAnewSteps(file: string): string {
  const commands = moveAsideCommands(file, startedFiles(file));
  return ['To start over, stop Vivarium and run:', ...commands.map((command) => `  ${command}`)].join('\n');
}

/** Maximum folders for damaged databases; after that the last name is reused. */
const ASIDE_FOLDERS_MAX = 1_000;

/**
 * A new folder, to keep files of earlier restorations. It is inside the backups, because a data folder without a
 * database may contain only Vivarium's own files.
 */
export function asideFolder(file: string): string {
  const stem = join(dirname(file), BACKUP_FOLDER, 'set-aside');
  let number = 1;
  while (number < ASIDE_FOLDERS_MAX && existsSync(`${stem}-${number}`)) number++;
  return `${stem}-${number}`;
}

const isWindows = process.platform === 'win32';
const quote = (path: string): string => shellWord(path, process.platform);

/** Names of files that every start leaves beside its database: they show that there was one. */
export const startedFiles = (file: string): string[] =>
  ['control-token', 'demo-key.json'].filter((name) => existsSync(join(dirname(file), name)));

function moveAsideCommands(file: string, others: readonly string[]): string[] {
  const aside = quote(asideFolder(file));
  const parts = ['', '-wal', '-shm'].some((suffix) => existsSync(file + suffix))
    ? [isWindows ? quote(`${file}*`) : `${quote(file)}*`]
    : [];
  const moved = [...parts, ...others.map((name) => quote(join(dirname(file), name)))];
  if (moved.length === 0) return [];
  return [
    isWindows ? `mkdir ${aside}` : `mkdir -p ${aside}`,
    ...moved.map((what) => `${isWindows ? 'move' : 'mv'} ${what} ${aside}`),
  ];
}

function copyCommand(from: string, to: string): string {
  return `${isWindows ? 'copy' : 'cp'} ${quote(from)} ${quote(to)}`;
}
