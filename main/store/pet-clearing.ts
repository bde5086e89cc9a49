import type { Dataset } from '../base/dataset.ts';
import { nextTurn } from '../base/next-turn.ts';
import type { Connection } from './connection.ts';
import type { Datasets } from './datasets.ts';

/** Pets of one transaction: some 10 ms, after which others have their turn. */
const BATCH_PETS = 1_000;

export function createPetClearing({ sqlite, transactional }: Connection, datasets: Datasets) {
  const remove = sqlite.prepare<[number, number, number]>(
    'DELETE FROM pets WHERE dataset_id = ? AND id IN (SELECT id FROM pets WHERE dataset_id = ? ORDER BY id LIMIT ?)',
  );
  const removeSome = transactional((id: number, limit: number): number => remove.run(id, id, limit).changes);

  /** Removes `limit` pets of a dataset at most, in transactions of bounded size; how many. One that is aborted leaves the rest. */
  return async (dataset: Dataset, limit: number, signal?: AbortSignal): Promise<number> => {
    let removed = 0;
    while (removed < limit) {
      signal?.throwIfAborted();
      const wanted = Math.min(BATCH_PETS, limit - removed);
      const gone = removeSome(datasets.resolve(dataset).id, wanted);
      removed += gone;
      if (gone > 0) datasets.changed(dataset);
      if (gone < wanted) break;
      await nextTurn();
    }
    return removed;
  };
}
