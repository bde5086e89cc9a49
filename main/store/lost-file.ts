import { copyFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Clock, Timer } from '../base/clock.ts';
import { VivariumError } from '../contract/errors.ts';
import { syncFolder, syncPath } from '../base/system/files.ts';
import type { OpenDatabase } from './database.ts';

/** How long changes may go to a file that no path leads to, which SQLite does not notice. Real time. */
const LOOK_MS = 500;

/** The file of an open database, which another program can remove or replace on all systems but Windows. */
export interface WatchedFile {
  /**
   * Restores the open database's content if its file is gone; makes a backup of it if another file has replaced it.
   * Call before closing the database. @throws if it cannot be written
   */
  rescue(): void;
  stop(): void;
}

/** @param onLost is called once, when the path no longer leads to the file */
export function watchDatabaseFile(
  { connection, backups, file, schema }: OpenDatabase,
  { clock, onLost }: { clock: Pick<Clock, 'realTimer'>; onLost: (error: VivariumError) => void },
): WatchedFile {
  if (file === null) return { rescue: () => undefined, stop: () => undefined };
  const path = file;
  const identity = identityOf(path);
  let timer: Timer = { cancel: () => undefined };

  const look = () => {
    if (identityOf(path) === identity) timer = clock.realTimer(LOOK_MS, look);
    else onLost(lost(path));
  };
  look();

  return {
    rescue() {
      const found = identityOf(path);
      if (found === identity) return;
      const backup = backups.takeNow(connection.sqlite, schema);
      if (found !== null) return;
      // SQLite would apply the leftovers of the old log to the copy.
      for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true });
      copyFileSync(backup, `${path}.tmp`);
      syncPath(`${path}.tmp`, 'r+');
      renameSync(`${path}.tmp`, path);
      syncFolder(dirname(path));
    },
    stop: () => timer.cancel(),
  };
}

/** Null without a file. */
function identityOf(path: string): string | null {
  const facts = statSync(path, { bigint: true, throwIfNoEntry: false });
  return facts === undefined ? null : `${facts.dev} ${facts.ino}`;
}

const lost = (path: string): VivariumError =>
  new VivariumError(
    'unavailable',
    `Another program removed or replaced the database ${path}. A removed database is written again with all its ` +
      'content. If another file is in its place, that one is used, and the previous content is the newest backup.',
  );
