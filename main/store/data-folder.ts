import { existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { emptyDataFolder, LOCK_FILE, prepareDataFolder } from '../base/system/data-folder.ts';
import { reasonOf } from '../base/error-code.ts';
import { isLocked, takeLock } from '../base/system/lock.ts';
import { ownCommand } from '../base/system/own-command.ts';
import { readRuntime } from '../base/system/runtime-file.ts';
import { conflict, unavailable, type VivariumError } from '../contract/errors.ts';
import { finishRestore } from './copies/folder-backup.ts';

/**
 * Creates `directory` if needed, checks that it is writable, and locks it until `release`. Finishes an interrupted
 * restoration of a backup. @throws VivariumError with one line that names the folder and the fix.
 */
export function claimDataFolder(directory: string) {
  const isNew = prepareDataFolder(directory);
  const hadLock = existsSync(join(directory, LOCK_FILE));
  const release = lock(directory);
  // Another start may have locked this folder, and stored data in it, since this start created it.
  const isOwn = isNew && !hadLock && readdirSync(directory).every((name) => name === LOCK_FILE);
  try {
    finishRestore(directory);
  } catch (error) {
    release();
    throw error;
  }
  return {
    /** Removes Vivarium's files from a folder that the claim created; leaves any other folder unchanged. */
    empty(): void {
      if (isOwn) emptyDataFolder(directory);
    },
    /**
     * Releases the folder. With `leaveNothing`, also removes what the claim created: the lock file, and a new, empty
     * folder.
     */
    release({ leaveNothing }: { leaveNothing: boolean } = { leaveNothing: false }): void {
      release();
      if (!leaveNothing) return;
      if (!hadLock) rmSync(join(directory, LOCK_FILE), { force: true });
      if (isNew && readdirSync(directory).length === 0) rmdirSync(directory);
    },
  };
}

/** How long a claim tries again; the lock of a running Vivarium stays. */
const RETRIES_MS_MAX = 250;

function lock(directory: string): () => void {
  const path = join(directory, LOCK_FILE);
  let release: (() => void) | null;
  try {
    release = takeLock(path, RETRIES_MS_MAX);
  } catch (error) {
    throw unavailable(
      `The lock file ${path} can't be used (${reasonOf(error)}); check its permissions, or choose another folder with --data-dir.`,
      { cause: error },
    );
  }
  if (release === null) throw inUse(directory);
  return release;
}

/** Whether another process has locked the folder, without changing or locking anything; null when unknown. */
export const isFolderLocked = (directory: string): boolean | null => isLocked(join(directory, LOCK_FILE));

function inUse(directory: string): VivariumError {
  // Without the file, the owner is starting or stopping; the lock alone decides.
  const runtime = readRuntime(directory);
  const who = runtime.state === 'read' ? ` (process ${runtime.pid}, ${runtime.control.url})` : '';
  const own = ownCommand(directory);
  return conflict(
    `Vivarium is already running on the data folder ${directory}${who}. Open it with "${own('vivarium open')}", ` +
      `stop it with "${own('vivarium stop')}", or start another with --data-dir.`,
  );
}
