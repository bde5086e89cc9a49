import { statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import Sqlite from 'better-sqlite3';
import type { Database } from 'better-sqlite3';
import type { Clock } from '../base/clock.ts';
import { DAY_MS } from '../contract/duration.ts';
import type { Log } from '../base/log.ts';
import { nextTurn } from '../base/turns.ts';
import type { OpenDatabase } from './database.ts';
import { walksOf } from './inspect.ts';

/** Another backup is due when the newest is older than this, or dated in the future of the app's clock. */
const BACKUP_AGE_MS_MAX = DAY_MS;

/** Keeps the disk free while the user waits for the start. Real time. */
const DELAY_MS = 5_000;

/** Larger databases are backed up before migrations only: five copies would take too much disk. */
export const DAILY_BYTES_MAX = 512 * 1024 * 1024;

/** Pages copied per turn of the event loop: 400 KiB, well below a millisecond. */
const STEP_PAGES = 100;

/** Pages copied before the system is asked to store them: all of them at the end would take one long turn. */
const STORED_PAGES = 1_000;

/** Rows of the copy read per turn: about a millisecond; those with certificates are long. */
const STEP_ROWS = 200;

/**
 * Makes a backup some seconds after the start if the newest is older than a day, in small steps between other work. On
 * failure (a full disk, a damaged page) the older ones are kept and `warnings` gets the reason.
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
      await copyDatabase(connection.sqlite, backup.temporary, () => cancelled);
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
 * Copies an open database into an empty file, in small steps between other work: the content at the end of the copying.
 * @throws SqliteError (rejects) when the disk is full, or at the first unreadable page.
 */
export async function copyDatabase(sqlite: Database, path: string, isCancelled = () => false): Promise<void> {
  const file = await open(path, 'r+');
  let unstored = 0;
  let storing = false;
  const end = () => void (storing = false);
  try {
    await sqlite.backup(path, {
      progress() {
        unstored += STEP_PAGES;
        if (!storing && unstored >= STORED_PAGES) {
          unstored = 0;
          storing = true;
          // In another thread; the last step stores the rest, and reports what cannot be stored.
          file.datasync().then(end, end);
        }
        return STEP_PAGES;
      },
    });
  } finally {
    await file.close();
  }
  await checkCopy(path, isCancelled);
}

/**
 * Copying preserves damaged pages silently, and five such copies would replace the last good one. Reading every row and
 * index of the copy makes SQLite detect malformed pages. @throws SqliteError (rejects) at the first unreadable page.
 */
async function checkCopy(path: string, isCancelled: () => boolean): Promise<void> {
  const copy = new Sqlite(path);
  try {
    // Without a write-ahead log, a backup is one file, readable from read-only media.
    copy.pragma('journal_mode = DELETE');
    await nextTurn();
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
