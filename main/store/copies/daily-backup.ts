import { statSync } from 'node:fs';
import type { Clock } from '../../base/clock.ts';
import { DAY_MS } from '../../contract/duration.ts';
import type { Log } from '../../base/log.ts';
import { copyDatabase } from './database-copy.ts';
import type { OpenDatabase } from '../database.ts';
import { messageOf } from '../../base/error-code.ts';

/** Another backup is due when the newest is older than this, or dated in the future of the app's clock. */
const BACKUP_AGE_MS_MAX = DAY_MS;

/** Keeps the disk free while the user waits for the start. Real time. */
const DELAY_MS = 5_000;

/** Larger databases are backed up before migrations only: five copies would take too much disk. */
export const DAILY_BYTES_MAX = 512 * 1024 * 1024;

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
      warnings.push(`The daily backup failed: ${messageOf(fault)}`);
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
