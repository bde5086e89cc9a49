import type { Log } from '../base/log.ts';
import type { Connection } from './connection.ts';

/** Rows of one step: some 10 ms, after which others have their turn. A million pets in one statement take seconds. */
export const STEP_ROWS = 2_000;

/**
 * Deletes what is left of removed projects. Their datasets belong to no project from the moment of the removal, and
 * nothing can reach them; their rows go in steps between other work, and after a restart if need be.
 */
export interface Purge {
  /** Begins, unless it is running. */
  begin(): void;
  stop(): void;
}

export function createPurge({ sqlite, transactional }: Connection, log: Log): Purge {
  const orphan = sqlite.prepare<[], number>('SELECT id FROM datasets WHERE project_id IS NULL LIMIT 1').pluck();
  const removePets = sqlite.prepare<[number, number, number]>(
    `DELETE FROM pets WHERE dataset_id = ? AND id IN (SELECT id FROM pets WHERE dataset_id = ? ORDER BY id LIMIT ?)`,
  );
  const removeOrders = sqlite.prepare<[number, number, number]>(
    `DELETE FROM orders WHERE dataset_id = ? AND id IN (SELECT id FROM orders WHERE dataset_id = ? ORDER BY id LIMIT ?)`,
  );
  const removeDataset = sqlite.prepare<[number]>('DELETE FROM datasets WHERE id = ?');
  let running = false;
  let stopped = false;

  /** Whether there may be more to do. */
  const step = transactional((): boolean => {
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

  function turn(): void {
    running = false;
    if (stopped) return;
    try {
      if (step()) begin();
    } catch (error) {
      // Nobody waits for it: it goes on after the next removal, or the next start.
      log.warn('What is left of removed projects could not be deleted yet', { error });
    }
  }

  function begin(): void {
    if (running || stopped) return;
    running = true;
    setImmediate(turn);
  }

  return {
    begin,
    stop() {
      stopped = true;
    },
  };
}
