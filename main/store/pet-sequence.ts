import { VivariumError } from '../contract/errors.ts';
import { INT64_MAX } from '../contract/values.ts';
import type { Connection } from './connection.ts';
import { noSuchProject, type DatasetHandle } from './datasets.ts';

/**
 * Explicit ids up to 2^53 move the sequence on; ones beyond do not. Otherwise a single imported pet with a huge id
 * would give every later one an id that JavaScript clients can't read exactly, or leave none to assign.
 */
const PUSHING_ID_MAX = 2n ** 53n;

/** The ids that datasets assign: from 1, only ever growing, never used again after a removal. Lives for one transaction. */
export interface PetSequence {
  /** The id to try first. @throws VivariumError `conflict` when there is none left. */
  next(handle: DatasetHandle): bigint;
  /** The first id found free above `taken`. @throws VivariumError `conflict` when there is none. */
  freeAfter(handle: DatasetHandle, taken: bigint): bigint;
  /** An id was assigned. */
  assigned(handle: DatasetHandle, id: bigint): void;
  /** A pet came with an id of its own. */
  pushed(handle: DatasetHandle, id: bigint): void;
  /** Where the sequence stands, to come back to it with `assigned` when what followed was undone. */
  last(handle: DatasetHandle): bigint;
  /** Forgets everything; at the beginning of a transaction. */
  begin(): void;
  /** Writes what has changed; at the end of the transaction. */
  store(): void;
}

export function createPetSequence({ sqlite }: Connection): PetSequence {
  const load = sqlite
    .prepare<[number], bigint>('SELECT last_pet_id FROM datasets WHERE id = ? AND project_id IS NOT NULL')
    .pluck()
    .safeIntegers();
  const save = sqlite.prepare<[bigint, number]>('UPDATE datasets SET last_pet_id = ? WHERE id = ?');
  const isTaken = sqlite
    .prepare<[number, bigint], number>('SELECT 1 FROM pets WHERE dataset_id = ? AND id = ?')
    .pluck();
  const firstGap = sqlite
    .prepare<[number, bigint, bigint], bigint>(
      `SELECT p.id + 1 FROM pets AS p WHERE p.dataset_id = ? AND p.id >= ? AND p.id < ? AND NOT EXISTS
         (SELECT 1 FROM pets AS q WHERE q.dataset_id = p.dataset_id AND q.id = p.id + 1)
       ORDER BY p.id LIMIT 1`,
    )
    .pluck()
    .safeIntegers();
  const sequences = new Map<number, { last: bigint; stored: bigint }>();

  function sequenceOf(handle: DatasetHandle): { last: bigint; stored: bigint } {
    let sequence = sequences.get(handle.id);
    if (sequence === undefined) {
      const stored = load.get(handle.id);
      if (stored === undefined) throw noSuchProject(handle.dataset.projectId);
      sequence = { last: stored, stored };
      sequences.set(handle.id, sequence);
    }
    return sequence;
  }

  /**
   * Ids above the sequence are taken only where explicit ones lie beyond 2^53, perhaps a million in a row. Doubling
   * steps find a free one in few probes, halving the last step finds the end of the row: logarithmic instead of linear.
   */
  function freeAfter(handle: DatasetHandle, taken: bigint): bigint {
    let low = taken;
    let step = 1n;
    while (low + step <= INT64_MAX) {
      const high = low + step;
      if (isTaken.get(handle.id, high) === undefined) return endOfRow(handle.id, low, high);
      low = high;
      step *= 2n;
    }
    // The steps left int64. Only here the ids are walked: those between `taken` and the highest of all.
    const gap = firstGap.get(handle.id, taken, INT64_MAX);
    if (gap === undefined) throw exhausted(handle);
    return gap;
  }

  function endOfRow(datasetId: number, taken: bigint, free: bigint): bigint {
    let low = taken;
    let high = free;
    while (high - low > 1n) {
      const middle = low + (high - low) / 2n;
      if (isTaken.get(datasetId, middle) === undefined) high = middle;
      else low = middle;
    }
    return high;
  }

  return {
    next(handle) {
      const { last } = sequenceOf(handle);
      if (last >= INT64_MAX) throw exhausted(handle);
      return last + 1n;
    },
    freeAfter,
    assigned(handle, id) {
      sequenceOf(handle).last = id;
    },
    pushed(handle, id) {
      const sequence = sequenceOf(handle);
      if (id <= PUSHING_ID_MAX && id > sequence.last) sequence.last = id;
    },
    last: (handle) => sequenceOf(handle).last,
    begin: () => sequences.clear(),
    store() {
      for (const [id, { last, stored }] of sequences) if (last !== stored) save.run(last, id);
    },
  };
}

function exhausted({ dataset }: DatasetHandle): VivariumError {
  return new VivariumError(
    'conflict',
    `No id is left to assign in ${dataset.environment} of project ${dataset.projectId}: ids only grow, and the last ` +
      `one was ${INT64_MAX}, the highest. Give the pet an id of its own, or use another project.`,
  );
}
