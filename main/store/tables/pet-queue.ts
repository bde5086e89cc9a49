import type { Dataset, NewPet, Pet } from '../../model/pet.ts';
import { unavailable } from '../../contract/errors.ts';
import { closedError, type Connection } from '../connection.ts';
import type { DatasetHandle, Datasets } from './datasets.ts';
import type { PetWriter } from './pet-writer.ts';

/** Pets queued for the next commit, about 0.1 s of work. Beyond this the machine is overloaded and refuses more. */
export const QUEUE_PETS_MAX = 10_000;

type QueuedPet = Omit<NewPet, 'id'>;

interface Waiting {
  handle: DatasetHandle;
  pet: QueuedPet;
  resolve(pet: Pet): void;
  reject(error: unknown): void;
}

type Outcome = { ok: true; pet: Pet } | { ok: false; error: unknown };

/**
 * Group commit. A durable commit waits for the disk regardless of its size, so all pets of one turn of the event loop
 * share one: throughput grows with load and is not limited by the disk's commits per second.
 */
export function createPetQueue(connection: Connection, datasets: Datasets, writer: PetWriter) {
  let waiting: Waiting[] = [];
  let closed = false;

  function insert({ handle, pet }: Waiting): Outcome {
    try {
      return { ok: true, pet: writer.insert(handle, pet) };
    } catch (error) {
      // SQLite may have ended the transaction itself; further inserts would run outside of any.
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
    // Bump the revision before resolving: a client that reads next must not get a cached page.
    for (const { dataset } of changed) datasets.changed(dataset);
    batch.forEach(({ resolve, reject }, index) => {
      const outcome = outcomes[index];
      if (outcome?.ok === true) resolve(outcome.pet);
      else reject(outcome?.error);
    });
  }

  return {
    /**
     * Resolves after the commit. A pet that cannot be added rejects its own promise only. @throws (rejects) VivariumError
     * `not_found`, `conflict`, or `unavailable` when the queue is full or closed.
     */
    async add(dataset: Dataset, pet: QueuedPet): Promise<Pet> {
      if (closed) throw closedError();
      if (waiting.length >= QUEUE_PETS_MAX) {
        throw unavailable(`${QUEUE_PETS_MAX} pets are already waiting to be stored; try again in a moment.`);
      }
      const handle = datasets.resolve(dataset);
      return new Promise((resolve, reject) => {
        if (waiting.length === 0) setImmediate(commit);
        waiting.push({ handle, pet, resolve, reject });
      });
    },
    flush: commit,
    /** Commits the queue and refuses new pets. */
    close() {
      closed = true;
      commit();
    },
  };
}
