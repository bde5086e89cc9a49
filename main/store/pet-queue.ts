import type { Dataset } from '../base/dataset.ts';
import { VivariumError } from '../contract/errors.ts';
import { closedError, type Connection } from './connection.ts';
import type { DatasetHandle, Datasets } from './datasets.ts';
import type { PetRow } from './pet-row.ts';
import type { PetWriter } from './pet-writer.ts';

/** Pets that wait for the next commit: about 0.1 s of work. Beyond it the machine can't keep up, and says so. */
export const QUEUE_PETS_MAX = 10_000;

type QueuedPet = Omit<PetRow, 'id'>;

/**
 * Group commit. A durable commit waits for the disk, whatever is in it, so all pets that arrive in one turn of the
 * event loop share one: throughput grows with the load instead of being bound to the disk's commits per second.
 */
export interface PetQueue {
  /**
   * Resolves after the commit. One pet that can't be added rejects its own promise only.
   * @throws (rejects) VivariumError `not_found`, `conflict`, or `unavailable` when the queue is full or closed.
   */
  add(dataset: Dataset, pet: QueuedPet): Promise<PetRow>;
  /** Commits what waits, and refuses what comes. */
  close(): void;
}

interface Waiting {
  handle: DatasetHandle;
  pet: QueuedPet;
  resolve(pet: PetRow): void;
  reject(error: unknown): void;
}

type Outcome = { ok: true; pet: PetRow } | { ok: false; error: unknown };

export function createPetQueue(connection: Connection, datasets: Datasets, writer: PetWriter): PetQueue {
  let waiting: Waiting[] = [];
  let closed = false;

  function insert({ handle, pet }: Waiting): Outcome {
    try {
      return { ok: true, pet: writer.insert(handle, pet) };
    } catch (error) {
      // When SQLite has ended the transaction by itself, going on would insert outside of any.
      if (!connection.sqlite.inTransaction) throw error;
      return { ok: false, error: connection.explain(error) };
    }
  }

  function commit(): void {
    const batch = waiting;
    waiting = [];
    if (batch.length === 0) return;
    let outcomes: Outcome[];
    try {
      outcomes = writer.write(() => batch.map(insert));
    } catch (error) {
      for (const { reject } of batch) reject(error);
      return;
    }
    const changed = new Set<DatasetHandle>();
    batch.forEach(({ handle }, index) => {
      if (outcomes[index]?.ok === true) changed.add(handle);
    });
    // Before anyone is told: who reads after the answer must not be shown a page from before.
    for (const { dataset } of changed) datasets.changed(dataset);
    batch.forEach(({ resolve, reject }, index) => {
      const outcome = outcomes[index];
      if (outcome?.ok === true) resolve(outcome.pet);
      else reject(outcome?.error);
    });
  }

  return {
    async add(dataset, pet) {
      if (closed) throw closedError();
      if (waiting.length >= QUEUE_PETS_MAX) {
        throw new VivariumError(
          'unavailable',
          `${QUEUE_PETS_MAX} pets are waiting to be stored already; try again in a moment.`,
        );
      }
      const handle = datasets.resolve(dataset);
      return new Promise((resolve, reject) => {
        if (waiting.length === 0) setImmediate(commit);
        waiting.push({ handle, pet, resolve, reject });
      });
    },
    close() {
      closed = true;
      commit();
    },
  };
}
