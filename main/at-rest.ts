import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DATABASE_FILE } from './base/data-folder.ts';
import { ownCommand } from './composition/own-command.ts';
import type { WrittenBackup } from './contract/backup.ts';
import { VivariumError } from './contract/errors.ts';
import { claimDataFolder, isFolderLocked } from './store/data-folder.ts';
import { openAtRest } from './store/database.ts';
import { writeBackupFile } from './store/backup-file.ts';
import { type Restored, restoreFolder } from './store/folder-restore.ts';

/** Writes a backup of a data folder on which no engine runs. @throws VivariumError as `writeBackupFile`. */
export async function backUpAtRest(dataDir: string, target: { file: string; force: boolean }): Promise<WrittenBackup> {
  const database = join(dataDir, DATABASE_FILE);
  if (!existsSync(database)) throw new VivariumError('not_found', `There is no Vivarium database in ${dataDir}.`);
  const folder = claimDataFolder(dataDir);
  try {
    const sqlite = openAtRest(database);
    try {
      return await writeBackupFile({ sqlite, dataDir, ...target });
    } finally {
      sqlite.close();
    }
  } finally {
    folder.release();
  }
}

/** Replaces the content of a data folder by a backup. @throws VivariumError as `restoreFolder`; conflict while in use. */
export function restoreAtRest(dataDir: string, file: string): Restored {
  if (isFolderLocked(dataDir) === true) {
    const stop = ownCommand(dataDir)('vivarium stop');
    throw new VivariumError(
      'conflict',
      `Vivarium is running on ${dataDir}; nothing was changed. Stop it first: ${stop}`,
    );
  }
  const folder = claimDataFolder(dataDir);
  try {
    return restoreFolder(dataDir, file);
  } finally {
    folder.release();
  }
}
