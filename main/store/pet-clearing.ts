import { nextTurn } from '../base/next-turn.ts';
import type { Connection } from './connection.ts';
import type { Datasets } from './datasets.ts';
import type { Pets } from './pets.ts';

/** Pets of one transaction: some 10 ms, after which others have their turn. */
const BATCH_PETS = 1_000;

/** Removes all pets of a dataset, or so many, in transactions of bounded size; one that is aborted leaves the rest. */
export function createPetClearing({ sqlite, transactional }: Connection, datasets: Datasets): Pets['clear'] {
  const remove = sqlite.prepare<[number, number, number]>(
    'DELETE FROM pets WHERE dataset_id = ? AND id IN (SELECT id FROM pets WHERE dataset_id = ? ORDER BY id LIMIT ?)',
  );
  const removeSome = transactional((id: number, limit: number): number => remove.run(id, id, limit).changes);

  return async (dataset, limit, signal) => {
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
