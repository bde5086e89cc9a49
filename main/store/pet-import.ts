import type { Dataset } from '../base/dataset.ts';
import { nextTurn } from '../base/next-turn.ts';
import { VivariumError } from '../contract/errors.ts';
import type { Datasets } from './datasets.ts';
import type { NewPetRow } from './pet-row.ts';
import { CHUNK_PETS, type PetWriter } from './pet-writer.ts';

/** Pets of one transaction: some 10 ms, after which others have their turn. */
const BATCH_PETS = 50 * CHUNK_PETS;

interface Insertion {
  writer: PetWriter;
  datasets: Datasets;
  dataset: Dataset;
  pets: Iterable<NewPetRow>;
  /** Ends it between two transactions. */
  signal: AbortSignal | undefined;
}

/**
 * Inserts any number of pets, in transactions of bounded size with other work in between.
 * @returns for each pet, in order, null when it was taken, or why not.
 * @throws (rejects) VivariumError when the whole can't go on (`unavailable`, `not_found`), or what `signal` says; what was
 *   stored until then stays.
 */
export async function insertMany(insertion: Insertion): Promise<(string | null)[]> {
  const { writer, datasets, dataset, pets, signal } = insertion;
  const results: (string | null)[] = [];
  let stored = 0;
  for (const batch of batchesOf(pets, BATCH_PETS)) {
    if (results.length > 0) await nextTurn();
    signal?.throwIfAborted();
    try {
      const handle = datasets.resolve(dataset);
      const outcomes = writer.write(() =>
        batchesOf(batch, CHUNK_PETS)
          .flatMap((chunk) => writer.insertChunk(handle, chunk))
          .toArray(),
      );
      const inserted = outcomes.filter((outcome) => outcome === null).length;
      stored += inserted;
      if (inserted > 0) datasets.changed(dataset);
      for (const outcome of outcomes) results.push(outcome);
    } catch (error) {
      if (stored === 0 || !(error instanceof VivariumError)) throw error;
      throw new VivariumError(error.code, `${error.message} ${stored} pets had been stored before.`, { cause: error });
    }
  }
  return results;
}

function* batchesOf<Item>(items: Iterable<Item>, size: number): Generator<Item[], undefined> {
  let batch: Item[] = [];
  for (const item of items) {
    batch.push(item);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
