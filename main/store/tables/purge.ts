import type { Log } from '../../base/log.ts';
import { nextTurn } from '../../base/turns.ts';
import type { Connection } from '../connection.ts';

/** Rows per step, some 10 ms, to let other work run. A million pets in one statement take seconds. */
export const STEP_ROWS = 2_000;

/** Records per step; each row is in five indexes, in random places of one of them. */
export const STEP_RECORDS = 300;

/**
 * Deletes the rows of removed projects and zones. These are unreachable from the moment of removal; their rows are
 * deleted in steps between other work, also after a restart.
 */
export function createPurge({ sqlite, inPart }: Connection, log: Log) {
  const orphan = sqlite.prepare<[], number>('SELECT id FROM datasets WHERE project_id IS NULL LIMIT 1').pluck();
  const removePets = sqlite.prepare<[number, number, number]>(
    `DELETE FROM pets WHERE dataset_id = ? AND id IN (SELECT id FROM pets WHERE dataset_id = ? ORDER BY id LIMIT ?)`,
  );
  const removeOrders = sqlite.prepare<[number, number, number]>(
    `DELETE FROM orders WHERE dataset_id = ? AND id IN (SELECT id FROM orders WHERE dataset_id = ? ORDER BY id LIMIT ?)`,
  );
  const removeDataset = sqlite.prepare<[number]>('DELETE FROM datasets WHERE id = ?');
  const removedZone = sqlite.prepare<[], string>('SELECT name FROM zones WHERE removed = 1 LIMIT 1').pluck();
  const removeRecords = sqlite.prepare<[string, number]>(
    'DELETE FROM records WHERE key IN (SELECT key FROM records WHERE zone = ? LIMIT ?)',
  );
  const removeZone = sqlite.prepare<[string]>('DELETE FROM zones WHERE name = ?');
  let running: Promise<void> | null = null;
  let stopped = false;

  /** Both return whether more rows may remain. A power failure undoes steps, and the next start repeats them. */
  const stepOfDatasets = inPart((): boolean => {
    let rowsLeft = STEP_ROWS;
    for (;;) {
      const id = orphan.get();
      if (id === undefined) return false;
      rowsLeft -= removePets.run(id, id, rowsLeft).changes;
      if (rowsLeft > 0) rowsLeft -= removeOrders.run(id, id, rowsLeft).changes;
      if (rowsLeft <= 0) return true;
      removeDataset.run(id);
    }
  });
  const stepOfZones = inPart((): boolean => {
    let rowsLeft = STEP_RECORDS;
    for (;;) {
      const name = removedZone.get();
      if (name === undefined) return false;
      rowsLeft -= removeRecords.run(name, rowsLeft).changes;
      if (rowsLeft <= 0) return true;
      removeZone.run(name);
    }
  });

  async function run(): Promise<void> {
    try {
      do await nextTurn();
      while (!stopped && (stepOfZones() || stepOfDatasets()));
    } catch (error) {
      // The removal itself is stored: the next removal or start continues.
      log.warn('Data of removed projects or zones could not be deleted yet', { error });
    } finally {
      running = null;
    }
  }

  return {
    /** Starts, unless it is already running. Resolves when no rows are left, or the next start has to continue. */
    begin: (): Promise<void> => (running ??= run()),
    stop(): void {
      stopped = true;
    },
  };
}
