import { statSync } from 'node:fs';
import Sqlite from 'better-sqlite3';
import type { Clock } from '../base/clock.ts';
import { DAY_MS } from '../base/duration.ts';
import type { Log } from '../base/log.ts';
import { nextTurn } from '../base/next-turn.ts';
import type { OpenDatabase } from './database.ts';
import { walksOf } from './inspect.ts';

/** A newest backup older than this, or dated in the future of the app's clock, calls for another. */
const BACKUP_AGE_MS_MAX = DAY_MS;

/** The first seconds belong to whoever is waiting for Vivarium to start. Real time. */
const DELAY_MS = 5_000;

/** A larger database is backed up before migrations only: five copies of it are not what anyone expects of a start. */
export const DAILY_BYTES_MAX = 512 * 1024 * 1024;

/** Pages copied in one turn of the event loop: 400 KiB, well below a millisecond. */
const STEP_PAGES = 100;

/** Rows of the copy looked at in one turn: about a millisecond. */
const STEP_ROWS = 1_000;

/**
 * Some seconds after the start, a backup, when the newest is older than a day. It is copied in small steps while
 * everything else goes on. When it fails (a full disk, a damaged page) the older ones stay, and `warnings` says why.
 */
export function scheduleDailyBackup(
  database: OpenDatabase,
  { clock, log }: { clock: Pick<Clock, 'now' | 'realTimer'>; log: Log },
): { cancel(): void } {
  const { connection, backups, file, schema, warnings } = database;
  if (file === null || !isDue()) return { cancel: () => undefined };
  let abandon: (() => void) | null = null;
  let cancelled = false;

  function isDue(): boolean {
    const newest = backups.list()[0];
    return newest === undefined || Math.abs(clock.now() - newest.takenAtMs) > BACKUP_AGE_MS_MAX;
  }

  async function backUp(path: string): Promise<void> {
    if (statSync(path).size > DAILY_BYTES_MAX) {
      log.info('Database too large for a daily backup', { file: path, bytesMax: DAILY_BYTES_MAX });
      return;
    }
    const backup = backups.begin(schema);
    abandon = () => backup.abandon();
    try {
      await connection.sqlite.backup(backup.temporary, { progress: () => STEP_PAGES });
      await checkCopy(backup.temporary, () => cancelled);
      if (cancelled) return;
      log.info('Backup written', { path: backup.finish() });
    } catch (error) {
      backup.abandon();
      throw error;
    } finally {
      abandon = null;
    }
  }

  const timer = clock.realTimer(DELAY_MS, () => {
    backUp(file).catch((error: unknown) => {
      if (cancelled) return;
      const fault = connection.explain(error);
      log.error('The daily backup failed', { error: fault });
      warnings.push(`The daily backup failed: ${fault instanceof Error ? fault.message : String(fault)}`);
    });
  });

  return {
    cancel() {
      cancelled = true;
      timer.cancel();
      abandon?.();
    },
  };
}

/**
 * Copying moves damaged pages along unseen, and five such copies would have pushed out the last good one. So every
 * row and every index of the copy is walked once, which SQLite does not do over a page that is not one.
 * @throws SqliteError (rejects) as soon as a page can't be read.
 */
async function checkCopy(path: string, isCancelled: () => boolean): Promise<void> {
  const copy = new Sqlite(path);
  try {
    // A backup is one file, readable from anywhere: no log beside it.
    copy.pragma('journal_mode = DELETE');
    for (const walk of walksOf(copy)) {
      let rows = 0;
      for (const _row of copy.prepare(walk).raw().safeIntegers().iterate()) {
        if (++rows % STEP_ROWS === 0) await nextTurn();
        if (isCancelled()) return;
      }
    }
  } finally {
    copy.close();
  }
}
