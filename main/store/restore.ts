import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { shellWord } from '../base/shell.ts';
import { BACKUP_FOLDER, type BackupFile } from './backups.ts';

/**
 * The commands that put a backup in the place of a database, for a person to paste. The old files are moved, not
 * deleted; `-wal` and `-shm` have to go with the database, because SQLite would apply them to whatever has its name.
 */
export function restoreSteps(file: string, backup: BackupFile): string {
  return ['To restore it, stop Vivarium and run:', ...restoreCommands(file, backup).map((line) => `  ${line}`)].join(
    '\n',
  );
}

/** The same without words. */
export const restoreCommands = (file: string, backup: Pick<BackupFile, 'path'>): string[] => [
  ...moveAsideCommands(file),
  copyCommand(backup.path, file),
];

/** The commands that clear the place for a new, empty database. */
export function beginAnewSteps(file: string): string {
  const commands = moveAsideCommands(file);
  return ['To begin anew, stop Vivarium and run:', ...commands.map((command) => `  ${command}`)].join('\n');
}

/** More folders than this of damaged databases, and the last one is named again. */
const ASIDE_FOLDERS_MAX = 1_000;

/**
 * A folder that does not exist yet, so that what an earlier restoration moved there stays. It is among the backups,
 * because a data folder without a database may hold only what Vivarium puts there.
 */
function asideFolder(file: string): string {
  const stem = join(dirname(file), BACKUP_FOLDER, 'set-aside');
  let number = 1;
  while (number < ASIDE_FOLDERS_MAX && existsSync(`${stem}-${number}`)) number++;
  return `${stem}-${number}`;
}

const isWindows = process.platform === 'win32';
const quote = (path: string): string => shellWord(path, process.platform);

function moveAsideCommands(file: string): string[] {
  const aside = asideFolder(file);
  return isWindows
    ? [`mkdir ${quote(aside)}`, `move ${quote(`${file}*`)} ${quote(aside)}`]
    : [`mkdir -p ${quote(aside)}`, `mv ${quote(file)}* ${quote(aside)}`];
}

function copyCommand(from: string, to: string): string {
  return `${isWindows ? 'copy' : 'cp'} ${quote(from)} ${quote(to)}`;
}
