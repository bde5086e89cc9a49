import { statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import Sqlite from 'better-sqlite3';
import type { Database } from 'better-sqlite3';
import { nextTurn } from '../../base/turns.ts';
import { closing, FULL_CHECK_BYTES_MAX, pageFault, walksOf } from '../pages.ts';

/** Pages copied per turn of the event loop: 400 KiB, well below a millisecond. */
const STEP_PAGES = 100;

/** Pages copied before a sync is requested: a sync of all pages at the end would take one long turn. */
const STORED_PAGES = 1_000;

/** Rows of the copy read per turn: about a millisecond; rows with certificates are long. */
const STEP_ROWS = 200;

/**
 * Copies an open database into an empty file: a small one in one statement of some milliseconds, a larger one in small
 * steps between other work, with its content at the end of the copying. Then reads the copy through.
 * @throws SqliteError (rejects) when the disk is full, or at the first unreadable page.
 */
export async function copyDatabase(sqlite: Database, path: string, isCancelled = () => false): Promise<void> {
  if (sizeOf(sqlite) <= FULL_CHECK_BYTES_MAX) sqlite.prepare('VACUUM INTO ?').run(path);
  else await copyInSteps(sqlite, path);
  await checkCopy(path, isCancelled);
}

/** Pages in bytes, those of the write-ahead log included. */
export const sizeOf = (sqlite: Database): number =>
  Number(sqlite.pragma('page_count', { simple: true })) * Number(sqlite.pragma('page_size', { simple: true }));

async function copyInSteps(sqlite: Database, path: string): Promise<void> {
  const file = await open(path, 'r+');
  let unstored = 0;
  let storing = false;
  const end = () => void (storing = false);
  try {
    await sqlite.backup(path, {
      progress({ remainingPages }) {
        const isLast = remainingPages <= STEP_PAGES;
        if (!storing && unstored > 0 && (isLast || unstored >= STORED_PAGES)) {
          unstored = 0;
          storing = true;
          // In another thread; the last step reports errors.
          file.datasync().then(end, end);
        }
        // The last step syncs the rest in this thread.
        if (isLast && storing) return 0;
        unstored += STEP_PAGES;
        return STEP_PAGES;
      },
    });
  } finally {
    await file.close();
  }
}

/**
 * Copying preserves damaged pages silently, and five such copies would replace the last good one. Reading every row and
 * index of the copy makes SQLite detect malformed pages. @throws SqliteError (rejects) at the first unreadable page.
 */
export async function checkCopy(path: string, isCancelled = () => false): Promise<void> {
  await nextTurn();
  if (isCancelled()) return;
  await closing(new Sqlite(path), async (copy) => {
    // Without a write-ahead log, a backup is one file, readable from read-only media.
    copy.pragma('journal_mode = DELETE');
    if (statSync(path).size > FULL_CHECK_BYTES_MAX) return await checkInSteps(copy, isCancelled);
    const fault = pageFault(copy, 'quick_check');
    if (fault !== null) throw new Sqlite.SqliteError(fault, 'SQLITE_CORRUPT');
  });
}

async function checkInSteps(copy: Database, isCancelled: () => boolean): Promise<void> {
  for (const walk of walksOf(copy)) {
    let rows = 0;
    for (const _row of copy.prepare(walk).raw().safeIntegers().iterate()) {
      if (++rows % STEP_ROWS === 0) await nextTurn();
      if (isCancelled()) return;
    }
  }
}
